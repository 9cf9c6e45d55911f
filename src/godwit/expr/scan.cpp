#include "godwit/expr/scan.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

namespace godwit::expr {
namespace {

// Sorted.
constexpr std::array kKeywords = std::to_array<std::string_view>(
    {"arguments", "await",      "break",     "case",   "catch",    "class",  "const",      "continue",
     "debugger",  "default",    "delete",    "do",     "else",     "enum",   "eval",       "export",
     "extends",   "false",      "finally",   "for",    "function", "if",     "implements", "import",
     "in",        "instanceof", "interface", "let",    "new",      "null",   "package",    "private",
     "protected", "public",     "return",    "static", "super",    "switch", "this",       "throw",
     "true",      "try",        "typeof",    "var",    "void",     "while",  "with",       "yield"});

enum class Kind { identifier, number, text, regexp, punctuation };

struct Token {
  Kind kind;
  std::string_view text;
  std::size_t offset;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool begins_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80) != 0;
}
bool continues_identifier(char c) {
  return begins_identifier(c) || is_digit(c);
}

class Lexer {
 public:
  Lexer(std::string_view source, const Position& origin) : source_(source), origin_(origin) {}

  std::vector<Token> tokens() {
    while (!fault_ && skip_blank()) tokens_.push_back(next());
    return std::move(tokens_);
  }
  std::optional<Diagnostic> fault() { return std::move(fault_); }

 private:
  char at(std::size_t i) const { return i < source_.size() ? source_[i] : '\0'; }

  void fail(std::size_t offset, std::string message) {
    fault_ =
        Diagnostic{Severity::error, place_in(source_, origin_, offset), std::move(message), std::string(source_), {}};
  }

  // To the next token; false at the end.
  bool skip_blank() {
    for (;;) {
      while (next_ < source_.size() && std::string_view(" \t\r\n\f\v").find(source_[next_]) != std::string_view::npos)
        ++next_;
      const std::string_view rest = source_.substr(next_);
      if (rest.starts_with("//")) {
        next_ = std::min(source_.find('\n', next_), source_.size());
      } else if (rest.starts_with("/*")) {
        const std::size_t end = source_.find("*/", next_ + 2);
        if (end == std::string_view::npos) {
          fail(next_, "a comment is opened here and never closed");
          return false;
        }
        next_ = end + 2;
      } else {
        return !rest.empty();
      }
    }
  }

  Token next() {
    const std::size_t begin = next_;
    const char c = source_[begin];
    Kind kind = Kind::punctuation;
    if (begins_identifier(c)) {
      kind = Kind::identifier;
      while (next_ < source_.size() && continues_identifier(source_[next_])) ++next_;
    } else if (is_digit(c) || (c == '.' && is_digit(at(begin + 1)))) {
      kind = Kind::number;
      number();
    } else if (c == '"' || c == '\'') {
      kind = Kind::text;
      delimited(c, "a quote is opened here and never closed");
    } else if (c == '/' && regexp_may_begin()) {
      kind = Kind::regexp;
      delimited('/', "a regular expression is opened here and never closed");
      while (next_ < source_.size() && continues_identifier(source_[next_])) ++next_;
    } else {
      ++next_;
    }
    return {kind, source_.substr(begin, next_ - begin), begin};
  }

  void number() {
    const bool hexadecimal = at(next_) == '0' && (at(next_ + 1) == 'x' || at(next_ + 1) == 'X');
    while (next_ < source_.size()) {
      const char c = source_[next_];
      const char before = next_ == 0 ? '\0' : source_[next_ - 1];
      const bool sign = !hexadecimal && (c == '+' || c == '-') && (before == 'e' || before == 'E');
      if (!continues_identifier(c) && c != '.' && !sign) return;
      ++next_;
    }
  }

