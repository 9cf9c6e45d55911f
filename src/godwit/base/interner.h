// Interned strings: each distinct text is stored once and named by a dense 32-bit id.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace godwit {

// Views handed out stay valid for the interner's life. Ids count from 0 in order of first appearance.
class Interner {
 public:
  using Id = std::uint32_t;

  Interner() = default;
  Interner(Interner&&) = default;
  Interner& operator=(Interner&&) = default;
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

  Id intern(std::string_view text);
  std::optional<Id> find(std::string_view text) const;
  std::string_view view(Id id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::string_view keep(std::string_view text);

  static constexpr std::size_t kBlockBytes = 1 << 16;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t free_in_block_ = 0;
  char* next_ = nullptr;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, Id> ids_;
};

}  // namespace godwit
