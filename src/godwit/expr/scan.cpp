#include "godwit/expr/scan.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

#include "godwit/base/text.h"

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

  void fail(std::size_t offset, std::string message, std::string hint = {}) {
    fault_ = Diagnostic{Severity::error, place_in(source_, origin_, offset), std::move(message), std::string(source_),
                        std::move(hint)};
  }

  // To the next token; false at the end.
  bool skip_blank() {
    for (;;) {
      while (next_ < source_.size() && std::string_view(" \t\r\n\f\v").find(source_[next_]) != std::string_view::npos)
        ++next_;
      const std::string_view rest = source_.substr(next_);
      if (rest.starts_with("//")) {
        if (divides_wholly()) {
          fail(next_, "'//' begins a comment", "for whole numbers write floor(a / b)");
          return false;
        }
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

  // "width // 2", as Python divides: a comment after a value that holds a number and nothing else.
  bool divides_wholly() const {
    const std::size_t end = std::min(source_.find('\n', next_), source_.size());
    const std::string_view comment = trim(source_.substr(next_ + 2, end - next_ - 2));
    return !tokens_.empty() && !regexp_may_begin() && !comment.empty() &&
           comment.find_first_not_of("0123456789.") == std::string_view::npos;
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
    } else if (c == '`') {
      ++next_;
      fail(begin, "there are no template literals here: expressions are JavaScript of the edition ES5",
           "join text by +: 'width-' + width");
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

// What people bring from newer JavaScript and from Python, and what to write instead.
struct Foreign {
  std::array<std::string_view, 3> tokens;  // one after the other without blanks
  std::string_view what;
  std::string_view hint;
};

constexpr std::array kForeign = std::to_array<Foreign>({
    {{"=", ">"}, "there are no arrow functions here", "write function (x) { return x * 2; }"},
    {{"let"}, "there is no 'let' here", "write 'var', inside of a function"},
    {{"const"}, "there is no 'const' here", "write 'var', inside of a function"},
    {{"class"}, "there are no classes here", "write one expression"},
    {{".", ".", "."}, "there is no '...' here", "write the elements, or use concat()"},
    {{"?", "?"}, "there is no \?\? here", "write a == null ? b : a"},
    {{"?", "."}, "there is no '?.' here", "write a == null ? b : a.c"},
    {{"<", ">"}, "there is no '<>' here", "write !="},
});

bool begins_with(const std::vector<Token>& tokens, std::size_t i, const Foreign& foreign) {
  for (std::size_t part = 0; part < foreign.tokens.size() && !foreign.tokens[part].empty(); ++part) {
    const std::size_t at = i + part;
    if (at >= tokens.size() || tokens[at].kind == Kind::text || tokens[at].text != foreign.tokens[part]) return false;
    if (part > 0 && tokens[at].offset != tokens[at - 1].offset + tokens[at - 1].text.size()) return false;
  }
  return tokens[i].kind != Kind::identifier || i == 0 || tokens[i - 1].text != ".";
}

// "a if b else c".
bool is_conditional_of_python(const std::vector<Token>& tokens, std::size_t i) {
  if (i == 0 || tokens[i].kind != Kind::identifier || tokens[i].text != "if") return false;
  const Token& before = tokens[i - 1];
  return before.kind == Kind::number || before.kind == Kind::text ||
         (before.kind == Kind::identifier && !is_keyword(before.text));
}

// "a = 2", where a is not a variable of the expression's own.
bool assigns_to_foreign(const std::vector<Token>& tokens, std::size_t i,
                        const std::unordered_set<std::string_view>& own) {
  if (i == 0 || tokens[i].text != "=" || tokens[i].kind != Kind::punctuation) return false;
  const Token& name = tokens[i - 1];
  const bool compares = i + 1 < tokens.size() && tokens[i + 1].text == "=";
  const bool property = i > 1 && tokens[i - 2].text == ".";
  return name.kind == Kind::identifier && !is_keyword(name.text) && !compares && !property && !own.contains(name.text);
}

std::optional<Diagnostic> foreign_fault(const std::vector<Token>& tokens, std::string_view source,
                                        const Position& origin, const std::unordered_set<std::string_view>& own) {
  const auto fault = [&](std::size_t i, std::string message, std::string_view hint) {
    return Diagnostic{Severity::error, place_in(source, origin, tokens[i].offset), std::move(message),
                      std::string(source), std::string(hint)};
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (const Foreign& foreign : kForeign)
      if (begins_with(tokens, i, foreign))
        return fault(i, std::string(foreign.what) + ": expressions are JavaScript of the edition ES5", foreign.hint);
    if (is_conditional_of_python(tokens, i)) return fault(i, "'if' cannot stand behind a value", "write b ? a : c");
    if (assigns_to_foreign(tokens, i, own)) return fault(i, "'=' would set a variable", "write == to compare");
  }
  return std::nullopt;
}

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
  std::unordered_set<std::string_view> seen = defined_in(tokens);
  if (!result.fault) result.fault = foreign_fault(tokens, source, origin, seen);
  if (!result.fault) result.fault = bracket_fault(tokens, source, origin);

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
