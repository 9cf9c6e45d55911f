#include "godwit/report/moves.h"

#include <doctest/doctest.h>

#include <cmath>

#include "godwit/report/comparison.h"
#include "godwit/report/fixture.h"

namespace godwit::report {
namespace {

TEST_CASE("epochs of migrated runs within the baseline's band, by hand") {
  // Baseline at each epoch 1, 2, 3: mean 2, sd 1, 2 degrees of freedom; half width 4.3027 √(4/3) = 4.9683.
  Experiment experiment;
  for (std::uint32_t run = 0; run < 3; ++run)
    experiment.runs.push_back(fixture::make_run({run, true, "p", run, {}, {1.0 + run, 1.0 + run}, {"x"}}));
  experiment.runs.push_back(fixture::make_run({3, false, "q", 9, {}, {2 + 4.96, 2 + 4.97}, {"x"}}));
  const Comparison result = compare(experiment);
  REQUIRE(result.moves->bands);
  const Bands& bands = *result.moves->bands;
  CHECK(bands.values == 2);
  CHECK(bands.inside == 1);
  CHECK(bands.outside.empty());
  REQUIRE(bands.cells.size() == 1);
  CHECK(bands.cells[0].points[0].high == doctest::Approx(2 + 4.302652729911275 * std::sqrt(4.0 / 3)).epsilon(1e-9));
  experiment.runs[3].series[0].points[1].value = 50;
  const Comparison far = compare(experiment);
  REQUIRE(far.moves->bands->outside.size() == 1);
  CHECK(far.moves->bands->outside[0].run == 3);
  CHECK(far.moves->bands->outside[0].epoch == 2);
}

// Pairs of six epochs in three jobs; the migrated run moves after epochs 2 and 4 and jumps by `jump` there.
Experiment jumping(double jump, std::uint32_t pairs) {
  Experiment experiment;
  for (const bool baseline : {false, true})
    for (std::uint32_t p = 0; p < pairs; ++p) {
      std::vector<double> loss;
      for (int epoch = 1; epoch <= 6; ++epoch)
        loss.push_back(3 - 0.2 * epoch +
                       0.01 * fixture::noise(p + (baseline ? 50 : 0), static_cast<std::uint64_t>(epoch)) +
                       (baseline ? 0 : jump * ((epoch > 2) + (epoch > 4))));
      const std::vector<std::string> sites = baseline ? std::vector<std::string>{"x", "x", "x"}
                                                      : std::vector<std::string>{"x", p % 2 == 0 ? "y" : "z", "x"};
      experiment.runs.push_back(fixture::make_run(
          {static_cast<std::uint32_t>(experiment.runs.size()), baseline, "p" + std::to_string(p), p, {}, loss, sites}));
    }
  return experiment;
}

TEST_CASE("a jump where the site changes is found, and none where there is none") {
  const Comparison jumps = compare(jumping(0.1, 6));
  REQUIRE(jumps.moves->jumps);
  CHECK(jumps.moves->jumps->changes == 12);
  CHECK(jumps.moves->jumps->sizes.n == 6);
  CHECK(jumps.moves->jumps->sizes.mean == doctest::Approx(0.1).epsilon(0.15));
  CHECK(jumps.moves->jumps->p < 1e-4);
  CHECK(jumps.moves->jumps->interval->low > 0);
  CHECK(compare(jumping(0, 6)).moves->jumps->p > 0.05);
  CHECK_FALSE(compare(jumping(0.1, 1)).moves->jumps);
}

TEST_CASE("the spread between runs is laid to seed, site and rest") {
  // Seeds differ by hundredths, site y adds one to a run by the share of its epochs there.
  Experiment experiment = jumping(0, 8);
  for (Run& run : experiment.runs) {
    double at_y = 0;
    for (const Job& job : run.jobs) at_y += job.site == "y" ? 1.0 / 3 : 0;
    run.series[0].points.back().value =
        1 + 0.03 * fixture::noise(run.seed, 77) + at_y + 0.001 * fixture::noise(run.number, 5);
  }
  const Comparison result = compare(experiment);
  REQUIRE(result.moves->spread);
  const auto& [parts, with_sites, seeds_hold_values] = *result.moves->spread;
  CHECK(with_sites);
  CHECK_FALSE(seeds_hold_values);
  CHECK(parts.sites == 3);
  CHECK(parts.site > 100 * parts.seed);
  CHECK(parts.seed > 10 * parts.rest);
  for (Run& run : experiment.runs)
    for (Job& job : run.jobs) job.site = "x";
  const Comparison one_site = compare(experiment);
  REQUIRE(one_site.moves->spread);
  CHECK_FALSE(one_site.moves->spread->with_sites);
}

}  // namespace
}  // namespace godwit::report
