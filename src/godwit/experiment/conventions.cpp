#include "godwit/experiment/conventions.h"

#include <fmt/format.h>

#include <functional>

#include "godwit/base/text.h"
#include "godwit/experiment/trackers.h"

namespace godwit::experiment {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Below the folder of results.
constexpr std::string_view kLogs = "$(run_uuid)/logs/$(JOB).$(godwit_attempt:1)";
constexpr std::string_view kMetricsTarget = "$(run_uuid)/metrics/$(JOB).$(godwit_attempt:1)";
constexpr std::string_view kOfflineRuns = "$(run_uuid)/wandb/";
constexpr std::string_view kCheckpoints = "$(run_uuid)/checkpoints";

std::string with_pairs(std::string_view before, const Pairs& pairs, std::string_view separator) {
  std::string out(before);
  for (const auto& [name, text] : pairs) out += fmt::format("{}{}={}", trim(out).empty() ? "" : separator, name, text);
  return out;
}

// Adds to a value in double quotes, at its beginning and its end.
std::string extend_quoted(std::string_view value, std::string_view separator, const Pairs& pairs,
                          const Pairs& first = {}) {
  std::string_view inside = trim(value);
  inside.remove_prefix(1);
  inside.remove_suffix(1);
  std::string all = with_pairs("", first, separator);
  if (!all.empty() && !trim(inside).empty()) all += separator;
  all += inside;
  return fmt::format("\"{}\"", with_pairs(all, pairs, separator));
}

bool in_double_quotes(std::string_view value) {
  const std::string_view trimmed = trim(value);
  return trimmed.size() >= 2 && trimmed.front() == '"' && trimmed.back() == '"';
}

class Adder {
 public:
  Adder(submit::Description& description, const ExperimentSpec& spec, JobKind kind)
      : description_(description), spec_(spec), kind_(kind) {}

  void add() {
    add_environment();
    if (!description_.has("stdout")) set_unless_there("output", result(kLogs) + ".out");
    if (!description_.has("stderr")) set_unless_there("error", result(kLogs) + ".err");
    set_unless_there("+GodwitMetrics", fmt::format("\"{}\"", spec_.metrics));
    if (spec_.metrics_table) {
      set_unless_there("+GodwitMetricsFormat", "\"csv\"");
      set_unless_there("+GodwitMetricsFirstEpoch", std::to_string(spec_.metrics_first_epoch));
    }
    if (spec_.names_metrics)
      optional_output(spec_.metrics, result(kMetricsTarget) + (spec_.metrics_table ? ".csv" : ".jsonl"));
    add_secrets(description_, spec_);
    set_unless_there("+GodwitKeep", fmt::format("\"wandb/offline-run-*={}\"", result(kOfflineRuns)));
    if (!spec_.checkpoint.path.empty()) add_checkpoint();
    add_outputs();
  }

 private:
  std::string result(std::string_view path) const { return fmt::format("{}/{}", spec_.results, path); }

  void set_unless_there(std::string_view key, const std::string& value) {
    if (!description_.has(key)) description_.set(key, value);
  }

  // Changes every assignment to the key; where the key may have no value, `otherwise` becomes its value.
  void extend(std::string_view key, const std::function<std::string(const std::string&)>& change,
              const std::string& otherwise) {
    if (!description_.has(key)) {
      description_.set(key, otherwise);
      return;
    }
    description_.rewrite(key, change);
    if (!description_.always_sets(key)) append("if defined {0}\nelse\n  {0} = {1}\nendif\n", key, otherwise);
  }

  template <typename... Arguments>
  void append(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    Diagnostics ours;
    description_.append(fmt::format(format, std::forward<Arguments>(arguments)...), ours);
    ours.throw_if_errors();
  }

