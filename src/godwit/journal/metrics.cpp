#include "godwit/journal/metrics.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace godwit::journal {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSpellings = {{
    {"-Infinity", "-Infinity"},
    {"Infinity", "Infinity"},
    {"-inf", "-Infinity"},
    {"inf", "Infinity"},
    {"-nan", "NaN"},
    {"nan", "NaN"},
    {"-NaN", "NaN"},
    {"NaN", "NaN"},
}};

// Puts bare numbers that JSON does not have into quotes.
std::string quote_specials(std::string_view line) {
  std::string out;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') in_text = !in_text;
    if (in_text && line[i] == '\\' && i + 1 < line.size()) out += line[i++];
    const std::pair<std::string_view, std::string_view>* special = nullptr;
    for (const auto& spelling : kSpellings)
      if (!in_text && special == nullptr && line.substr(i).starts_with(spelling.first)) special = &spelling;
    if (special == nullptr) {
      out += line[i];
      continue;
    }
    out.append("\"").append(special->second).append("\"");
    i += special->first.size() - 1;
  }
  return out;
}

}  // namespace

std::optional<std::string> metrics_event(std::string_view line, std::uint64_t offset) {
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) json = Json::parse(quote_specials(line), nullptr, false);
  if (!json.is_object()) return std::nullopt;
  json["_offset"] = offset;
  return json.dump();
}

std::optional<std::uint32_t> named_epoch(const Json& line) {
  const auto named = line.find("epoch");
  if (named == line.end() || !named->is_number()) return std::nullopt;
  const auto value = named->get<double>();
  const bool fits = value >= 0 && value <= std::numeric_limits<std::uint32_t>::max() && value == std::floor(value);
  return fits ? std::optional(static_cast<std::uint32_t>(value)) : std::nullopt;
}

std::optional<double> metric_value(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace godwit::journal
