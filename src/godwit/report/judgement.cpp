#include "godwit/report/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "godwit/base/clock.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/report/comparison.h"
#include "godwit/report/format.h"

namespace godwit::report {
namespace {

bool same(const Declaration& a, const Declaration& b) {
  return a.metric == b.metric && a.goal == b.goal && a.margin.margin == b.margin.margin &&
         a.margin.alpha == b.margin.alpha;
}

std::vector<double> values_of(const Comparison& comparison, bool baseline, std::size_t metric) {
  std::vector<double> values;
  for (std::size_t run = 0; run < comparison.experiment.runs.size(); ++run)
    if (comparison.experiment.runs[run].baseline == baseline)
      if (const auto value = usable(comparison, run, metric)) values.push_back(*value);
  return values;
}

std::string nearest_metric(const Comparison& comparison, const std::string& wanted) {
  std::vector<std::string> names;
  for (const Metric& metric : comparison.metrics) names.push_back(metric.name);
  const std::string hint = did_you_mean(wanted, names);
  return hint.empty() ? "" : "; " + hint;
}

Judged judge_by(const Comparison& comparison, const Declaration& declared) {
  Judged judged{declared, std::nullopt, std::nullopt, {}};
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i)
    if (comparison.metrics[i].name == declared.metric) judged.metric = i;
  if (declared.metric.empty()) {
    judged.reason = "nothing is declared";
  } else if (!judged.metric) {
    judged.reason = comparison.metrics.empty() ? "no job has reported a metric"
                                               : fmt::format("no run has reported '{}'{}", printable(declared.metric),
                                                             nearest_metric(comparison, declared.metric));
  } else if (!comparison.has_baseline) {
    judged.reason = "there is no baseline run";
  } else {
    const PairedMetric& paired = comparison.paired[*judged.metric];
    std::vector<double> differences;
    for (const Pair& pair : paired.pairs) differences.push_back(pair.difference);
    judged.test = test_pairs(differences, declared.margin);
    if (!judged.test)
      judged.test = test_groups(values_of(comparison, false, *judged.metric),
                                values_of(comparison, true, *judged.metric), declared.margin);
    if (!judged.test) judged.reason = "there are not two pairs, nor two runs in each group";
  }
  return judged;
}

// "0.05": numbers that people declared, as they wrote them.
std::string exact(double value) {
  return fmt::format("{}", value);
}

std::string percent(double part) {
  return part > 0.995 && part < 1 ? "more than 99 %" : fmt::format("{:.0f} %", 100 * part);
}

std::string interval_text(const Interval& interval, double spread) {
  return fmt::format("{} to {}", format_signed(interval.low, spread), format_signed(interval.high, spread));
}

std::string p_text(double p) {
  return p < 0.0001 ? "p < 0.0001" : fmt::format("p = {:.2g}", p);
}

std::string level(double error) {
  return fmt::format("{:.4g} %", 100 * (1 - error));
}

std::string samples(const Equivalence& test) {
  if (test.paired) return format_count(test.migrated, "pair");
  return fmt::format("{} and {} runs without pairs", test.migrated, test.baseline);
}

std::string direction(const Comparison& comparison, const Judged& judged) {
  const Goal goal = judged.declared.goal.value_or(comparison.metrics[*judged.metric].goal);
  const bool lower = judged.test->difference < 0;
  return (goal == Goal::lowest) == lower ? "better" : "worse";
}

std::string verdict_sentence(const Comparison& comparison, const Judged& judged) {
  if (!judged.test) return fmt::format("No verdict: {}.", judged.reason);
  const Equivalence& test = *judged.test;
  const double spread = test.standard_error;
  const auto& [margin, alpha] = test.margin;
  const std::string what = fmt::format("migrated − baseline of the last {} is {} ({}", judged.declared.metric,
                                       format_signed(test.difference, spread), samples(test));
  const std::string narrow = fmt::format("{} interval {}", level(2 * alpha), interval_text(test.interval, spread));
  const std::string wide = fmt::format("{} interval {}", level(alpha), interval_text(test.wide_interval, spread));
  switch (test.verdict) {
    case Verdict::equivalent:
      return fmt::format("Equivalent: {}, {}), within the margin ±{} ({}).", what, narrow, exact(margin),
                         p_text(test.p_equivalence()));
    case Verdict::different:
      return fmt::format("Different: {}, {}); migrated runs are {}{}.", what, wide, direction(comparison, judged),
                         test.beyond_margin
                             ? fmt::format(", by more than the margin ±{}", exact(margin))
                             : fmt::format("; whether by more than the margin ±{} is open", exact(margin)));
    case Verdict::inconclusive:
      break;
  }
  return fmt::format("Inconclusive: {}, {}), not within the margin ±{}; the {} holds zero.", what, narrow,
                     exact(margin), wide);
}

std::string power_sentence(const Equivalence& test) {
  std::string text =
      fmt::format("The smallest margin that these runs prove is {}.", format_number(test.smallest_margin));
  const std::string unit = test.paired ? "pairs" : "runs in each group";
  text +=
      fmt::format(" Were there no difference, {} with this spread would be found equivalent with a probability of {}",
                  samples(test), percent(test.power));
  if (!test.needed)
    return text + fmt::format("; for {} more than a million {} are needed.", percent(kPowerWanted), unit);
  return text + fmt::format("; for {}, {} {} are needed.", percent(kPowerWanted), *test.needed, unit);
}

std::string when(const Declaration& declared) {
  if (declared.time == 0) return "in the experiment's file now";
  return fmt::format("on {}", iso_time(declared.time));
}

std::string reported(const Declaration& declared) {
  return declared.lines_before == 0
             ? "before any result"
             : fmt::format("after {} had been reported",
                           format_count(declared.lines_before, "line of metrics", "lines of metrics"));
}

std::string declaration_text(const Declaration& declared) {
  if (declared.metric.empty()) return "nothing any more";
  return fmt::format(
      "{} with the margin ±{}{}", declared.metric, exact(declared.margin.margin),
      declared.margin.alpha == Margin{}.alpha ? "" : fmt::format(", alpha {}", exact(declared.margin.alpha)));
}

std::string change_sentence(const Judged& change) {
  const std::string text = fmt::format("Changed after the fact: {} {} ({}).", declaration_text(change.declared),
                                       when(change.declared), reported(change.declared));
  if (change.declared.metric.empty()) return text + " What was declared first stands.";
  return text +
         fmt::format(" By it the verdict would be {}; what was declared first stands.",
                     change.test ? std::string(to_string(change.test->verdict)) : "none, since " + change.reason);
}

}  // namespace

