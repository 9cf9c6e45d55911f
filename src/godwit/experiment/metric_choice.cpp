#include "godwit/experiment/metric_choice.h"

#include <algorithm>

#include "godwit/base/bookkeeping.h"
#include "godwit/base/text.h"

namespace godwit::experiment {
namespace {

const std::vector<std::string>& modes() {
  static const std::vector<std::string> words{"min", "max"};
  return words;
}

}  // namespace

std::string read_metric_name(yaml::Fields& fields, Diagnostics& diagnostics) {
  const std::string name = fields.text("metric").value_or("");
  if (!fields.has("metric")) return name;
  const auto error = [&](std::string message, std::string text, std::string hint) {
    diagnostics.error(fields.position("metric"), std::move(message), std::move(text), std::move(hint));
  };
  if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    error("the metric's name has a control character", {}, "leave it out");
  else if (trim(name).empty())
    error("'metric' is empty", {}, "name the one that decides, such as 'metric: val_loss'");
  else if (is_bookkeeping(name))
    error("this is no metric but bookkeeping of the lines that jobs write", name,
          "name what tells good models from bad ones, such as val_loss");
  return name;
}

dag::Metric read_metric(yaml::Fields& fields, Diagnostics& diagnostics) {
  dag::Metric metric{read_metric_name(fields, diagnostics), Goal::lowest};
  metric.goal = guess_goal(metric.own_name());
  const auto mode = fields.text("mode");
  if (!mode) return metric;
  if (*mode == "min" || *mode == "max")
    metric.goal = *mode == "min" ? Goal::lowest : Goal::highest;
  else
    diagnostics.error(fields.position("mode"), "'mode' is min or max", *mode, did_you_mean(*mode, modes()));
  return metric;
}

schema::Key metric_key(std::string_view about) {
  return {"metric", about, schema::text()};
}

schema::Key mode_key() {
  return {"mode", "Whether low (min) or high (max) values are better; by the metric's name unless said.",
          schema::one_of(modes())};
}

}  // namespace godwit::experiment
