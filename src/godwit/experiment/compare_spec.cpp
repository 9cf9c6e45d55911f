#include "godwit/experiment/compare_spec.h"

#include <cmath>
#include <utility>

#include "godwit/base/bookkeeping.h"
#include "godwit/base/text.h"
#include "godwit/experiment/keys.h"
#include "godwit/experiment/metric_choice.h"

namespace godwit::experiment {
namespace {

class Reader {
 public:
  Reader(const yaml::Node& node, Diagnostics& diagnostics)
      : node_(node), fields_(node, diagnostics, "'compare'"), diagnostics_(diagnostics) {
    spec_.position = node.position;
  }

  std::optional<CompareSpec> read() {
    if (!node_.is_mapping()) return std::nullopt;
    const std::size_t before = diagnostics_.all().size();
    read_metric();
    read_better();
    read_margin();
    read_alpha();
    schema::declare(compare_keys(), fields_);
    fields_.finish();
    return diagnostics_.all().size() == before ? std::optional(spec_) : std::nullopt;
  }

 private:
  void error(std::string_view key, std::string message, std::string text, std::string hint) {
    diagnostics_.error(fields_.position(key), std::move(message), std::move(text), std::move(hint));
  }

  void read_metric() {
    spec_.metric_position = fields_.position("metric");
    if (!fields_.has("metric"))
      return error("metric", "'compare' needs 'metric'", {}, "the one that decides, such as 'metric: val_loss'");
    spec_.metric = read_metric_name(fields_, diagnostics_);
  }

  void read_better() {
    static const std::vector<std::string> words{"low", "high"};
    if (!fields_.has("better")) return;
    spec_.better = fields_.text("better").value_or("");
    if (spec_.better != "low" && spec_.better != "high")
      error("better", "'better' is low or high", spec_.better, did_you_mean(spec_.better, words));
  }

  void read_margin() {
    if (!fields_.has("margin"))
      return error("margin", "'compare' needs 'margin'", {},
                   "the largest difference of the metric that would not matter, such as 'margin: 0.02'");
    const yaml::Node* node = fields_.get("margin");
    if (node != nullptr && node->is_scalar() && trim(node->text).ends_with('%'))
      return error("margin", "'margin' is a number in the metric's own unit, not a percentage", node->text,
                   "a part of what is not known yet is no margin: write the difference, such as 0.02");
    spec_.margin = positive("margin").value_or(1);
  }

  void read_alpha() {
    if (!fields_.has("alpha")) return;
    const auto alpha = positive("alpha");
    if (!alpha) return;
    spec_.alpha = *alpha;
    if (spec_.alpha >= 0.5)
      error("alpha", "'alpha' is a probability of error below 0.5", fields_.get("alpha")->text,
            spec_.alpha == 95 || spec_.alpha == 0.95 ? "for a confidence of 95 % write 0.05" : "0.05 unless said");
  }

  std::optional<double> positive(std::string_view key) {
    const auto value = fields_.number(key);
    if (!value) return std::nullopt;
    if (std::isfinite(*value) && *value > 0) return value;
    error(key, "'" + std::string(key) + "' must be above 0", fields_.get(key)->text,
          key == "margin" ? "no finite number of runs shows that two groups are exactly equal" : "");
    return std::nullopt;
  }

  const yaml::Node& node_;
  yaml::Fields fields_;
  Diagnostics& diagnostics_;
  CompareSpec spec_;
};

}  // namespace

std::optional<CompareSpec> read_compare(const yaml::Node& node, Diagnostics& diagnostics) {
  return Reader(node, diagnostics).read();
}

Json declaration_json(const std::optional<CompareSpec>& compare) {
  Json json = Json::object();
  if (!compare) return json;
  json["metric"] = compare->metric;
  if (!compare->better.empty()) json["better"] = compare->better;
  json["margin"] = compare->margin;
  json["alpha"] = compare->alpha;
  return json;
}

std::optional<CompareSpec> load_compare(const std::string& path) {
  const yaml::Node root = yaml::load(path);
  const yaml::Node* node = root.is_mapping() ? root.find("compare") : nullptr;
  if (node == nullptr || node->is_null()) return std::nullopt;
  Diagnostics diagnostics;
  auto compare = read_compare(*node, diagnostics);
  diagnostics.throw_if_errors();
  return compare;
}

}  // namespace godwit::experiment