  void add_environment() {
    Pairs variables{{"GODWIT_RUN", "$(run_uuid)"},
                    {"GODWIT_FIRST_EPOCH", "$(first_epoch)"},
                    {"GODWIT_LAST_EPOCH", "$(last_epoch)"},
                    {"GODWIT_METRICS", spec_.metrics}};
    if (!spec_.checkpoint.path.empty()) variables.emplace_back("GODWIT_CHECKPOINT", spec_.checkpoint.path);
    const Pairs trackers = tracker_variables(spec_, kind_);
    const auto change = [&](const std::string& value) { return extend_environment(value, variables, trackers); };
    const bool short_name = description_.has("env") && !description_.has("environment");
    extend(short_name ? "env" : "environment", change, extend_environment("", variables, trackers));
  }

  void output(const std::string& name, std::string target) {
    outputs_.push_back(name);
    remaps_.emplace_back(name, std::move(target));
  }

  void optional_output(const std::string& name, std::string target) {
    output(name, std::move(target));
    optional_.push_back(name);
  }

  void add_checkpoint() {
    const std::string& path = spec_.checkpoint.path;
    const std::string& best = spec_.checkpoint.best;
    set_unless_there("should_transfer_files", "YES");
    const std::string from = result(kCheckpoints) + "/$(checkpoint_epoch)/";
    const std::string into = result(kCheckpoints) + "/$(last_epoch)/";
    const std::string inputs = description_.has("transfer_input_files") ? "$(transfer_input_files), " + from : from;
    if (kind_ == JobKind::evaluate) {
      append("transfer_input_files = {}\n", inputs);
      return;
    }
    append("if defined continue_from_checkpoint\n  transfer_input_files = {}\nendif\n", inputs);
    output(path, into + path);
    if (!best.empty()) optional_output(best, into + best);
    set_unless_there("transfer_checkpoint_files", best.empty() ? path : path + ", " + best);
    set_unless_there("checkpoint_exit_code", "85");
  }

  void add_outputs() {
    if (outputs_.empty()) return;
    const std::string added = join(outputs_, ", ");
    const bool some = description_.has("transfer_output_files");
    description_.set("transfer_output_files", some ? "$(transfer_output_files), " + added : added);
    const auto change = [&](const std::string& value) { return extend_remaps(value, remaps_); };
    extend("transfer_output_remaps", change, extend_remaps("", remaps_));
    if (!optional_.empty()) set_unless_there("+GodwitOptionalOutputs", fmt::format("\"{}\"", join(optional_, ", ")));
  }

  submit::Description& description_;
  const ExperimentSpec& spec_;
  JobKind kind_;
  std::vector<std::string> outputs_, optional_;
  Pairs remaps_;
};

}  // namespace

std::string extend_environment(std::string_view value, const Pairs& variables, const Pairs& defaults) {
  const std::string_view trimmed = trim(value);
  // It builds on its own earlier value, which has them already.
  if (lower(trimmed).find("$(environment)") != std::string::npos) return std::string(value);
  if (trimmed.empty()) return extend_quoted("\"\"", " ", variables, defaults);
  if (in_double_quotes(trimmed)) return extend_quoted(trimmed, " ", variables, defaults);
  // What only begins with a quote is wrong, and must be seen to be.
  const bool first = !defaults.empty() && trimmed.front() != '"';
  const std::string before = first ? with_pairs("", defaults, ";") + ";" : std::string();
  return with_pairs(before + std::string(trimmed), variables, ";");
}

std::string extend_remaps(std::string_view value, const Pairs& remaps) {
  const std::string_view trimmed = trim(value);
  if (lower(trimmed).find("$(transfer_output_remaps)") != std::string::npos) return std::string(value);
  return extend_quoted(in_double_quotes(trimmed) ? trimmed : fmt::format("\"{}\"", trimmed), ";", remaps);
}

void add_secrets(submit::Description& description, const ExperimentSpec& spec) {
  if (spec.secrets.empty() || description.has("+GodwitSecrets")) return;
  std::vector<std::string> names;
  for (const Reference& secret : spec.secrets) names.push_back(secret.name);
  description.set("+GodwitSecrets", fmt::format("\"{}\"", join(names, ", ")));
}

void add_conventions(submit::Description& description, const ExperimentSpec& spec, JobKind kind) {
  Adder(description, spec, kind).add();
}

}  // namespace godwit::experiment
