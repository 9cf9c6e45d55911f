#include "godwit/submit/description.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "godwit/base/text.h"
#include "godwit/submit/commands.h"
#include "godwit/submit/condition.h"
#include "godwit/submit/macro.h"

namespace godwit::submit {

std::string canonical_key(std::string_view key) {
  return key.starts_with('+') ? "my." + lower(key.substr(1)) : lower(key);
}

Position Statement::position_at(std::size_t offset) const {
  std::size_t begin = 0;
  Position place = value_position;
  for (const auto& [part_begin, part_place] : continuations) {
    if (part_begin > offset) break;
    begin = part_begin;
    place = part_place;
  }
  if (place.column != 0) place.column += static_cast<std::uint32_t>(offset - begin);
  return place;
}

// --- reading ----------------------------------------------------------------------------------------------------

namespace {

// A logical line: continuations joined, and where its parts come from.
struct Line {
  std::string text;
  std::vector<std::pair<std::size_t, Position>> parts;  // offset in `text` → place

  Position place(std::size_t offset) const {
    auto part = std::upper_bound(parts.begin(), parts.end(), offset,
                                 [](std::size_t wanted, const auto& candidate) { return wanted < candidate.first; });
    --part;
    Position position = part->second;
    position.column += static_cast<std::uint32_t>(offset - part->first);
    return position;
  }
};

// Splits the text into logical lines. Leading white space goes, comments neither continue nor are continued.
class LineReader {
 public:
  LineReader(std::string_view text, const Position& origin, std::uint32_t indent)
      : rest_(text), origin_(origin), indent_(indent) {}

  // Never an empty line.
  std::optional<Line> next() {
    while (!done_) {
      Line line = join();
      if (!trim(line.text).empty()) return line;
    }
    return std::nullopt;
  }

 private:
  Line join() {
    Line line;
    bool continues = false;
    while (!done_ && (continues || line.parts.empty())) {
      Position place;
      std::string_view physical = physical_line(place);
      if (physical.starts_with('#') || (physical.empty() && !continues)) continue;
      continues = physical.ends_with('\\');
      if (continues) physical.remove_suffix(1);
      line.parts.emplace_back(line.text.size(), place);
      line.text += physical;
    }
    return line;
  }

  std::string_view physical_line(Position& place) {
    const std::size_t end = rest_.find('\n');
    const std::string_view whole = rest_.substr(0, end);
    done_ = end == std::string_view::npos;
    rest_ = done_ ? std::string_view{} : rest_.substr(end + 1);
    const std::string_view trimmed = trim(whole);
    const std::uint32_t first_column = number_ == 0 ? std::max(origin_.column, indent_ + 1) : indent_ + 1;
    const std::size_t skipped = trimmed.empty() ? 0 : static_cast<std::size_t>(trimmed.data() - whole.data());
    place = origin_;
    place.line = std::max(origin_.line, 1u) + number_++;
    place.column = first_column + static_cast<std::uint32_t>(skipped);
    return trimmed;
  }

  std::string_view rest_;
  const Position& origin_;
  std::uint32_t indent_;
  std::uint32_t number_ = 0;
  bool done_ = false;
};

bool is_keyword(std::string_view word) {
  return word == "queue" || word == "if" || word == "elif" || word == "else" || word == "endif";
}

class Reader {
 public:
  Reader(std::vector<Statement>& statements, Diagnostics& diagnostics)
      : statements_(statements), diagnostics_(diagnostics) {}

  void read(const Line& line) {
    if (line.text.find('\0') != std::string::npos)
      return diagnostics_.error(line.place(0), "the line holds a zero byte");
    if (trim(line.text).ends_with('\\'))
      return diagnostics_.error(line.place(0), "a statement cannot end in a backslash", line.text);
    const std::size_t word_end = line.text.find_first_of(" \t=");
    const std::string word = lower(std::string_view(line.text).substr(0, word_end));
    const std::string_view rest = trim(std::string_view(line.text).substr(word.size()));
    if (is_keyword(word) && !rest.starts_with('='))
      keyword(word, line, word.size());
    else
      assignment(line);
  }

  void finish() {
    for (const OpenIf& open : open_) diagnostics_.error(open.position, "this 'if' has no 'endif'");
    warn_of_slips();
  }

 private:
  struct OpenIf {
    Position position;
    bool in_else = false;
  };

  // The statement of the line with its value from `value_begin` on, white space at its ends left out.
  Statement make(Statement::Kind kind, const Line& line, std::size_t value_begin) const {
    Statement statement;
    statement.kind = kind;
    statement.position = line.place(0);
    const std::string_view value = trim(std::string_view(line.text).substr(value_begin));
    const std::size_t begin = value.empty() ? value_begin : static_cast<std::size_t>(value.data() - line.text.data());
    statement.value = value;
    statement.value_position = line.place(begin);
    for (const auto& [offset, place] : line.parts)
      if (offset > begin && offset < begin + value.size()) statement.continuations.emplace_back(offset - begin, place);
    return statement;
  }

