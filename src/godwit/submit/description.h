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
#include <utility>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/jobs/job_spec.h"

namespace godwit::submit {

struct Statement {
  enum class Kind { assign, if_, elif, else_, endif, queue };
  Kind kind = Kind::assign;
  std::string key;    // of an assignment, as written ("+WantGPULab", "MY.Attr", "request_cpus")
  std::string value;  // of an assignment; the condition of if/elif; what follows `queue`
  Position position;  // of the statement
  Position value_position;
};

class Description {
 public:
  // Reads a description; faults go to `diagnostics`. `origin` is the position of the text's first byte: a description
  // inside experiment.yaml reports places in experiment.yaml (`indent` columns are added to every line's column).
  static Description parse(std::string_view text, const Position& origin, Diagnostics& diagnostics,
                           std::uint32_t indent = 0);

  const std::vector<Statement>& statements() const { return statements_; }
  // Appends an assignment (before the queue statement where there is one).
  void set(std::string key, std::string value);
  // Appends statements that are not assignments too, as text: "if defined x\n…endif".
  void append(std::string_view text, Diagnostics& diagnostics);
  bool has(std::string_view key) const;  // some assignment to the key, in whatever branch
  // The description as a submit file, with its queue statement left out where `with_queue` is false (DAGMan's
  // SUBMIT-DESCRIPTION blocks take none).
  std::string text(bool with_queue = true) const;

 private:
  std::vector<Statement> statements_;
};

// Variables from outside. Called with a lower-case name.
using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

// The description after its statements have run: lower-case key → raw value.
class Evaluated {
 public:
  Evaluated(std::vector<std::pair<std::string, std::string>> values, Lookup lookup);
  bool has(std::string_view key) const;
  // The value with every macro expanded; nullopt where the key is absent. Throws InputError at a circular macro.
  // Undefined macros become nothing, as in HTCondor.
  std::optional<std::string> get(std::string_view key) const;
  std::string expand(std::string_view text) const;
  const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
  Lookup lookup_;
};

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
};

// Carries the description out for one job. Throws InputError where the description cannot become a job (no executable,
// malformed arguments, a request that is not a number with a unit).
jobs::JobSpec resolve(const Description& description, const Lookup& variables, const ResolveContext& context);

// What a job of this description needs that an executor without containers or file-transfer plugins cannot honour and
// that changes the result: "universe = container", "container_image", URLs in transfer_input_files …
struct Demand {
  std::string what;
  Position position;
};
std::vector<Demand> demands_beyond_local(const Description& description, const Lookup& variables);

}  // namespace godwit::submit
