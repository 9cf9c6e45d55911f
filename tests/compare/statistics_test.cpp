// The statistics of `godwit compare` against published worked examples and against SciPy's and R's results, which
// tests/data/statistics keeps together with the programs that print them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "godwit/base/file.h"
#include "godwit/base/json.h"
#include "godwit/report/distributions.h"
#include "godwit/report/equivalence.h"
#include "godwit/report/variance.h"

namespace {

using namespace godwit;
using namespace godwit::report;

Json read(const std::string& name) {
  const char* source = std::getenv("GODWIT_SOURCE");
  return Json::parse(read_file(std::string(source == nullptr ? "../.." : source) + "/tests/data/statistics/" + name));
}

doctest::Approx near(double value, double relative = 1e-9) {
  return doctest::Approx(value).epsilon(relative).scale(0);
}

void check(const std::optional<Equivalence>& test, const Json& expected) {
  REQUIRE(test);
  CHECK(test->difference == near(expected["difference"]));
  CHECK(test->standard_error == near(expected["standard_error"]));
  CHECK(test->df == near(expected["df"]));
  CHECK(test->p_lower == near(expected["p_lower"]));
  CHECK(test->p_upper == near(expected["p_upper"]));
  CHECK(test->p_difference == near(expected["p_difference"]));
  CHECK(test->interval.low == near(expected["interval_90"][0]));
  CHECK(test->interval.high == near(expected["interval_90"][1]));
}

TEST_CASE("two one-sided tests, paired and Welch's, are SciPy's") {
  const Json samples = read("samples.json");
  const Json expected = read("scipy.json");
  for (const auto& [name, sample] : samples.items()) {
    CAPTURE(name);
    const auto migrated = sample["migrated"].get<std::vector<double>>();
    const auto baseline = sample["baseline"].get<std::vector<double>>();
    const Margin margin{sample["margin"], 0.05};
    check(test_groups(migrated, baseline, margin), expected["welch"][name]);
    if (!expected["paired"].contains(name)) continue;
    std::vector<double> differences;
    for (std::size_t i = 0; i < migrated.size(); ++i) differences.push_back(migrated[i] - baseline[i]);
    check(test_pairs(differences, margin), expected["paired"][name]);
  }
}

TEST_CASE("the power is SciPy's quadrature, Student's t is SciPy's") {
  const Json expected = read("scipy.json");
  for (const Json& row : expected["power"]) {
    CAPTURE(row.dump());
    const double power = tost_power({row["difference"], row["standard_error"], row["df"], row["margin"], row["alpha"]});
    CHECK(std::fabs(power - row["power"].get<double>()) < 1e-8);
  }
  for (const Json& row : expected["student_t"]) {
    CAPTURE(row.dump());
    CHECK(student_t_quantile(row["p"], row["df"]) == near(row["t"], 1e-8));
  }
}

TEST_CASE("a published equivalence test: the bioequivalence of two drugs") {
  // Wellek, Testing Statistical Hypotheses of Equivalence (2003), p. 212, as worked in the SAS/STAT User's Guide, PROC
  // TTEST, "Equivalence Testing with Lognormal Data": ratio of geometric means 0.9412, 90 % limits 0.8634 and 1.0260.
  const double pairs[][2] = {{103.4, 90.11}, {59.92, 77.71}, {68.17, 77.71}, {94.54, 97.51},
                             {69.48, 58.21}, {72.17, 101.3}, {74.37, 79.84}, {84.44, 96.06},
                             {96.74, 89.30}, {94.26, 97.22}, {48.52, 61.62}, {95.68, 85.80}};
  std::vector<double> differences;
  for (const auto& [test, reference] : pairs) differences.push_back(std::log(test / reference));
  const auto found = test_pairs(differences, {std::log(1.25), 0.05});
  REQUIRE(found);
  CHECK(std::fabs(std::exp(found->difference) - 0.9412) < 5.1e-5);
  CHECK(std::fabs(std::exp(found->interval.low) - 0.8634) < 5.1e-5);
  CHECK(std::fabs(std::exp(found->interval.high) - 1.0260) < 5.1e-5);
  CHECK(found->verdict == Verdict::equivalent);
  CHECK(found->smallest_margin == near(-found->interval.low));
}

TEST_CASE("a published paired comparison: blood pressure") {
  // SAS/STAT User's Guide, PROC TTEST, "Paired Comparisons": mean -1.8333, standard error 1.6825, t -1.09, p 0.2992.
  const Json sample = read("samples.json")["blood_pressure"];
  std::vector<double> differences;
  for (std::size_t i = 0; i < sample["migrated"].size(); ++i)
    differences.push_back(sample["migrated"][i].get<double>() - sample["baseline"][i].get<double>());
  const auto found = test_pairs(differences, {2, 0.05});
  REQUIRE(found);
  CHECK(std::fabs(found->difference + 1.8333) < 5.1e-5);
  CHECK(std::fabs(found->standard_error - 1.6825) < 5.1e-5);
  CHECK(std::fabs(found->p_difference - 0.2992) < 5.1e-5);
  CHECK(found->verdict == Verdict::inconclusive);
}

TEST_CASE("variance components are those published of the Dyestuff and Penicillin data") {
  // Bates, lme4: Mixed-effects modeling with R (2010), chapters 1 and 2; lme4.json has more digits of them.
  const Json expected = read("lme4.json");
  for (const char* name : {"dyestuff", "dyestuff2"}) {
    CAPTURE(name);
    const Json& data = expected[name];
    std::vector<Observation> batches;
    for (std::size_t i = 0; i < data["yield"].size(); ++i)
      batches.push_back({data["yield"][i], 0, data["batch"][i], {}});
    const auto found = estimate_seed_component(batches);
    REQUIRE(found);
    const Json& variances = data["result"]["variances"];
    CHECK(std::fabs(found->seed - variances["Batch"].get<double>()) < 1e-6 * found->total());
    CHECK(found->rest == near(variances["Residual"], 1e-6));
    CHECK(found->criterion == near(data["result"]["criterion"], 1e-9));
  }
  const Json& data = expected["penicillin"];
  std::vector<Observation> plates;
  for (std::size_t i = 0; i < data["diameter"].size(); ++i) {
    std::vector<double> shares(6);
    shares[data["sample"][i].get<std::size_t>() - 1] = 1;
    plates.push_back({data["diameter"][i], 0, data["plate"][i], shares});
  }
  const auto found = estimate_components(plates);
  REQUIRE(found);
  CHECK(std::fabs(std::sqrt(found->seed) - 0.84671) < 5.1e-5);
  CHECK(std::fabs(std::sqrt(found->site) - 1.93157) < 2.1e-5);
  CHECK(std::fabs(std::sqrt(found->rest) - 0.54992) < 5.1e-5);
  CHECK(found->criterion == near(data["result"]["criterion"], 1e-9));
}

TEST_CASE("variance components of runs that belong to several sites are lme4's") {
  const Json data = read("components.json");
  const Json expected = read("lme4.json")["multiple"]["result"];
  std::vector<Observation> runs;
  for (std::size_t i = 0; i < data["value"].size(); ++i)
    runs.push_back({data["value"][i], data["cell"][i], data["seed"][i], data["shares"][i].get<std::vector<double>>()});
  const auto found = estimate_components(runs);
  REQUIRE(found);
  CHECK(found->seed == near(expected["variances"]["seed"], 1e-4));
  CHECK(found->site == near(expected["variances"]["site"], 1e-4));
  CHECK(found->rest == near(expected["variances"]["Residual"], 1e-4));
  CHECK(found->criterion == near(expected["criterion"], 1e-9));
}

TEST_CASE("runs of a seed that are equal to the bit have no rest") {
  const std::vector<Observation> runs = {{1, 0, 0, {1, 0}},     {1, 0, 0, {0.5, 0.5}}, {2, 0, 1, {1, 0}},
                                         {2, 0, 1, {0.5, 0.5}}, {4, 0, 2, {1, 0}},     {4, 0, 2, {0.5, 0.5}}};
  const auto found = estimate_components(runs);
  REQUIRE(found);
  CHECK(found->rest == 0);
  CHECK(found->site == 0);
  CHECK(found->seed == near(7.0 / 3, 1e-5));  // the variance of 1, 2, 4
}

TEST_CASE("parts that cannot be told apart are not made up") {
  const std::vector<Observation> alone = {{1, 0, 0, {1, 0}}, {2, 0, 1, {0, 1}}, {3, 0, 2, {1, 0}}, {2, 0, 3, {0, 1}}};
  CHECK_FALSE(estimate_components(alone));  // no seed twice
  std::vector<Observation> one_site = {{1, 0, 0, {1, 0}}, {2, 0, 0, {1, 0}}, {3, 0, 1, {1, 0}}, {2, 0, 1, {1, 0}}};
  CHECK_FALSE(estimate_components(one_site));
  CHECK(estimate_seed_component(one_site));
  for (Observation& o : one_site) o.value = 4;
  CHECK_FALSE(estimate_seed_component(one_site));
  CHECK_FALSE(estimate_components({}));
}

}  // namespace
