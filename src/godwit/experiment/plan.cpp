#include "godwit/experiment/plan.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "godwit/base/difference.h"
#include "godwit/base/text.h"
#include "godwit/experiment/build.h"
#include "godwit/experiment/checks.h"
#include "godwit/experiment/oversights.h"
#include "godwit/experiment/rules_check.h"
#include "godwit/experiment/runs.h"
#include "godwit/experiment/site_choice.h"
#include "godwit/experiment/templates.h"
#include "godwit/sweep/sweep.h"

namespace godwit::experiment {
namespace {

namespace fs = std::filesystem;

// Names that macros may have: the variables', Godwit's own, and those of variables that could not be read.
class MacroNames {
 public:
  MacroNames(const ExperimentSpec& spec, const sweep::Variables& variables) : any_(variables.has_unread_table()) {
    for (const sweep::Variable& variable : variables.all()) add(variable.name);
    for (const std::string& name : bookkeeping_variables()) add(name);
    for (const yaml::Entry& entry : spec.vars.entries) add(entry.key);
    if (spec.epochs) add("epochs");
    if (spec.epochs_per_job) add("epochs_per_job");
  }
  bool contains(std::string_view lower_case_name) const {
    return any_ || known_.contains(std::string(lower_case_name));
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  void add(const std::string& name) {
    if (known_.insert(lower(name)).second) names_.push_back(name);
  }
  bool any_;  // a table that cannot be read has columns that are not known
  std::unordered_set<std::string> known_;
  std::vector<std::string> names_;
};

Templates make_templates(const ExperimentSpec& spec, const SiteChoice& choice, const sweep::Variables& variables,
                         Diagnostics& diagnostics) {
  const MacroNames names(spec, variables);
  TemplateMaker maker(
      spec, choice.sites, [&](std::string_view name) { return names.contains(name); }, names.all(), diagnostics);
  Templates templates{maker.job("train", spec.train, JobKind::train), std::nullopt, {}};
  if (spec.evaluation) templates.evaluate = maker.job("eval", spec.evaluation->submit, JobKind::evaluate);
  for (const ServiceSpec& service : spec.services)
    templates.services.push_back(maker.service(service, service_site(choice)));
  return templates;
}

// The values of an expression are known only after the sweep.
void add_computed_values(const RunList& runs, const sweep::Sweep& sweep, std::size_t index, VariableSummary& summary) {
  std::unordered_set<Interner::Id> seen;
  for (const PlannedRun& run : runs.runs()) {
    const Interner::Id id = runs.value_id(run, index);
    if (!seen.insert(id).second) continue;
    if (summary.values.size() < VariableSummary::kMostValues) summary.values.emplace_back(sweep.strings().view(id));
  }
  summary.count = seen.size();
}

std::vector<VariableSummary> summarize(const RunList& runs, const sweep::Sweep& sweep) {
  std::vector<VariableSummary> out;
  for (std::size_t i = 0; i < sweep.names().size(); ++i) {
    const sweep::Variable& variable = sweep.variables().all()[i];
    VariableSummary summary{variable.name, std::string(to_string(variable.type)), variable.description, 1, {}};
    add_computed_values(runs, sweep, i, summary);
    out.push_back(std::move(summary));
  }
  return out;
}

// What cannot be read is the input's fault.
ExperimentSpec read_spec(const std::string& path, Diagnostics& diagnostics) {
  try {
    return load_spec(path, diagnostics);
  } catch (const SystemError& error) {
    throw InputError(error.what());
  }
}

Json source_of(ExperimentSpec& spec, const SiteChoice& choice) {
  Json source{{"experiment", std::move(spec.source)}};
  if (!choice.file.empty()) source["sites"] = to_json(yaml::load(choice.file));
  return source;
}

// Job j of run r at site r + j.
void visit_all_sites(SiteChoice& choice) {
  choice.placement.rule = placement::Rule::round_robin;
  choice.placement.sites.resize(choice.sites.size());
  std::iota(choice.placement.sites.begin(), choice.placement.sites.end(), dag::SiteId{0});
}

void add_all(const Diagnostics& more, Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : more.all()) diagnostics.add(diagnostic);
}

// Where the sweep has no runs to check the jobs of: what can be said of one whose variables are not known.
void check_without_values(const ExperimentSpec& spec, const SiteChoice& choice, Templates templates,
                          const LoadOptions& options, Diagnostics& diagnostics) {
  Diagnostics ignored;
  const sweep::Sweep none(sweep::Variables(), nullptr, nullptr, ignored);
  const RunList runs(spec, none, choice.sites.size(), nullptr, options.limit, ignored);
  if (ignored.has_errors()) return;
  const dag::Graph graph = build_graph(spec, choice, none, runs, std::move(templates));
  std::vector<Diagnostic> blockers;
  check_jobs(spec, choice.sites, sites::this_machine(), graph, diagnostics, blockers, ValuesKnown::no);
}

const yaml::Node* unless_null(const yaml::Node& node) {
  return node.is_null() ? nullptr : &node;
}

}  // namespace

std::string find_experiment(const std::string& file) {
  const fs::path given = file;
  if (!file.empty() && !fs::is_directory(given)) {
    if (fs::exists(given)) return file;
    throw InputError("no such experiment file: '" + file + "'", "'godwit init' writes one to start from");
  }
  for (const char* name : {"experiment.yaml", "Experiment.yaml"})
    if (fs::exists(given / name)) return given / name;
  throw InputError("no experiment.yaml in " + (file.empty() ? std::string("this folder") : "'" + file + "'"),
                   "'godwit init' writes one to start from, or name the file");
}

Planned load_and_plan(const LoadOptions& options) {
  Diagnostics diagnostics;
  Planned planned;
  planned.spec = read_spec(find_experiment(options.file), diagnostics);
  check_rehearsal(planned.spec, diagnostics);
  if (options.rehearse) turn_into_rehearsal(planned.spec);
  const ExperimentSpec& spec = planned.spec;
  SiteChoice choice = choose_sites(spec, options.sites_file, diagnostics);
  if (spec.rehearses) visit_all_sites(choice);
  Diagnostics swept;
  sweep::Sweep sweep(sweep::read(spec.vars, {spec.seed, spec.directory}, swept), unless_null(spec.include),
                     unless_null(spec.exclude), swept);
  // All that is wrong is said at once: an error ends only what builds on the thing that is wrong.
  const bool has_combinations = !swept.has_errors();
  add_all(swept, diagnostics);
  const bool has_sites = !choice.sites.empty();
  Templates templates = make_templates(spec, choice, sweep.variables(), diagnostics);
  Diagnostics listed;
  std::optional<RunList> list;
  if (has_combinations)
    list.emplace(spec, sweep, std::max<std::size_t>(choice.sites.size(), 1), options.earlier, options.limit, listed);
  add_all(listed, diagnostics);
  if (has_sites && (!has_combinations || listed.has_errors()))
    check_without_values(spec, choice, templates, options, diagnostics);
  if (!has_sites || !has_combinations || listed.has_errors()) diagnostics.throw_if_errors();
  const RunList& runs = *list;
  if (!spec.rehearses) {
    warn_of_oversights(spec, choice, runs, diagnostics);
    check_rules(spec, runs, diagnostics);
  }
  planned.graph = build_graph(spec, choice, sweep, runs, std::move(templates));
  Checked checked = check_jobs(spec, choice.sites, sites::this_machine(), planned.graph, diagnostics, planned.blockers);
  diagnostics.throw_if_errors();

  planned.asked = std::move(checked.asked);
  planned.files = std::move(checked.files);
  planned.source = source_of(planned.spec, choice);
  planned.warnings = diagnostics.warnings();
  planned.variables = summarize(runs, sweep);
  planned.shape = sweep.shape();
  planned.sites = std::move(choice.sites);
  planned.sites_file = std::move(choice.file);
  planned.placement = std::move(choice.placement);
  return planned;
}

void require_runnable(const Planned& planned) {
  if (!planned.blockers.empty()) throw InputError(planned.blockers);
}

std::string Planned::placement_reason(dag::NodeId node) const {
  const dag::RunId run = graph.run_of(node);
  const bool baseline = run != dag::kNoRun && graph.runs()[run].baseline;
  return std::string(placement::reason_of(placement.rule, baseline));
}

}  // namespace godwit::experiment
