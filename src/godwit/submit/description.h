// HTCondor's submit language as Godwit reads it: the portable job language. A Description keeps the statements in
// order with their positions; evaluate() runs them against variables; resolve() makes a jobs::JobSpec.
//
// The rules (HTCondor manual, "Submitting a Job", "Using the Submit Language"): keys are case-insensitive; a value may
// use $(macro) and $(macro:default); a macro in its own definition means its earlier value, other macros are expanded
// late, when the job is made; `+Attr` is `MY.Attr`; `if`, `elif`, `else`, `endif` with `defined NAME`, booleans and
// numbers; `\` continues a line; `#` begins a comment line. Variables given from outside (VARS) are there before the
// first statement, so `epoch = $(epoch:1)` keeps the given one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/jobs/job_spec.h"

namespace godwit::submit {

struct Statement {
  enum class Kind { assign, if_, elif, else_, endif, queue };
  Kind kind = Kind::assign;
  std::string key;      // of an assignment, as written ("+WantGPULab", "MY.Attr", "request_cpus")
  std::string value;    // of an assignment; the condition of if/elif; what follows `queue`
  std::string written;  // of an assignment that rewrite() has changed: the value as it was read
  Position position;    // of the statement
  Position value_position;
  // Where the parts of a continued value begin: its offset in `value`, and the place in the file.
  std::vector<std::pair<std::size_t, Position>> continuations;

  // The place of the byte `offset` of the value.
  Position position_at(std::size_t offset) const;
  // What is written, wherever it stands.
  friend bool operator==(const Statement& a, const Statement& b) {
    return a.kind == b.kind && a.key == b.key && a.value == b.value;
  }
};

// "+Attr" and "MY.Attr" name the same attribute: the form in which keys are compared, in lower case.
std::string canonical_key(std::string_view key);

// Nested conditions, as HTCondor limits them.
inline constexpr std::size_t kMaxConditionDepth = 63;
// What expanding one value may read and write, in bytes, each macro counting kMacroWork: bounds macros that multiply.
inline constexpr std::size_t kMaxExpansionWork = 4u << 20;
inline constexpr std::size_t kMacroWork = 256;

class Description {
 public:
  // Reads a description; faults go to `diagnostics`. `origin` is the position of the text's first byte: a description
  // inside experiment.yaml reports places in experiment.yaml (`indent` columns are added to every line's column).
  static Description parse(std::string_view text, const Position& origin, Diagnostics& diagnostics,
                           std::uint32_t indent = 0);

  const std::vector<Statement>& statements() const { return statements_; }
  // Appends an assignment (before the queue statement where there is one). Throws InputError where the value holds a
  // line break or ends in a backslash: the language cannot say them.
  void set(std::string_view key, std::string_view value);
  // Appends statements that are not assignments too, as text: "if defined x\n…endif".
  void append(std::string_view text, Diagnostics& diagnostics);
  bool has(std::string_view key) const { return last(key) != nullptr; }
  // The last assignment to the key, in whatever branch, or nullptr.
  const Statement* last(std::string_view key) const;
  // The same among those that were read from a file, and not added by set() or append().
  const Statement* last_written(std::string_view key) const;
  // Whether some assignment to the key stands outside every condition.
  bool always_sets(std::string_view key) const;
  // Replaces the value of every assignment to the key by what `change` makes of it. Throws as set() does.
  void rewrite(std::string_view key, const std::function<std::string(const std::string& value)>& change);
  // The description as a submit file, with its queue statement left out where `with_queue` is false (DAGMan's
  // SUBMIT-DESCRIPTION blocks take none).
  std::string text(bool with_queue = true) const;

 private:
  std::vector<Statement> statements_;
};

// Variables from outside. Called with a lower-case name.
using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

// The description after its statements have run: canonical key → raw value. A variable from outside counts as a value
// too, so VARS request_memory="4GB" asks for 4 GB where the description does not say otherwise.
class Evaluated {
 public:
  Evaluated(std::vector<std::pair<std::string, std::string>> values, Lookup lookup);
  bool has(std::string_view key) const { return raw(key).has_value(); }
  // The value as written, macros and all.
  std::optional<std::string> raw(std::string_view key) const;
  // The value with every macro expanded; nullopt where the key is absent. Throws InputError at a circular macro, one
  // of HTCondor's macro functions other than $ENV, and past kMaxExpansionWork. Undefined macros become nothing, as in
  // HTCondor; `$$(…)`, which HTCondor fills in at the match, stays.
  std::optional<std::string> get(std::string_view key) const;
  std::string expand(std::string_view text) const;
  const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
  std::unordered_map<std::string, std::size_t> index_;
  Lookup lookup_;
};

// Runs the statements. Throws InputError with the place of a condition that is none, or of a value that grows past
// kMaxExpansionWork.
Evaluated evaluate(const Description& description, const Lookup& variables);

// The macros that the description uses without default and that neither it, `known` nor HTCondor defines, each with
// its place: what `plan` reports as undefined.
struct MacroUse {
  std::string name;
  Position position;
};
std::vector<MacroUse> undefined_macros(const Description& description,
                                       const std::function<bool(std::string_view lower_case_name)>& known);

// What resolve() takes from around the description.
struct ResolveContext {
  std::string directory;  // absolute; `initialdir` is relative to it
  std::string node;       // $(JOB), $(Node)
  std::uint32_t attempt = 1;
  // $(Cluster), $(ClusterId): a number unique to the attempt here; $(Process) is 0.
  std::uint64_t cluster = 0;
  // Statements that could not be read are left out of the description, so that what is missing is no fault.
  bool incomplete = false;
};

// Carries the description out for one job. Where HTCondor and one machine differ: without `getenv` a job starts from
// the executor's environment; without `transfer_output_files` nothing comes back; a metrics file is what
// `+GodwitMetrics = "name"` says (a table where `+GodwitMetricsFormat = "csv"`), outputs that may be absent are in
// `+GodwitOptionalOutputs = "a, b"`, and what comes back however the job ends in `+GodwitKeep = "a=folder/;
// b*=folder/"`; variables whose values the executor is told otherwise are named in `+GodwitSecrets = "A, B"`; input
// files' names, output files and checkpoint files stay inside the sandbox. Throws InputError, with every fault, where
// the description cannot become a job (no executable, malformed arguments, a request that is not a number with a unit).
jobs::JobSpec resolve(const Description& description, const Lookup& variables, const ResolveContext& context);
// The same with the faults to `diagnostics`; what is right is returned. Still throws where evaluate() does.
jobs::JobSpec resolve(const Description& description, const Lookup& variables, const ResolveContext& context,
                      Diagnostics& diagnostics);

// What a job of this description needs that an executor without containers or file-transfer plugins cannot honour and
// that changes the result: "universe = container", "container_image", URLs in transfer_input_files …
struct Demand {
  std::string what;
  Position position;
};
std::vector<Demand> demands_beyond_local(const Description& description, const Lookup& variables);

}  // namespace godwit::submit
