#include "godwit/engine/attempt_builder.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

#include "godwit/base/text.h"
#include "godwit/submit/description.h"

namespace godwit::engine {

using jobs::Outcome;
using jobs::Phase;

jobs::AttemptKey AttemptBuilder::key(dag::NodeId node, std::uint32_t attempt, Phase phase) const {
  return {dag_uuid_, std::string(graph_.name_of(node)), attempt, phase};
}

namespace {

// Descriptions may name a folder with a slash at its end (its contents) and by its absolute path.
bool names(std::string_view source, const std::string& directory, std::string_view folder) {
  while (source.ends_with('/')) source.remove_suffix(1);
  if (source.starts_with(directory + "/")) source.remove_prefix(directory.size() + 1);
  return source == folder;
}

}  // namespace

jobs::Attempt AttemptBuilder::job(dag::NodeId node, dag::SiteId site, std::uint32_t attempt, Phase phase,
                                  const Amendments& amendments) const {
  const submit::Description* description = graph_.description(node, site);
  if (description == nullptr)
    throw InputError(
        fmt::format("node {} has no submit description for site {}", graph_.name_of(node), graph_.sites()[site]));
  const submit::Lookup variables = [&](std::string_view name) -> std::optional<std::string> {
    if (name == "godwit_attempt") return std::to_string(attempt);
    std::optional<std::string> value;
    graph_.each_var(node, [&](std::string_view key, std::string_view text) {
      if (equal_ignoring_case(key, name)) value = text;
    });
    return value;
  };
  submit::ResolveContext context;
  context.directory = graph_.directory;
  context.node = graph_.name_of(node);
  context.attempt = attempt;
  context.cluster = node + 1;
  jobs::JobSpec spec = submit::resolve(*description, variables, context);
  if (amendments.memory_mb) spec.resources.memory_mb = *amendments.memory_mb;
  if (amendments.input_content)
    for (jobs::InputFile& input : spec.inputs)
      if (names(input.source, graph_.directory, amendments.input)) input.expected = amendments.input_content;
  return {key(node, attempt, phase), graph_.sites()[site], std::make_shared<const jobs::JobSpec>(std::move(spec))};
}

jobs::Attempt AttemptBuilder::script(dag::NodeId node, std::uint32_t attempt, Phase phase,
                                     const ScriptContext& context) const {
  const dag::Attributes& attributes = graph_.attributes(node);
  const auto& script = phase == Phase::pre ? attributes.pre : phase == Phase::post ? attributes.post : attributes.hold;
  jobs::JobSpec spec;
  spec.name = fmt::format("{} {} script", graph_.name_of(node), jobs::to_string(phase));
  spec.directory = graph_.directory;
  spec.sandbox = false;
  spec.transfer_executable = false;
  // As DAGMan has it, a bare name is that of a file beside the Dag; only where there is none, of a program on the PATH.
  const bool beside = script->executable.find('/') == std::string::npos &&
                      std::filesystem::is_regular_file(graph_.directory + "/" + script->executable);
  spec.executable = beside ? "./" + script->executable : script->executable;
  for (const std::string& argument : script->arguments)
    spec.arguments.push_back(expand_script_macros(argument, graph_.name_of(node), attributes.retries, context));
  return {key(node, attempt, phase), "", std::make_shared<const jobs::JobSpec>(std::move(spec))};
}

namespace {

std::string return_value(const ScriptContext& context) {
  if (context.job == nullptr) return "-1004";  // DAGMan's value for a job that did not run
  if (context.job->outcome == Outcome::exited) return std::to_string(context.job->exit_code);
  return std::to_string(context.job->signal != 0 ? -context.job->signal : -1001);
}

}  // namespace

std::string expand_script_macros(std::string_view argument, std::string_view node, std::uint32_t max_retries,
                                 const ScriptContext& context) {
  // Longer names first, where one begins with another.
  const std::array<std::pair<std::string_view, std::string>, 8> macros{{
      {"$MAX_RETRIES", std::to_string(max_retries)},
      {"$RETRY", std::to_string(context.retries_used)},
      {"$RETURN", return_value(context)},
      {"$JOBID", context.job_id},
      {"$JOB", std::string(node)},
      {"$NODE", std::string(node)},
      {"$DAG_STATUS", context.failed_nodes == 0 ? "0" : "2"},
      {"$FAILED_COUNT", std::to_string(context.failed_nodes)},
  }};
  std::string out;
  for (std::size_t i = 0; i < argument.size();) {
    bool replaced = false;
    for (const auto& [name, value] : macros)
      if (argument.substr(i, name.size()) == name) {
        out += value;
        i += name.size();
        replaced = true;
        break;
      }
    if (!replaced) out += argument[i++];
  }
  return out;
}

}  // namespace godwit::engine
