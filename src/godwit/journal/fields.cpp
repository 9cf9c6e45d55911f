#include "godwit/journal/fields.h"

#include <algorithm>

#include "godwit/base/json.h"

namespace godwit::journal {

Fields::Fields(std::string_view json) : json_(json) {
  if (!read()) size_ = 0;
}

bool Fields::read() {
  skip_space();
  if (!eat('{')) return false;
  skip_space();
  if (eat('}')) return true;
  do {
    Member member;
    skip_space();
    if (!read_text(member.key)) return false;
    skip_space();
    if (!eat(':')) return false;
    skip_space();
    if (!read_value(member)) return false;
    if (size_ < kMostMembers) members_[size_++] = member;
    skip_space();
  } while (eat(','));
  return eat('}');
}

void Fields::skip_space() {
  while (at_ < json_.size() && (json_[at_] == ' ' || json_[at_] == '\n' || json_[at_] == '\t' || json_[at_] == '\r'))
    ++at_;
}

bool Fields::eat(char c) {
  if (at_ >= json_.size() || json_[at_] != c) return false;
  ++at_;
  return true;
}

bool Fields::read_text(std::string_view& out) {
  const std::size_t begin = at_;
  if (!eat('"')) return false;
  bool escapes = false;
  for (; at_ < json_.size() && json_[at_] != '"'; ++at_)
    if (json_[at_] == '\\') {
      escapes = true;
      ++at_;
    }
  if (!eat('"')) return false;
  out = json_.substr(begin + 1, at_ - begin - 2);
  if (!escapes) return true;
  const Json unescaped = Json::parse(json_.substr(begin, at_ - begin), nullptr, false);
  if (!unescaped.is_string()) return false;
  out = unescaped_.emplace_front(unescaped.get<std::string>());
  return true;
}

bool Fields::read_value(Member& member) {
  if (at_ >= json_.size()) return false;
  if (json_[at_] == '"') {
    member.is_text = true;
    return read_text(member.value);
  }
  if (json_[at_] == '{' || json_[at_] == '[') return skip_nested();
  const std::size_t begin = at_;
  at_ = std::min(json_.find_first_of(",} \t\r\n", at_), json_.size());
  member.value = json_.substr(begin, at_ - begin);
  return at_ > begin;
}

bool Fields::skip_nested() {
  for (std::size_t depth = 0; at_ < json_.size();) {
    const char c = json_[at_];
    std::string_view ignored;
    if (c == '"') {
      if (!read_text(ignored)) return false;
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return true;
  }
  return false;
}

const Fields::Member* Fields::find(std::string_view key) const {
  for (std::size_t i = 0; i < size_; ++i)
    if (members_[i].key == key) return &members_[i];
  return nullptr;
}

std::string_view Fields::text(std::string_view key) const {
  const Member* member = find(key);
  return member != nullptr && member->is_text ? member->value : std::string_view();
}

std::string_view Fields::value_of(std::string_view key) const {
  const Member* member = find(key);
  return member != nullptr && !member->is_text ? member->value : std::string_view();
}

}  // namespace godwit::journal
