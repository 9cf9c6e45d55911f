// The members of one JSON object, read without building a tree: what replaying millions of events takes.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace godwit::journal {

// Looks at a text that must outlive it. Made for objects that Godwit wrote: what is no object, or is cut off, has no
// members, but not every fault of the text is found. Nested values are passed over; of more than 32 members the rest
// is.
class Fields {
 public:
  explicit Fields(std::string_view json);

  bool empty() const { return size_ == 0; }
  // "" where the member is absent or no text.
  std::string_view text(std::string_view key) const;
  bool flag(std::string_view key) const { return value_of(key) == "true"; }
  // 0 where the member is absent, no number, or not of this type (a fraction, a negative, too large).
  template <typename Number>
  Number number(std::string_view key) const {
    const std::string_view value = value_of(key);
    if (!begins_number(value)) return Number{};
    Number number{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    return error == std::errc() && end == value.data() + value.size() ? number : Number{};
  }

 private:
  struct Member {
    std::string_view key;
    std::string_view value;  // of a text: what is between its quotes
    bool is_text = false;
  };

  bool read();
  void skip_space();
  bool eat(char c);
  bool read_text(std::string_view& out);
  bool read_value(Member& member);
  bool skip_nested();
  // from_chars would take "inf" and "nan" too, which are no JSON.
  static bool begins_number(std::string_view value) {
    const std::size_t digit = value.starts_with('-') ? 1 : 0;
    return value.size() > digit && value[digit] >= '0' && value[digit] <= '9';
  }
  // The value of a member that is no text.
  std::string_view value_of(std::string_view key) const;
  const Member* find(std::string_view key) const;

  static constexpr std::size_t kMostMembers = 32;
  std::string_view json_;
  std::size_t at_ = 0;
  std::array<Member, kMostMembers> members_;
  std::size_t size_ = 0;
  std::forward_list<std::string> unescaped_;
};

}  // namespace godwit::journal