std::optional<Judgement> judge(const Comparison& comparison) {
  const std::vector<Declaration>& all = comparison.experiment.declarations;
  if (all.empty()) return std::nullopt;
  const auto before = [](const Declaration& declared) { return declared.time != 0 && declared.lines_before == 0; };
  const auto standing = std::find_if(all.rbegin(), all.rend(), before);
  Judgement judgement;
  judgement.beforehand = standing != all.rend() && !standing->metric.empty();
  const auto since = standing == all.rend() ? all.begin() : standing.base() - 1;
  const auto place =
      std::find_if(since, all.end(), [](const Declaration& declared) { return !declared.metric.empty(); });
  if (place == all.end()) return std::nullopt;
  judgement.verdict = judge_by(comparison, *place);
  for (auto later = place + 1; later != all.end(); ++later)
    if (!same(*later, *(later - 1))) judgement.changes.push_back(judge_by(comparison, *later));
  judgement.interim = comparison.finished() < comparison.experiment.runs.size();
  return judgement;
}

std::vector<std::string> verdict_sentences(const Comparison& comparison) {
  if (!comparison.has_baseline || !comparison.has_metrics()) return {};
  if (!comparison.judgement)
    return {
        "No verdict: the experiment declares no margin ('compare: {metric: …, margin: …}'). One that is chosen when "
        "the results are known proves nothing."};
  const Judgement& judgement = *comparison.judgement;
  std::vector<std::string> sentences = {verdict_sentence(comparison, judgement.verdict)};
  if (judgement.verdict.test) sentences.push_back(power_sentence(*judgement.verdict.test));
  const Declaration& declared = judgement.verdict.declared;
  sentences.push_back(fmt::format("Declared {} {}{}", when(declared), reported(declared),
                                  judgement.beforehand ? "." : ": not beforehand, so it shows nothing by itself."));
  for (const Judged& change : judgement.changes) sentences.push_back(change_sentence(change));
  if (judgement.interim)
    sentences.emplace_back(
        "Interim: not all runs are finished. To look often and stop when it suits makes wrong "
        "verdicts likelier.");
  return sentences;
}

}  // namespace godwit::report
