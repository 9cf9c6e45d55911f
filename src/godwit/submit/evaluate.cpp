#include <algorithm>
#include <unordered_set>
#include <utility>

#include "godwit/base/text.h"
#include "godwit/submit/condition.h"
#include "godwit/submit/description.h"
#include "godwit/submit/macro.h"

namespace godwit::submit {

Evaluated::Evaluated(std::vector<std::pair<std::string, std::string>> values, Lookup lookup)
    : values_(std::move(values)), lookup_(std::move(lookup)) {
  for (std::size_t i = 0; i < values_.size(); ++i) index_.insert_or_assign(values_[i].first, i);
}

std::optional<std::string> Evaluated::raw(std::string_view key) const {
  const std::string wanted = canonical_key(key);
  if (const auto found = index_.find(wanted); found != index_.end()) return values_[found->second].second;
  return lookup_ ? lookup_(wanted) : std::nullopt;
}

std::optional<std::string> Evaluated::get(std::string_view key) const {
  const auto value = raw(key);
  if (!value) return std::nullopt;
  return expand_macros(*value, [this](std::string_view name) { return raw(name); }, canonical_key(key));
}

std::string Evaluated::expand(std::string_view text) const {
  return expand_macros(text, [this](std::string_view name) { return raw(name); });
}

namespace {

// Which branch of each open `if` runs.
class Branches {
 public:
  bool running() const {
    return std::all_of(open_.begin(), open_.end(), [](const Open& open) { return open.runs; });
  }

  void begin(bool condition) { open_.push_back({condition, condition}); }
  // Whether the condition of an `elif` must be looked at.
  bool undecided() const {
    return !open_.empty() && !open_.back().decided &&
           std::all_of(open_.begin(), open_.end() - 1, [](const Open& open) { return open.runs; });
  }
  void alternative(bool condition) {
    if (open_.empty()) return;
    open_.back().runs = !open_.back().decided && condition;
    open_.back().decided |= open_.back().runs;
  }
  void end() {
    if (!open_.empty()) open_.pop_back();
  }

 private:
  struct Open {
    bool runs;
    bool decided;  // some branch has run or runs
  };
  std::vector<Open> open_;
};

class Evaluation {
 public:
  explicit Evaluation(const Lookup& variables) : variables_(variables) {}

  void run(const Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::if_:
        return branches_.begin(branches_.running() && test(statement));
      case Statement::Kind::elif:
        return branches_.alternative(branches_.undecided() && test(statement));
      case Statement::Kind::else_:
        return branches_.alternative(true);
      case Statement::Kind::endif:
        return branches_.end();
      case Statement::Kind::queue:
        queued_ = true;
        return;
      case Statement::Kind::assign:
        if (branches_.running() && !queued_) assign(statement);
    }
  }

  std::vector<std::pair<std::string, std::string>> take() { return std::move(values_); }

 private:
  std::optional<std::string> find(const std::string& key) const {
    if (const auto found = index_.find(key); found != index_.end()) return values_[found->second].second;
    return variables_ ? variables_(key) : std::nullopt;
  }

  bool test(const Statement& statement) const {
    try {
      return test_condition(statement.value, [this](std::string_view name) { return find(canonical_key(name)); });
    } catch (const InputError& error) {
      throw InputError(placed(error, statement.value_position));
    }
  }

  void assign(const Statement& statement) {
    const std::string key = canonical_key(statement.key);
    std::string value = statement.value;
    if (value.find('$') != std::string::npos) value = expand_self(value, key, find(key));
    work_ += value.size();
    if (work_ > kMaxExpansionWork)
      throw InputError({Severity::error, statement.position, "the value grows past every bound", statement.key,
                        "does it repeat its earlier value many times?"});
    const auto [entry, fresh] = index_.emplace(key, values_.size());
    if (fresh)
      values_.emplace_back(key, std::move(value));
    else
      values_[entry->second].second = std::move(value);
  }

  const Lookup& variables_;
  Branches branches_;
  bool queued_ = false;
  std::vector<std::pair<std::string, std::string>> values_;
  std::unordered_map<std::string, std::size_t> index_;
  std::size_t work_ = 0;
};

}  // namespace

Evaluated evaluate(const Description& description, const Lookup& variables) {
  Evaluation evaluation(variables);
  for (const Statement& statement : description.statements()) evaluation.run(statement);
  return {evaluation.take(), variables};
}

// --- what a description refers to ---------------------------------------------------------------------------------

std::vector<MacroUse> undefined_macros(const Description& description,
                                       const std::function<bool(std::string_view lower_case_name)>& known) {
  std::vector<MacroUse> undefined;
  std::unordered_set<std::string> own;
  for (const Statement& statement : description.statements()) own.insert(canonical_key(statement.key));
  for (const Statement& statement : description.statements())
    each_macro(statement.value, [&](const Macro& macro, std::size_t offset) {
      if (macro.kind != Macro::Kind::value || macro.fallback) return;
      const std::string name = lower(macro.name);
      if (is_built_in_macro(name) || own.contains(name) || known(name)) return;
      undefined.push_back({std::string(macro.name), statement.position_at(offset)});
    });
  return undefined;
}

}  // namespace godwit::submit