  void delimited(char end, std::string message) {
    const std::size_t begin = next_;
    bool in_class = false;  // inside [] of a regular expression, where / stands for itself
    for (++next_; next_ < source_.size() && source_[next_] != '\n'; ++next_) {
      const char c = source_[next_];
      if (c == '\\' && at(next_ + 1) != '\0') {
        ++next_;
      } else if (c == end && !in_class) {
        ++next_;
        return;
      } else if (end == '/') {
        in_class = c == '[' || (in_class && c != ']');
      }
    }
    fail(begin, std::move(message));
  }

  // A slash divides after a value and begins a regular expression elsewhere.
  bool regexp_may_begin() const {
    if (tokens_.empty()) return true;
    const Token& before = tokens_.back();
    if (before.kind == Kind::identifier) return is_keyword(before.text) && before.text != "this";
    if (before.kind != Kind::punctuation) return false;
    return before.text != ")" && before.text != "]" && before.text != "}";
  }

  std::string_view source_;
  const Position& origin_;
  std::size_t next_ = 0;
  std::vector<Token> tokens_;
  std::optional<Diagnostic> fault_;
};

// Whether every bracket has its other end; otherwise what is wrong with the first that has not.
std::optional<Diagnostic> bracket_fault(const std::vector<Token>& tokens, std::string_view source,
                                        const Position& origin) {
  constexpr std::string_view kOpening = "([{";
  constexpr std::string_view kClosing = ")]}";
  const auto fault = [&](const Token& token, std::string message) {
    return Diagnostic{
        Severity::error, place_in(source, origin, token.offset), std::move(message), std::string(source), {}};
  };
  std::vector<const Token*> open;
  for (const Token& token : tokens) {
    if (token.kind != Kind::punctuation) continue;
    if (kOpening.find(token.text) != std::string_view::npos) open.push_back(&token);
    const std::size_t closing = kClosing.find(token.text);
    if (closing == std::string_view::npos) continue;
    if (open.empty() || kOpening.find(open.back()->text) != closing)
      return fault(token, "'" + std::string(token.text) + "' closes nothing");
    open.pop_back();
  }
  if (open.empty()) return std::nullopt;
  return fault(*open.back(), "'" + std::string(open.back()->text) + "' is never closed");
}

// Names that the expression defines itself: after var, and those of functions, their parameters and catch.
std::unordered_set<std::string_view> defined_in(const std::vector<Token>& tokens) {
  std::unordered_set<std::string_view> defined;
  bool in_parameters = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const std::string_view before = i == 0 ? std::string_view{} : tokens[i - 1].text;
    if (token.text == ")") in_parameters = false;
    if (token.kind != Kind::identifier) continue;
    if (token.text == "function" || token.text == "catch") {
      in_parameters = true;
    } else if (in_parameters || before == "var") {
      defined.insert(token.text);
    }
  }
  return defined;
}

}  // namespace

bool is_keyword(std::string_view word) {
  return std::binary_search(kKeywords.begin(), kKeywords.end(), word);
}

Position place_in(std::string_view source, const Position& origin, std::size_t offset) {
  const std::string_view before = source.substr(0, offset);
  Position place = origin;
  place.line += static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  place.column += static_cast<std::uint32_t>(before.size() - line_begin);
  return place;
}

Scan scan(std::string_view source, const Position& origin) {
  Scan result;
  Lexer lexer(source, origin);
  const std::vector<Token> tokens = lexer.tokens();
  result.fault = lexer.fault();
  if (!result.fault) result.fault = bracket_fault(tokens, source, origin);

  std::unordered_set<std::string_view> seen = defined_in(tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind != Kind::identifier || is_keyword(token.text)) continue;
    const std::string_view before = i == 0 ? std::string_view{} : tokens[i - 1].text;
    const std::string_view after = i + 1 == tokens.size() ? std::string_view{} : tokens[i + 1].text;
    const bool key = (before == "{" || before == ",") && after == ":";
    if (before == "." || key || !seen.insert(token.text).second) continue;
    result.names.push_back({std::string(token.text), place_in(source, origin, token.offset)});
  }
  return result;
}

std::vector<Name> names_in(std::string_view source, const Position& origin) {
  return scan(source, origin).names;
}

}  // namespace godwit::expr
