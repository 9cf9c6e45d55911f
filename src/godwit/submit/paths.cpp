#include "godwit/submit/paths.h"

#include <fmt/format.h>

#include <algorithm>

#include "godwit/base/text.h"

namespace godwit::submit {

std::optional<std::string> sandbox_name(std::string_view path) {
  if (path.starts_with('/') || has_parent_step(path) || path.find('\0') != std::string_view::npos) return std::nullopt;
  std::string name;
  for (const std::string_view step : split(path, '/')) {
    if (step.empty() || step == ".") continue;
    if (!name.empty()) name += '/';
    name += step;
  }
  if (name.empty()) return std::nullopt;
  return name;
}

bool has_parent_step(std::string_view path) {
  const auto steps = split(path, '/');
  return std::find(steps.begin(), steps.end(), "..") != steps.end();
}

std::string_view last_component(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_url(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto in_scheme = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '.';
  };
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), in_scheme);
}

std::optional<std::string> file_url_path(std::string_view text) {
  constexpr std::string_view kScheme = "file://";
  if (text.size() < kScheme.size() || !equal_ignoring_case(text.substr(0, kScheme.size()), kScheme))
    return std::nullopt;
  std::string_view path = text.substr(kScheme.size());
  if (path.starts_with("localhost/")) path.remove_prefix(std::string_view("localhost").size());
  if (!path.starts_with('/')) return std::nullopt;
  return std::string(path);
}

std::string url_path(std::string_view path) {
  constexpr std::string_view kPlain = "/-._~+,=:@";
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string_view url_file_name(std::string_view url) {
  return last_component(url.substr(0, url.find_first_of("?#")));
}

std::vector<std::string> file_list(std::string_view value) {
  std::vector<std::string> entries;
  value = trim(value);
  if (value == "\"\"") return entries;
  for (const std::string_view written : split(value, ',')) {
    std::string_view entry = trim(written);
    if (entry.size() >= 2 && entry.starts_with('"') && entry.ends_with('"')) entry = entry.substr(1, entry.size() - 2);
    if (!entry.empty()) entries.emplace_back(entry);
  }
  return entries;
}

std::string string_literal(std::string_view value) {
  value = trim(value);
  if (value.size() < 2 || !value.starts_with('"') || !value.ends_with('"')) return std::string(value);
  std::string text;
  const std::string_view inside = value.substr(1, value.size() - 2);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '\\' && i + 1 < inside.size() && (inside[i + 1] == '"' || inside[i + 1] == '\\')) ++i;
    text += inside[i];
  }
  return text;
}

}  // namespace godwit::submit
