#include "godwit/cli/checked.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "godwit/base/text.h"

namespace godwit::cli {
namespace {

template <typename Number>
std::optional<Number> number_of(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    const auto number = number_of<std::uint64_t>(text);
    if (number && *number >= least && *number <= most) return {};
    const bool open = most == std::numeric_limits<std::uint64_t>::max();
    const bool too_large = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && !number;
    if (too_large && open) return fmt::format("write a whole number up to {}, not '{}'", most, text);
    return open ? fmt::format("write a whole number, {} or more, not '{}'", least, text)
                : fmt::format("write a whole number from {} to {}, not '{}'", least, most, text);
  };
  return {check, ""};
}

CLI::Validator number_between(double least, double most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    const auto number = number_of<double>(text);
    if (number && *number >= least && *number <= most) return {};
    return fmt::format("write a number from {:g} to {:g}, not '{}'", least, most, text);
  };
  return {check, ""};
}

CLI::Validator not_empty() {
  const auto check = [](const std::string& text) {
    return text.empty() ? std::string("this is empty; leave it out, or name one") : std::string();
  };
  return {check, ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string shown = fmt::format("{{{}}}", join(words, ","));
  const auto check = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    const std::string hint = did_you_mean(text, words);
    return fmt::format("write {}, not '{}'{}", join(words, ", "), text, hint.empty() ? "" : "; " + hint);
  };
  return {check, shown};
}

}  // namespace godwit::cli
