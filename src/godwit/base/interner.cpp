#include "godwit/base/interner.h"

#include <cstring>

namespace godwit {

Interner::Id Interner::intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const Id id = static_cast<Id>(texts_.size());
  const std::string_view kept = keep(text);
  texts_.push_back(kept);
  ids_.emplace(kept, id);
  return id;
}

std::optional<Interner::Id> Interner::find(std::string_view text) const {
  const auto found = ids_.find(text);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::string_view Interner::keep(std::string_view text) {
  if (text.empty()) return "";  // there may be no block yet
  if (text.size() > free_in_block_) {
    const std::size_t bytes = text.size() > kBlockBytes ? text.size() : kBlockBytes;
    blocks_.push_back(std::make_unique<char[]>(bytes));
    next_ = blocks_.back().get();
    free_in_block_ = bytes;
  }
  std::memcpy(next_, text.data(), text.size());
  const std::string_view kept(next_, text.size());
  next_ += text.size();
  free_in_block_ -= text.size();
  return kept;
}

}  // namespace godwit
