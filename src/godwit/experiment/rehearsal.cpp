#include "godwit/experiment/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "godwit/base/text.h"
#include "godwit/experiment/keys.h"
#include "godwit/experiment/spec.h"
#include "godwit/submit/paths.h"

namespace godwit::experiment {
namespace {

yaml::Entry* find(std::vector<yaml::Entry>& entries, std::string_view key) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

yaml::Node number_node(std::uint32_t number, const Position& position) {
  yaml::Node node;
  node.kind = yaml::Kind::scalar;
  node.text = std::to_string(number);
  node.position = position;
  return node;
}

// `epochs` or `epochs_per_job`, which may be a key or a variable.
void set_epochs(ExperimentSpec& spec, std::string_view key, std::optional<std::uint32_t>& constant,
                std::uint32_t value) {
  if (yaml::Entry* variable = find(spec.vars.entries, key))
    variable->value = number_node(value, variable->value.position);
  else
    constant = value;
}

}  // namespace

RehearsalSpec read_rehearsal(const yaml::Node& node, Diagnostics& diagnostics) {
  RehearsalSpec spec;
  spec.position = node.position;
  yaml::Fields fields(node, diagnostics, "'rehearse'");
  if (!node.is_mapping()) return spec;
  if (const auto epochs = fields.integer("epochs", 1, 1'000'000)) spec.epochs = static_cast<std::uint32_t>(*epochs);
  spec.scale = fields.number("scale");
  if (spec.scale && (!std::isfinite(*spec.scale) || *spec.scale <= 0))
    diagnostics.error(fields.position("scale"), "'scale' must be above 0", fields.get("scale")->text,
                      "how many times as long an epoch takes in earnest: 'scale: 100'");
  if (const yaml::Node* vars = fields.get("vars")) {
    if (!vars->is_mapping())
      diagnostics.error(vars->position, fmt::format("'vars' must be a mapping, not {}", vars->kind_name()), {},
                        "name a variable and its value in rehearsals: 'samples: 100'");
    for (const yaml::Entry& entry : vars->entries) {
      if (entry.value.is_scalar())
        spec.vars.push_back(entry);
      else
        diagnostics.error(entry.value.position, "a rehearsal has one value of each variable", entry.key,
                          fmt::format("'{}: VALUE'", entry.key));
    }
  }
  schema::declare(rehearsal_keys(), fields);
  fields.finish();
  return spec;
}

void check_rehearsal(const ExperimentSpec& spec, Diagnostics& diagnostics) {
  if (!spec.rehearsal) return;
  for (const yaml::Entry& replaced : spec.rehearsal->vars) {
    std::vector<std::string> names;
    for (const yaml::Entry& entry : spec.vars.entries) names.push_back(entry.key);
    if (std::find(names.begin(), names.end(), replaced.key) != names.end()) continue;
    std::string hint = did_you_mean(replaced.key, names);
    if (hint.empty()) hint = "a rehearsal gives other values to entries of the experiment's 'vars'";
    diagnostics.error(replaced.position, "the experiment has no such variable", replaced.key, hint);
  }
}

void turn_into_rehearsal(ExperimentSpec& spec) {
  const RehearsalSpec rehearsal = spec.rehearsal.value_or(RehearsalSpec{});
  for (const yaml::Entry& replaced : rehearsal.vars)
    if (yaml::Entry* variable = find(spec.vars.entries, replaced.key)) variable->value = replaced.value;
  set_epochs(spec, "epochs", spec.epochs, 2 * rehearsal.epochs);
  set_epochs(spec, "epochs_per_job", spec.epochs_per_job, rehearsal.epochs);
  spec.rehearses = true;
  spec.results = fmt::format(".godwit/{}/runs", kRehearsalFolder);
  if (!spec.mlflow.empty() && !submit::is_url(spec.mlflow))
    spec.mlflow = fmt::format(".godwit/{}/mlruns", kRehearsalFolder);
  spec.replicates = 1;
  spec.compare.reset();
  spec.retry.count = 0;
  if (spec.evaluation) spec.evaluation->every = 1;
}

std::string golden_node(std::string_view site) {
  return fmt::format("golden-{}", site);
}

}  // namespace godwit::experiment
