#include "godwit/experiment/keep_spec.h"

#include "godwit/experiment/count.h"
#include "godwit/experiment/keys.h"
#include "godwit/experiment/metric_choice.h"

namespace godwit::experiment {

std::optional<KeepSpec> read_keep(const yaml::Node& node, Diagnostics& diagnostics) {
  yaml::Fields fields(node, diagnostics, "'keep'");
  if (!node.is_mapping()) return std::nullopt;
  const std::size_t before = diagnostics.all().size();
  KeepSpec out;
  out.position = node.position;
  out.best_position = fields.position("best");
  out.metric_position = fields.position("metric");
  out.says_best = fields.has("best");
  if (const yaml::Node* last = fields.get("last"); last != nullptr && last->text == "0")
    diagnostics.error(last->position, "'last' must be at least 1: a run goes on from its last checkpoint", last->text);
  else
    out.rule.last = count(fields, "last", 1).value_or(1);
  out.rule.best = count(fields, "best", 0).value_or(0);
  out.rule.every = count(fields, "every", 1).value_or(0);
  if (dag::Metric metric = read_metric(fields, diagnostics); fields.has("metric")) {
    out.rule.metric = std::move(metric);
    if (out.says_best && out.rule.best == 0)
      diagnostics.error(out.metric_position, "a metric decides nothing where 'best' is 0", out.rule.metric->name);
    if (!out.says_best) out.rule.best = 1;
  } else if (fields.has("mode")) {
    diagnostics.error(fields.position("mode"), "'mode' says how to read a metric, and 'keep' names none", {},
                      "such as 'keep: {best: 1, metric: val_loss, mode: min}'");
  }
  schema::declare(keep_keys(), fields);
  fields.finish();
  return diagnostics.all().size() == before ? std::optional(out) : std::nullopt;
}

}  // namespace godwit::experiment
