// Finding and expanding the macros of the submit language: what description, evaluation and checks share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "godwit/submit/description.h"

namespace godwit::submit {

// $(name), $(name:fallback), $ENV(name), $ENV(name:fallback), or one of HTCondor's other macro functions.
struct Macro {
  enum class Kind { value, environment, function };
  Kind kind = Kind::value;
  std::size_t begin = 0, end = 0;  // in the text, from the dollar sign to past the parenthesis
  std::string_view name;           // of the macro; of the function where it is one
  std::size_t name_begin = 0;
  std::optional<std::string_view> fallback;
  std::size_t fallback_begin = 0;
};

// Walks over the macros of a text, outermost ones only. Text that merely resembles a macro is passed over, and so is
// the `$$` of `$$(…)`, though not what stands inside.
class MacroScanner {
 public:
  explicit MacroScanner(std::string_view text);
  std::optional<Macro> next();

 private:
  std::optional<Macro> macro_at(std::size_t dollar) const;
  std::size_t closing(std::size_t opening) const;

  std::string_view text_;
  std::size_t position_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> parentheses_;  // opening → closing, sorted
};

// Calls fn(macro, offset of the macro's name in `text`) for every macro, those in fallbacks too.
void each_macro(std::string_view text, const std::function<void(const Macro&, std::size_t name_offset)>& fn);

// Expands the macros of `text`; a macro whose value is empty takes its fallback, as an undefined one does; a variable
// that the environment lacks is "UNDEFINED" (what HTCondor does). `find` gives raw values by lower-case name. `within`
// is the key whose value the text is, for the detection of circles. Throws InputError as Evaluated::get does.
std::string expand_macros(std::string_view text, const Lookup& find, std::string_view within = {});

// Replaces the references to the one macro `name` (lower case) by `earlier`, or by their fallbacks where that is
// absent or empty.
std::string expand_self(std::string_view text, std::string_view name, const std::optional<std::string>& earlier);

// What an error without a place says, at a place and about a text.
Diagnostic placed(const InputError& error, Position position, std::string text = {});

bool is_macro_name(std::string_view text);

// The macros that HTCondor or DAGMan define for every job of a Dag and Godwit gives values too. Lower case.
bool is_built_in_macro(std::string_view lower_case_name);

}  // namespace godwit::submit