  void keyword(std::string_view word, const Line& line, std::size_t value_begin) {
    if (word == "queue")
      queue(make(Statement::Kind::queue, line, value_begin));
    else if (word == "if")
      begin_if(make(Statement::Kind::if_, line, value_begin));
    else if (word == "elif")
      alternative(make(Statement::Kind::elif, line, value_begin));
    else if (word == "else")
      alternative(make(Statement::Kind::else_, line, value_begin));
    else
      end_if(make(Statement::Kind::endif, line, value_begin));
  }

  void begin_if(Statement statement) {
    check(statement);
    if (open_.size() == kMaxConditionDepth)
      diagnostics_.error(statement.position, "conditions nested more than 63 deep");
    open_.push_back({statement.position});
    statements_.push_back(std::move(statement));
  }

  void alternative(Statement statement) {
    const std::string word = statement.kind == Statement::Kind::elif ? "elif" : "else";
    if (statement.kind == Statement::Kind::elif) check(statement);
    if (statement.kind == Statement::Kind::else_) expect_nothing(statement, word);
    if (open_.empty()) return diagnostics_.error(statement.position, "'" + word + "' without an 'if' before it");
    if (open_.back().in_else)
      return diagnostics_.error(statement.position, "'" + word + "' after the 'else' of the same 'if'");
    open_.back().in_else = statement.kind == Statement::Kind::else_;
    statements_.push_back(std::move(statement));
  }

  void end_if(Statement statement) {
    expect_nothing(statement, "endif");
    if (open_.empty()) return diagnostics_.error(statement.position, "'endif' without an 'if' before it");
    open_.pop_back();
    statements_.push_back(std::move(statement));
  }

  void expect_nothing(Statement& statement, const std::string& word) {
    if (statement.value.empty()) return;
    diagnostics_.error(statement.value_position, "nothing may follow '" + word + "'", statement.value);
    statement.value.clear();
  }

  void check(const Statement& statement) {
    try {
      check_condition(statement.value);
    } catch (const InputError& error) {
      diagnostics_.add(placed(error, statement.value_position));
    }
  }

  void queue(Statement statement) {
    if (!statement.value.empty() && statement.value != "1")
      return diagnostics_.error(statement.value_position, "a node of a Dag takes exactly one job", statement.value,
                                "write 'queue' alone; what shall run many times is a sweep over 'vars'");
    if (!open_.empty())
      return diagnostics_.error(statement.position, "'queue' inside an 'if'", {}, "put it behind the 'endif'");
    if (std::exchange(queued_, true))
      return diagnostics_.error(statement.position, "a second 'queue'", {}, "a node of a Dag takes exactly one job");
    statements_.push_back(std::move(statement));
  }

  void assignment(const Line& line) {
    const std::size_t equals = line.text.find('=');
    if (equals == std::string::npos) return not_a_statement(line);
    const std::string key(trim(std::string_view(line.text).substr(0, equals)));
    if (!check_key(key, line)) return;
    Statement statement = make(Statement::Kind::assign, line, equals + 1);
    statement.key = key;
    if (queued_)
      diagnostics_.warning(statement.position, "this comes after 'queue' and has no effect", key,
                           "move it before 'queue'");
    statements_.push_back(std::move(statement));
  }

  bool check_key(const std::string& key, const Line& line) {
    const Position place = line.place(0);
    const std::string_view name = std::string_view(key).substr(key.starts_with('+') ? 1 : 0);
    if (name.empty())
      diagnostics_.error(place, "no name before '='", line.text);
    else if (key.ends_with('@'))
      diagnostics_.error(place, "values of several lines ('@=') are not available", line.text,
                         "end a line in a backslash to continue it");
    else if (!is_macro_name(name))
      diagnostics_.error(place, "not a name", key, "names have letters, digits, '_' and '.'");
    else if (is_keyword(lower(key)))
      diagnostics_.error(place, "'" + key + "' begins a statement and cannot be the name of a value");
    else
      return true;
    return false;
  }

  void not_a_statement(const Line& line) {
    const std::string word = lower(line.text.substr(0, line.text.find_first_of(" \t:")));
    for (const std::string_view unavailable : {"include", "use", "error", "warning"})
      if (word == unavailable)
        return diagnostics_.error(line.place(0), "'" + word + "' statements are not available here", line.text);
    diagnostics_.error(line.place(0), "not a statement of the submit language", line.text,
                       "write 'key = value', 'if', 'elif', 'else', 'endif' or 'queue'");
  }

