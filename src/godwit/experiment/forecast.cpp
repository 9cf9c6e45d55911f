#include "godwit/experiment/forecast.h"

#include <algorithm>

#include "godwit/sites/machine.h"

namespace godwit::experiment {
namespace {

std::uint64_t epochs_of(const dag::Graph& graph, dag::NodeId node) {
  return std::uint64_t{epoch_of(graph, node, "last_epoch")} - epoch_of(graph, node, "first_epoch") + 1;
}

const Json* site_in(const Json& rehearsal, const std::string& name) {
  const auto sites = rehearsal.find("sites");
  if (sites == rehearsal.end() || !sites->is_array()) return nullptr;
  for (const Json& site : *sites)
    if (site.is_object() && site.value("name", "") == name) return &site;
  return nullptr;
}

// Of a step that passed.
std::optional<double> wall_of(const Json& site, const char* step) {
  const auto found = site.find(step);
  if (found == site.end() || !found->is_object() || found->value("result", "") != "passed") return std::nullopt;
  return found->value("wall_s", 0.0);
}

void add_measures(SiteForecast& out, const Json& site, const Planned& planned, const Forecast& all, std::size_t index) {
  for (const char* step : {"begins", "resumes", "evaluates"})
    if (const auto found = site.find(step); found != site.end() && found->is_object()) {
      out.peak_memory_kb = std::max(out.peak_memory_kb, found->value("peak_memory_kb", std::uint64_t{0}));
      out.asked_memory_mb = std::max(out.asked_memory_mb, found->value("asked_memory_mb", std::uint64_t{0}));
    }
  const auto begins = wall_of(site, "begins");
  if (!begins) return;
  const double epoch_s = site.value("epoch_s", 0.0) * all.scale;
  out.job_s = static_cast<double>(out.epochs) * epoch_s +
              static_cast<double>(out.evaluations) * wall_of(site, "evaluates").value_or(0);
  const std::uint32_t slots = planned.sites[index].runnable()
                                  ? sites::offer_of(planned.sites[index], sites::this_machine()).slots
                                  : planned.sites[index].slots;
  if (slots != 0) out.at_least_s = *out.job_s / slots;
}

}  // namespace

Forecast forecast(const Planned& planned, const Json& rehearsal) {
  Forecast out;
  out.rehearsed = rehearsal.value("time", "");
  const auto& spec = planned.spec.rehearsal;
  out.scale_known = !spec || spec->vars.empty() || spec->scale.has_value();
  if (spec && spec->scale) out.scale = *spec->scale;
  out.sites.resize(planned.sites.size());
  std::uint64_t checkpoints = 0;
  for (dag::NodeId node = 0; node < planned.graph.size(); ++node) {
    SiteForecast& site = out.sites[planned.graph.planned_site(node)];
    if (planned.graph.kind(node) == dag::NodeKind::train) {
      site.epochs += epochs_of(planned.graph, node);
      ++checkpoints;
    } else if (planned.graph.kind(node) == dag::NodeKind::evaluate) {
      ++site.evaluations;
    }
  }
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < out.sites.size(); ++i) {
    out.sites[i].site = planned.sites[i].name;
    const Json* measured = site_in(rehearsal, planned.sites[i].name);
    if (measured == nullptr) continue;
    add_measures(out.sites[i], *measured, planned, out, i);
    largest = std::max(largest, measured->value("checkpoint_bytes", std::uint64_t{0}));
  }
  if (largest != 0) out.checkpoint_bytes = largest * checkpoints;
  return out;
}

Json to_json(const Forecast& forecast) {
  const auto number = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json json{{"rehearsed", forecast.rehearsed},
            {"scale", forecast.scale},
            {"scale_known", forecast.scale_known},
            {"checkpoint_bytes", number(forecast.checkpoint_bytes)},
            {"sites", Json::array()}};
  for (const SiteForecast& site : forecast.sites)
    json["sites"].push_back({{"site", site.site},
                             {"epochs", site.epochs},
                             {"evaluations", site.evaluations},
                             {"job_s", number(site.job_s)},
                             {"at_least_s", number(site.at_least_s)},
                             {"peak_memory_kb", site.peak_memory_kb},
                             {"asked_memory_mb", site.asked_memory_mb}});
  return json;
}

}  // namespace godwit::experiment
