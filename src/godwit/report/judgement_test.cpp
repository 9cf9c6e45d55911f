#include "godwit/report/judgement.h"

#include <doctest/doctest.h>

#include "godwit/base/error.h"
#include "godwit/base/text.h"
#include "godwit/report/comparison.h"
#include "godwit/report/document.h"
#include "godwit/report/fixture.h"
#include "godwit/report/page.h"

namespace godwit::report {
namespace {

// Pairs whose last losses differ by these.
Experiment with_differences(const std::vector<double>& differences) {
  Experiment experiment;
  for (const bool baseline : {false, true})
    for (std::uint32_t p = 0; p < differences.size(); ++p)
      experiment.runs.push_back(fixture::make_run({static_cast<std::uint32_t>(experiment.runs.size()),
                                                   baseline,
                                                   "p" + std::to_string(p),
                                                   p,
                                                   {},
                                                   {2, 1 + 0.1 * p + (baseline ? 0 : differences[p])},
                                                   {"x"}}));
  return experiment;
}

Declaration declared(double margin, std::int64_t time = 1, std::size_t lines_before = 0) {
  return {"val_loss", std::nullopt, {margin, 0.05}, time, lines_before};
}

std::string said(const Experiment& experiment) {
  const auto sentences = verdict_sentences(compare(experiment));
  return join(sentences, "\n");
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::vector<double> kSmall = {0.01, -0.012, 0.004, -0.003, 0.002};

TEST_CASE("the three verdicts") {
  struct Case {
    std::vector<double> differences;
    double margin;
    Verdict verdict;
    const char* said;
  };
  for (const Case& c : {
           Case{kSmall, 0.02, Verdict::equivalent,
                "Equivalent: migrated − baseline of the last val_loss is +0.0002 (5 pairs, 90 % interval"},
           Case{kSmall, 0.005, Verdict::inconclusive, "not within the margin ±0.005; the 95 % interval"},
           Case{{0.3, 0.31, 0.29, 0.3},
                0.02,
                Verdict::different,
                "migrated runs are worse, by more than the margin ±0.02"},
           Case{{-0.3, -0.31, -0.29, -0.3},
                0.3,
                Verdict::different,
                "migrated runs are better; whether by more than the margin ±0.3 is open"},
           Case{{0.01, 0.011, 0.009, 0.01},
                0.02,
                Verdict::equivalent,
                "Equivalent"},                                        // different, but by less than matters
           Case{{0, 0, 0}, 0.02, Verdict::equivalent, "Equivalent"},  // to the bit
           Case{{0.1, 0.1, 0.1}, 0.02, Verdict::different, "by more than the margin"},
       }) {
    CAPTURE(c.said);
    Experiment experiment = with_differences(c.differences);
    experiment.declarations = {declared(c.margin)};
    const Comparison result = compare(experiment);
    REQUIRE(result.judgement);
    REQUIRE(result.judgement->verdict.test);
    CHECK(result.judgement->verdict.test->paired);
    CHECK(result.judgement->verdict.test->verdict == c.verdict);
    CHECK(contains(said(experiment), c.said));
    CHECK(contains(said(experiment), "before any result."));
  }
}

TEST_CASE("without pairs the groups are compared by Welch's test") {
  Experiment experiment = with_differences(kSmall);
  for (Run& run : experiment.runs) run.pair = "alone" + std::to_string(run.number);
  experiment.declarations = {declared(0.5)};
  const Comparison result = compare(experiment);
  REQUIRE(result.judgement->verdict.test);
  CHECK_FALSE(result.judgement->verdict.test->paired);
  CHECK(contains(said(experiment), "5 and 5 runs without pairs"));
  CHECK(contains(said(experiment), "runs in each group are needed"));
}

TEST_CASE("no verdict without a declaration, a metric or enough runs") {
  Experiment experiment = with_differences(kSmall);
  CHECK_FALSE(compare(experiment).judgement);
  CHECK(contains(said(experiment), "No verdict: the experiment declares no margin"));
  experiment.declarations = {declared(0.02)};
  experiment.declarations[0].metric = "val_los";
  CHECK(contains(said(experiment), "no run has reported 'val_los'; did you mean 'val_loss'?"));
  Experiment one = with_differences({0.1});
  one.declarations = {declared(0.02)};
  CHECK(contains(said(one), "No verdict: there are not two pairs"));
}

TEST_CASE("a margin changed after the fact is shown and not followed") {
  Experiment experiment = with_differences(kSmall);
  experiment.declarations = {declared(0.001, 1), declared(0.005, 2), declared(0.02, 1'700'000'000'000'000, 12),
                             declared(0.05, 0, 20)};
  const Comparison result = compare(experiment);
  CHECK(result.judgement->beforehand);
  CHECK(result.judgement->verdict.declared.margin.margin == 0.005);  // the last word before there was a result
  CHECK(result.judgement->verdict.test->verdict == Verdict::inconclusive);
  CHECK(result.judgement->changes.size() == 2);
  CHECK(contains(said(experiment),
                 "Changed after the fact: val_loss with the margin ±0.02 on 2023-11-14T22:13:20.000Z "
                 "(after 12 lines of metrics had been reported). By it the verdict would be "
                 "equivalent; what was declared first stands."));
  CHECK(contains(said(experiment), "±0.05 in the experiment's file now"));
}

TEST_CASE("a margin that came after the first result is not declared beforehand") {
  Experiment experiment = with_differences(kSmall);
  experiment.declarations = {declared(0.02, 5, 3)};
  CHECK_FALSE(compare(experiment).judgement->beforehand);
  CHECK(contains(said(experiment), "not beforehand"));
  experiment.declarations = {declared(0.02, 1), Declaration{{}, {}, {}, 2, 0},
                             declared(0.1, 3, 7)};  // taken back in time
  CHECK_FALSE(compare(experiment).judgement->beforehand);
  CHECK(compare(experiment).judgement->verdict.declared.margin.margin == 0.1);
}

TEST_CASE("a verdict before the end says so") {
  Experiment experiment = with_differences(kSmall);
  experiment.declarations = {declared(0.02)};
  CHECK_FALSE(contains(said(experiment), "Interim"));
  experiment.runs[0].state = State::running;
  CHECK(contains(said(experiment), "Interim: not all runs are finished."));
}

TEST_CASE("the declared metric is the primary one, and its declared direction holds") {
  Experiment experiment = with_differences(kSmall);
  for (Run& run : experiment.runs) run.series.push_back({"score", false, {{2, 0.5}}});
  experiment.declarations = {{"score", Goal::lowest, {0.1, 0.05}, 1, 0}};
  const Comparison result = compare(experiment);
  CHECK(result.metrics[result.primary].name == "score");
  CHECK(result.metrics[result.primary].goal == Goal::lowest);
  Options options;
  options.goal = Goal::highest;
  CHECK_THROWS_AS(compare(experiment, options), InputError);
}

TEST_CASE("the verdict in JSON and on the page") {
  Experiment experiment = with_differences(kSmall);
  experiment.declarations = {declared(0.02), declared(0.005, 2'000'000, 7)};
  const Comparison result = compare(experiment);
  const Json verdict = to_json(result)["verdict"];
  CHECK(verdict["verdict"] == "equivalent");
  CHECK(verdict["declared_beforehand"] == true);
  CHECK(verdict["test"]["test"] == "paired");
  CHECK(verdict["test"]["needed"].is_number_unsigned());
  CHECK(verdict["changed_afterwards"][0]["verdict"] == "inconclusive");
  CHECK(verdict["changed_afterwards"][0]["declared"]["lines_before"] == 7);
  CHECK(contains(html_page(result), "<p class=\"first\">Equivalent: "));
  CHECK(contains(html_page(result), "declared margin +0.02"));
  CHECK(to_json(compare(with_differences(kSmall)))["verdict"].is_null());
}

TEST_CASE("the number of pairs needed is the least that reaches the power") {
  const auto test = test_pairs(std::vector<double>{0.1, -0.1, 0.05, -0.05, 0.02}, {0.05, 0.05});
  REQUIRE(test);
  REQUIRE(test->needed);
  const double sd = summarize(std::vector<double>{0.1, -0.1, 0.05, -0.05, 0.02}).sd;
  // With so many pairs the power is there, with one fewer it is not; about (z0.95 + z0.9)² sd²/margin² (Chow and Liu).
  CHECK(static_cast<double>(*test->needed) == doctest::Approx(8.564 * sd * sd / 0.0025).epsilon(0.12));
  CHECK(test->power < 0.8);
  CHECK_FALSE(test_pairs(std::vector<double>{1, -1}, {1e-9, 0.05})->needed);  // more than a million
}

}  // namespace
}  // namespace godwit::report
