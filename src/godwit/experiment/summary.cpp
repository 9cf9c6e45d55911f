#include "godwit/experiment/summary.h"

#include <algorithm>

namespace godwit::experiment {
namespace {

constexpr std::size_t kRunsInJson = 1000;

Json to_json(const Diagnostic& diagnostic) {
  return {
      {"file", diagnostic.position.file}, {"line", diagnostic.position.line}, {"column", diagnostic.position.column},
      {"message", diagnostic.message},    {"text", diagnostic.text},          {"hint", diagnostic.hint}};
}

Json to_json(const std::vector<Diagnostic>& diagnostics) {
  Json out = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) out.push_back(to_json(diagnostic));
  return out;
}

Json variables_json(const Planned& planned) {
  Json out = Json::array();
  for (const VariableSummary& variable : planned.variables)
    out.push_back({{"name", variable.name},
                   {"type", variable.type},
                   {"description", variable.description},
                   {"count", variable.count},
                   {"values", variable.values}});
  return out;
}

Json sites_json(const Planned& planned, const Summary& summary) {
  Json out = Json::array();
  for (std::size_t i = 0; i < planned.sites.size(); ++i) {
    const jobs::ResourceSpec& asked = planned.asked[i];
    out.push_back(
        {{"name", planned.sites[i].name},
         {"executor", planned.sites[i].executor},
         {"runnable", planned.sites[i].runnable()},
         {"training_jobs", summary.at_site[i].training_jobs},
         {"evaluation_jobs", summary.at_site[i].evaluation_jobs},
         {"asked",
          {{"cpus", asked.cpus}, {"memory_mb", asked.memory_mb}, {"disk_kb", asked.disk_kb}, {"gpus", asked.gpus}}}});
  }
  return out;
}

Json submit_json(const dag::Graph& graph) {
  Json out = Json::object();
  for (const dag::Template& description : graph.templates()) {
    Json& at = out[description.name] = Json::object();
    for (std::size_t site = 0; site < description.at_site.size(); ++site)
      if (description.at_site[site]) at[graph.sites()[site]] = description.at_site[site]->text();
  }
  return out;
}

Json runs_json(const Planned& planned) {
  const std::vector<std::vector<dag::SiteId>> paths = site_paths(planned, kRunsInJson);
  Json out = Json::array();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const dag::Run& run = planned.graph.runs()[i];
    Json values = Json::object();
    for (const auto& [name, value] : run.values) values[name] = value;
    Json path = Json::array();
    for (const dag::SiteId site : paths[i]) path.push_back(planned.graph.sites()[site]);
    out.push_back({{"number", run.number},
                   {"run_uuid", run.uuid},
                   {"random_seed", run.seed},
                   {"replicate", run.replicate},
                   {"baseline", run.baseline},
                   {"pair", run.pair},
                   {"values", std::move(values)},
                   {"path", std::move(path)}});
  }
  return out;
}

Json nodes_json(const dag::Graph& graph) {
  Json out = Json::array();
  for (dag::NodeId node = 0; node < graph.size(); ++node) {
    Json vars = Json::object();
    graph.each_var(node, [&](std::string_view key, std::string_view value) { vars[std::string(key)] = value; });
    const dag::Attributes& attributes = graph.attributes(node);
    Json parents = Json::array();
    for (const dag::NodeId parent : graph.parents(node)) parents.push_back(graph.name_of(parent));
    out.push_back({{"name", graph.name_of(node)},
                   {"kind", to_string(graph.kind(node))},
                   {"site", graph.sites()[graph.planned_site(node)]},
                   {"priority", attributes.priority},
                   {"retries", attributes.retries},
                   {"category", attributes.category},
                   {"parents", std::move(parents)},
                   {"vars", std::move(vars)}});
  }
  return out;
}

}  // namespace

Summary summarize(const Planned& planned) {
  const dag::Graph& graph = planned.graph;
  Summary out;
  out.runs = graph.runs().size();
  for (const dag::Run& run : graph.runs()) out.baseline_runs += run.baseline ? 1 : 0;
  out.at_site.resize(graph.sites().size());
  std::vector<std::uint64_t> jobs(graph.runs().size(), 0);
  for (dag::NodeId node = 0; node < graph.size(); ++node) {
    SiteLoad& load = out.at_site[graph.planned_site(node)];
    switch (graph.kind(node)) {
      case dag::NodeKind::train:
        ++out.training_jobs;
        ++load.training_jobs;
        ++jobs[graph.run_of(node)];
        break;
      case dag::NodeKind::evaluate:
        ++out.evaluation_jobs;
        ++load.evaluation_jobs;
        break;
      default:
        ++out.services;
    }
  }
  for (const dag::Edge& edge : graph.edges())
    out.training_edges += graph.kind(edge.child) == dag::NodeKind::train ? 1 : 0;
  if (!jobs.empty()) {
    const auto [fewest, most] = std::minmax_element(jobs.begin(), jobs.end());
    out.fewest_jobs = *fewest;
    out.most_jobs = *most;
  }
  return out;
}

std::vector<std::vector<dag::SiteId>> site_paths(const Planned& planned, std::size_t most) {
  const dag::Graph& graph = planned.graph;
  std::vector<std::vector<dag::SiteId>> out(std::min(most, graph.runs().size()));
  for (dag::NodeId node = 0; node < graph.size(); ++node)
    if (graph.kind(node) == dag::NodeKind::train && graph.run_of(node) < out.size())
      out[graph.run_of(node)].push_back(graph.planned_site(node));
  return out;
}

Json to_json(const Planned& planned, bool with_nodes) {
  const dag::Graph& graph = planned.graph;
  const Summary summary = summarize(planned);
  Json out = {{"name", planned.spec.name},
              {"file", planned.spec.file},
              {"sites_file", planned.sites_file},
              {"runnable", planned.blockers.empty()},
              {"training_runs", summary.runs},
              {"baseline_runs", summary.baseline_runs},
              {"training_jobs", summary.training_jobs},
              {"evaluation_jobs", summary.evaluation_jobs},
              {"services", summary.services},
              {"jobs_per_run", {{"fewest", summary.fewest_jobs}, {"most", summary.most_jobs}}},
              {"edges", graph.edges().size()},
              {"edges_train_to_train", summary.training_edges},
              {"sweep", planned.shape},
              {"placement", to_string(planned.placement.rule)},
              {"variables", variables_json(planned)},
              {"sites", sites_json(planned, summary)},
              {"submit", submit_json(graph)},
              {"runs", runs_json(planned)},
              {"cannot_run_here", to_json(planned.blockers)},
              {"warnings", to_json(planned.warnings)}};
  if (with_nodes) out["nodes"] = nodes_json(graph);
  return out;
}

}  // namespace godwit::experiment
