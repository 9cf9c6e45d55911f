#include "godwit/submit/quoting.h"

#include <utility>

#include "godwit/base/error.h"
#include "godwit/base/text.h"

namespace godwit::submit {
namespace {

constexpr std::string_view kSpace = " \t\n\r\v\f";

bool is_new_quoting(std::string_view trimmed) {
  return trimmed.starts_with('"');
}

// Takes the surrounding double quotes off and halves the doubled ones inside.
std::string unwrap(std::string_view value) {
  std::string inside;
  for (std::size_t i = 1; i < value.size(); ++i) {
    if (value[i] != '"') {
      inside += value[i];
    } else if (i + 1 < value.size() && value[i + 1] == '"') {
      inside += value[i++];
    } else if (i + 1 == value.size()) {
      return inside;
    } else {
      throw InputError("text after the closing double quote: " + std::string(value.substr(i + 1)),
                       "inside the quotes a double quote is written twice");
    }
  }
  throw InputError("the closing double quote is missing");
}

std::vector<std::string> split_quoted(std::string_view inside) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false, in_quotes = false;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const char c = inside[i];
    if (c == '\'') {
      const bool doubled = in_quotes && i + 1 < inside.size() && inside[i + 1] == '\'';
      if (doubled) word += inside[i++];
      if (!doubled) in_quotes = !in_quotes;
      in_word = true;
    } else if (!in_quotes && kSpace.find(c) != std::string_view::npos) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_quotes)
    throw InputError("the closing single quote is missing", "a single quote itself is written '' inside '…'");
  if (in_word) words.push_back(word);
  return words;
}

std::vector<std::string> split_plain(std::string_view value) {
  std::vector<std::string> words;
  for (const std::string_view written : split_words(value)) {
    std::string word;
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (written[i] == '"')
        throw InputError("a double quote needs a backslash before it", "or put double quotes around the whole value");
      if (written[i] == '\\' && i + 1 < written.size() && written[i + 1] == '"') ++i;
      word += written[i];
    }
    words.push_back(std::move(word));
  }
  return words;
}

// One word of the new quoting, as it stands between the surrounding double quotes.
std::string quote(std::string_view word) {
  const bool group =
      word.empty() || word.find_first_of(kSpace) != std::string_view::npos || word.find('\'') != std::string_view::npos;
  std::string out;
  if (group) out += '\'';
  for (const char c : word) {
    out += c;
    if (c == '"' || c == '\'') out += c;
  }
  if (group) out += '\'';
  return out;
}

std::pair<std::string, std::string> split_setting(std::string_view setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos)
    throw InputError("no '=' in the environment setting '" + std::string(setting) + "'", "write NAME=value");
  const std::string_view name = trim(setting.substr(0, equals));
  if (name.empty()) throw InputError("no name before '=' in the environment setting '" + std::string(setting) + "'");
  return {std::string(name), std::string(setting.substr(equals + 1))};
}

}  // namespace

std::vector<std::string> split_arguments(std::string_view value) {
  value = trim(value);
  return is_new_quoting(value) ? split_quoted(unwrap(value)) : split_plain(value);
}

std::string join_arguments(const std::vector<std::string>& arguments) {
  std::string out = "\"";
  for (const std::string& argument : arguments) {
    if (out.size() > 1) out += ' ';
    out += quote(argument);
  }
  return out + '"';
}

std::vector<std::pair<std::string, std::string>> split_environment(std::string_view value) {
  value = trim(value);
  std::vector<std::pair<std::string, std::string>> settings;
  if (is_new_quoting(value)) {
    for (const std::string& setting : split_quoted(unwrap(value))) settings.push_back(split_setting(setting));
  } else {
    for (const std::string_view setting : split(value, ';'))
      if (!trim(setting).empty()) settings.push_back(split_setting(trim(setting)));
  }
  return settings;
}

std::string add_to_environment(std::string_view value,
                               const std::vector<std::pair<std::string, std::string>>& environment) {
  value = trim(value);
  if (value.empty()) return join_environment(environment);
  std::string out(value);
  const bool quoted = is_new_quoting(value);
  if (quoted) unwrap(value);  // throws at a fault; then the last byte is the closing quote
  if (quoted) out.pop_back();
  for (const auto& [name, text] : environment) {
    const std::string setting = name + '=' + text;
    if (!quoted && (text.find_first_of(";\"'") != std::string::npos || trim(text).size() != text.size()))
      throw InputError("'" + setting + "' cannot be added to an environment in the old quoting",
                       "put double quotes around the value of 'environment' and spaces between its settings");
    out += quoted ? (out.size() > 1 ? " " : "") + quote(setting) : ';' + setting;
  }
  if (quoted) out += '"';
  return out;
}

std::string join_environment(const std::vector<std::pair<std::string, std::string>>& environment) {
  std::vector<std::string> settings;
  for (const auto& [name, value] : environment) settings.push_back(name + '=' + value);
  return join_arguments(settings);
}

}  // namespace godwit::submit
