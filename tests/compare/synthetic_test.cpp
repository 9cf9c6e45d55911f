// test-timeout: 600
// A thousand experiments with known truth, each through all of `godwit compare`: "equivalent" is wrong no more often
// than was declared, and right as often as was claimed.
//
// A proportion p of 1,000 scatters by √(p (1 - p)/1000). A count passes where it is within three of these of what
// theory says (a false alarm in 370 counts, but the draws are always the same).
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include "godwit/report/comparison.h"
#include "godwit/report/distributions.h"
#include "godwit/report/fixture.h"

namespace {

using namespace godwit::report;

constexpr int kExperiments = 1000;

double three_sigma(double p) {
  return 3 * std::sqrt(p * (1 - p) / kExperiments);
}

struct Truth {
  std::uint32_t pairs = 8;
  double difference = 0;                          // migrated - baseline
  double seed_sd = 0.2;                           // shared by the runs of a pair
  double migrated_sd = 0.02, baseline_sd = 0.02;  // of each run by itself
  double margin = 0.03;
  bool paired = true;
  bool heavy_tails = false;  // Student's t with 5 degrees of freedom, scaled to the same variance
};

class Draws {
 public:
  Draws(unsigned seed, bool heavy_tails) : generator_(seed), heavy_tails_(heavy_tails) {}
  double operator()(double sd) {
    return heavy_tails_ ? sd * student_(generator_) * std::sqrt(3.0 / 5) : sd * normal_(generator_);
  }
  double normal(double sd) { return sd * normal_(generator_); }

 private:
  std::mt19937 generator_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> student_{5};
  bool heavy_tails_;
};

// Three epochs a run; the last loss is what the truth says, every run whole by its records.
Experiment draw(const Truth& truth, unsigned seed) {
  Draws draws(seed, truth.heavy_tails);
  Experiment experiment;
  experiment.declarations = {{"val_loss", std::nullopt, {truth.margin, 0.05}, 1, 0}};
  for (std::uint32_t p = 0; p < truth.pairs; ++p) {
    const double luck = draws.normal(truth.seed_sd);
    for (const bool baseline : {false, true}) {
      const double loss =
          2 + luck + draws(baseline ? truth.baseline_sd : truth.migrated_sd) + (baseline ? 0 : truth.difference);
      const auto number = static_cast<std::uint32_t>(experiment.runs.size());
      Run run = fixture::make_run({number,
                                   baseline,
                                   truth.paired ? "p" + std::to_string(p) : "",
                                   p,
                                   {},
                                   {loss + 2, loss + 1, loss},
                                   {"a", baseline ? "a" : "b"}});
      for (int epoch = 1; epoch <= 3; ++epoch)
        run.records.push_back({epoch, epoch == 1 ? "" : std::to_string(number) + "/" + std::to_string(epoch - 1),
                               std::to_string(number) + "/" + std::to_string(epoch), "", ""});
      experiment.runs.push_back(std::move(run));
    }
  }
  return experiment;
}

struct Shares {
  double equivalent = 0, different = 0;
};

Shares judge_many(const Truth& truth, unsigned first_seed) {
  Shares shares;
  for (unsigned i = 0; i < kExperiments; ++i) {
    const Comparison result = compare(draw(truth, first_seed + i));
    REQUIRE(result.judgement);
    REQUIRE(result.judgement->verdict.test);
    REQUIRE(result.judgement->verdict.test->paired == truth.paired);
    const Verdict verdict = result.judgement->verdict.test->verdict;
    shares.equivalent += (verdict == Verdict::equivalent ? 1.0 : 0.0) / kExperiments;
    shares.different += (verdict == Verdict::different ? 1.0 : 0.0) / kExperiments;
  }
  MESSAGE("equivalent ", 100 * shares.equivalent, " %, different ", 100 * shares.different, " %");
  return shares;
}

TEST_CASE("a difference of just the margin is called equivalent in 5 % of experiments at most") {
  Truth truth;
  SUBCASE("paired, worse") {
    truth.difference = truth.margin;
  }
  SUBCASE("paired, better") {
    truth.difference = -truth.margin;
  }
  SUBCASE("paired, three pairs") {
    truth.difference = truth.margin;
    truth.pairs = 3;
  }
  SUBCASE("paired, heavy tails") {
    truth.difference = truth.margin;
    truth.heavy_tails = true;
  }
  SUBCASE("groups, equal spreads") {
    truth.difference = truth.margin;
    truth.paired = false;
    truth.seed_sd = 0;
  }
  SUBCASE("groups, spreads of one to five") {
    truth.difference = -truth.margin;
    truth.paired = false;
    truth.seed_sd = 0;
    truth.migrated_sd = 0.05;
    truth.baseline_sd = 0.01;
  }
  CHECK(judge_many(truth, 1).equivalent <= 0.05 + three_sigma(0.05));
}

TEST_CASE("a difference beyond the margin is hardly ever called equivalent") {
  Truth truth;
  truth.difference = 1.5 * truth.margin;
  const Shares shares = judge_many(truth, 20'001);
  CHECK(shares.equivalent <= 0.01);
  CHECK(shares.different > 0.9);
}

TEST_CASE("where there is no difference, one is found in 5 % of experiments at most") {
  Truth truth;
  truth.margin = 0.001;  // nothing is equivalent
  CHECK(judge_many(truth, 40'001).different <= 0.05 + three_sigma(0.05));
}

TEST_CASE("equivalence is found as often as the power says") {
  Truth truth;
  double error = 0;
  double df = 0;
  SUBCASE("eight pairs, no difference") {}
  SUBCASE("twenty pairs, no difference") {
    truth.pairs = 20;
  }
  SUBCASE("twelve pairs, half the margin") {
    truth.pairs = 12;
    truth.difference = truth.margin / 2;
  }
  SUBCASE("ten and ten runs") {
    truth.pairs = 10;
    truth.paired = false;
    truth.seed_sd = 0;
  }
  error = std::hypot(truth.migrated_sd, truth.baseline_sd) / std::sqrt(static_cast<double>(truth.pairs));
  df = truth.paired ? truth.pairs - 1.0 : 2.0 * truth.pairs - 2;
  const double claimed = tost_power({truth.difference, error, df, truth.margin, 0.05});
  const double found = judge_many(truth, 60'001).equivalent;
  MESSAGE("claimed ", 100 * claimed, " %");
  CHECK(std::fabs(found - claimed) <= three_sigma(claimed));
}

TEST_CASE("the number of pairs that is said to be needed reaches 80 %") {
  // A pilot whose differences have a standard deviation of exactly 0.03.
  const double unit = 0.03 / std::sqrt(2.0);
  const auto pilot = test_pairs(std::vector<double>{unit, -unit}, {0.025, 0.05});
  REQUIRE(pilot);
  REQUIRE(pilot->needed);
  Truth truth;
  truth.pairs = static_cast<std::uint32_t>(*pilot->needed);
  truth.margin = 0.025;
  truth.migrated_sd = truth.baseline_sd = 0.03 / std::sqrt(2.0);
  CHECK(judge_many(truth, 80'001).equivalent >= 0.8 - three_sigma(0.8));
  truth.pairs -= 2;
  CHECK(judge_many(truth, 90'001).equivalent <= 0.8 + three_sigma(0.8));
}

}  // namespace
