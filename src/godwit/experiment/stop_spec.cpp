#include "godwit/experiment/stop_spec.h"

#include <fmt/format.h>

#include <cmath>

#include "godwit/experiment/count.h"
#include "godwit/experiment/keys.h"
#include "godwit/experiment/metric_choice.h"

namespace godwit::experiment {
std::optional<EarlyStopSpec> read_early_stop(const yaml::Node& node, Diagnostics& diagnostics) {
  yaml::Fields fields(node, diagnostics, "'early_stop'");
  if (!node.is_mapping()) return std::nullopt;
  const std::size_t before = diagnostics.all().size();
  EarlyStopSpec out{node.position, fields.position("metric"), {}};
  out.rule.metric = read_metric(fields, diagnostics);
  if (!fields.has("patience"))
    diagnostics.error(fields.position("patience"), "'early_stop' needs 'patience'", {},
                      "after how many epochs without an improvement a run is stopped, such as 'patience: 5'");
  out.rule.patience = count(fields, "patience", 1).value_or(1);
  if (const auto delta = fields.number("min_delta")) {
    out.rule.min_delta = *delta;
    if (!std::isfinite(*delta) || *delta < 0)
      diagnostics.error(fields.position("min_delta"), "'min_delta' must be 0 or more", fields.get("min_delta")->text,
                        "'mode' says whether low or high values are better");
  }
  schema::declare(early_stop_keys(), fields);
  fields.finish();
  return diagnostics.all().size() == before ? std::optional(out) : std::nullopt;
}

std::optional<AshaSpec> read_asha(const yaml::Node& node, Diagnostics& diagnostics) {
  yaml::Fields fields(node, diagnostics, "'asha'");
  if (!node.is_mapping()) return std::nullopt;
  const std::size_t before = diagnostics.all().size();
  AshaSpec out{node.position, fields.position("metric"), {}};
  out.rule.metric = read_metric(fields, diagnostics);
  out.rule.reduction = count(fields, "reduction", 2).value_or(3);
  out.rule.grace = count(fields, "grace", 1).value_or(1);
  out.rule.max = count(fields, "max", 1).value_or(0);
  const std::uint64_t second = std::uint64_t{out.rule.grace} * out.rule.reduction;
  if (out.rule.max != 0 && out.rule.max < second)
    diagnostics.error(fields.position("max"), "'max' leaves no rung to be promoted to", std::to_string(out.rule.max),
                      fmt::format("the second is reached after grace × reduction = {} jobs", second));
  schema::declare(asha_keys(), fields);
  fields.finish();
  return diagnostics.all().size() == before ? std::optional(out) : std::nullopt;
}

}  // namespace godwit::experiment