  // A name that nothing refers to and that nearly is a command was probably meant to be it.
  void warn_of_slips() {
    std::unordered_set<std::string> used;
    for (const Statement& statement : statements_) {
      each_macro(statement.value, [&](const Macro& macro, std::size_t) { used.insert(lower(macro.name)); });
      if (statement.kind == Statement::Kind::if_ || statement.kind == Statement::Kind::elif)
        for (const std::string_view word : split_words(statement.value)) used.insert(lower(word));
    }
    for (const Statement& statement : statements_) {
      if (statement.kind != Statement::Kind::assign) continue;
      const std::string key = canonical_key(statement.key);
      constexpr std::size_t kLongestCommand = 40;
      if (key.size() > kLongestCommand || key.find('.') != std::string::npos) continue;
      if (is_command(key) || !used.insert(key).second) continue;
      if (const auto near = nearest_command(key))
        diagnostics_.warning(statement.position, "no command of this name, and nothing uses it as a macro",
                             statement.key, "did you mean '" + *near + "'?");
    }
  }

  std::vector<Statement>& statements_;
  Diagnostics& diagnostics_;
  std::vector<OpenIf> open_;
  bool queued_ = false;
};

}  // namespace

Description Description::parse(std::string_view text, const Position& origin, Diagnostics& diagnostics,
                               std::uint32_t indent) {
  Description description;
  LineReader lines(text, origin, indent);
  Reader reader(description.statements_, diagnostics);
  while (const auto line = lines.next()) reader.read(*line);
  reader.finish();
  return description;
}

// --- changing and writing ---------------------------------------------------------------------------------------

namespace {

// The value as a statement can hold it.
std::string checked_value(std::string_view key, std::string_view value) {
  const std::string_view trimmed = trim(value);
  if (trimmed.find_first_of(std::string_view("\n\r\0", 3)) != std::string_view::npos)
    throw InputError("the value of '" + std::string(key) + "' holds a line break");
  if (trimmed.ends_with('\\')) throw InputError("the value of '" + std::string(key) + "' ends in a backslash");
  return std::string(trimmed);
}

bool assigns(const Statement& statement, std::string_view canonical) {
  return statement.kind == Statement::Kind::assign && canonical_key(statement.key) == canonical;
}

}  // namespace

void Description::set(std::string_view key, std::string_view value) {
  Statement statement;
  statement.key = key;
  statement.value = checked_value(key, value);
  const auto queue = std::find_if(statements_.begin(), statements_.end(),
                                  [](const Statement& s) { return s.kind == Statement::Kind::queue; });
  statements_.insert(queue, std::move(statement));
}

void Description::append(std::string_view text, Diagnostics& diagnostics) {
  Description more = parse(text, {}, diagnostics);
  const auto queue = std::find_if(statements_.begin(), statements_.end(),
                                  [](const Statement& s) { return s.kind == Statement::Kind::queue; });
  statements_.insert(queue, std::make_move_iterator(more.statements_.begin()),
                     std::make_move_iterator(more.statements_.end()));
}

const Statement* Description::last(std::string_view key) const {
  const std::string wanted = canonical_key(key);
  const auto found = std::find_if(statements_.rbegin(), statements_.rend(),
                                  [&](const Statement& statement) { return assigns(statement, wanted); });
  return found == statements_.rend() ? nullptr : &*found;
}

const Statement* Description::last_written(std::string_view key) const {
  const std::string wanted = canonical_key(key);
  const auto found = std::find_if(statements_.rbegin(), statements_.rend(), [&](const Statement& statement) {
    return assigns(statement, wanted) && statement.position.line != 0;
  });
  return found == statements_.rend() ? nullptr : &*found;
}

bool Description::always_sets(std::string_view key) const {
  const std::string wanted = canonical_key(key);
  std::size_t depth = 0;
  for (const Statement& statement : statements_) {
    if (statement.kind == Statement::Kind::if_) ++depth;
    if (statement.kind == Statement::Kind::endif && depth > 0) --depth;
    if (depth == 0 && assigns(statement, wanted)) return true;
  }
  return false;
}

void Description::rewrite(std::string_view key, const std::function<std::string(const std::string& value)>& change) {
  const std::string wanted = canonical_key(key);
  for (Statement& statement : statements_) {
    if (!assigns(statement, wanted)) continue;
    if (statement.written.empty()) statement.written = statement.value;
    statement.value = checked_value(key, change(statement.value));
    statement.continuations.clear();
  }
}

std::string Description::text(bool with_queue) const {
  std::string out;
  std::size_t depth = 0;
  const auto put = [&](std::string_view word, const std::string& value) {
    out.append(2 * depth, ' ');
    out += word;
    if (!value.empty()) out += ' ' + value;
    out += '\n';
  };
  for (const Statement& statement : statements_) {
    switch (statement.kind) {
      case Statement::Kind::assign:
        put(statement.key + " =", statement.value);
        break;
      case Statement::Kind::if_:
        put("if", statement.value);
        ++depth;
        break;
      case Statement::Kind::elif:
      case Statement::Kind::else_:
        depth -= depth > 0 ? 1 : 0;
        put(statement.kind == Statement::Kind::elif ? "elif" : "else", statement.value);
        ++depth;
        break;
      case Statement::Kind::endif:
        depth -= depth > 0 ? 1 : 0;
        put("endif", {});
        break;
      case Statement::Kind::queue:
        if (with_queue) put("queue", statement.value);
        break;
    }
  }
  return out;
}

}  // namespace godwit::submit
