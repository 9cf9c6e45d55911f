#include "godwit/placement/policy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "godwit/placement/shuffle.h"

namespace godwit::placement {
namespace {

using Path = std::vector<std::uint32_t>;

Path path_of(Shuffle& shuffle, std::uint32_t run, std::uint32_t jobs) {
  Path path;
  for (std::uint32_t job = 0; job < jobs; ++job) path.push_back(shuffle.site_of(run, job));
  return path;
}

std::vector<Path> paths_of(std::uint64_t seed, std::uint32_t sites, std::uint32_t runs, std::uint32_t jobs) {
  Shuffle shuffle(seed, sites);
  std::vector<Path> paths;
  for (std::uint32_t run = 0; run < runs; ++run) paths.push_back(path_of(shuffle, run, jobs));
  return paths;
}

std::uint64_t factorial(std::uint32_t n) {
  return n < 2 ? 1 : n * factorial(n - 1);
}

template <typename Key>
std::pair<std::size_t, std::size_t> extremes(const std::map<Key, std::size_t>& counts) {
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end(), by_count);
  return {least->second, most->second};
}

constexpr std::uint32_t kSiteCounts[] = {1, 2, 3, 4, 5, 6, 7, 9, 14, 25};

TEST_CASE("each run visits every site once before any repeats") {
  for (const std::uint32_t n : kSiteCounts)
    for (const Path& path : paths_of(11, n, 3 * n + 1, 4 * n))
      for (std::size_t block = 0; block < path.size(); block += n) {
        CAPTURE(n);
        const auto begin = path.begin() + static_cast<std::ptrdiff_t>(block);
        CHECK(std::set(begin, begin + n).size() == n);
      }
}

TEST_CASE("no run stays at its site where one block follows another") {
  for (const std::uint32_t n : kSiteCounts)
    for (const Path& path : paths_of(12, n, 3 * n, 5 * n))
      for (std::size_t job = 1; job < path.size(); ++job) {
        CAPTURE(n);
        CHECK((n == 1 || path[job] != path[job - 1]));
      }
}

TEST_CASE("at every position, no site has more than one run more than another, however many runs there are") {
  for (const std::uint32_t n : kSiteCounts) {
    const std::vector<Path> paths = paths_of(13, n, 4 * n, 3 * n);
    for (std::size_t position = 0; position < 3 * n; ++position) {
      std::map<std::uint32_t, std::size_t> counts;
      for (std::uint32_t site = 0; site < n; ++site) counts[site] = 0;
      for (const Path& path : paths) {
        ++counts[path[position]];
        const auto [least, most] = extremes(counts);
        CAPTURE(n);
        CHECK(most - least <= 1);
      }
    }
  }
}

TEST_CASE("within blocks, every site follows every other equally often over two groups of runs") {
  for (const std::uint32_t n : kSiteCounts) {
    if (n < 3) continue;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> follows;
    for (std::uint32_t a = 0; a < n; ++a)
      for (std::uint32_t b = 0; b < n; ++b)
        if (a != b) follows[{a, b}] = 0;
    for (const Path& path : paths_of(14, n, 2 * n, 2 * n))
      for (std::size_t job = 1; job < path.size(); ++job)
        if (job % n != 0) ++follows[{path[job - 1], path[job]}];
    CAPTURE(n);
    CHECK(extremes(follows) == std::pair<std::size_t, std::size_t>{4, 4});
  }
}

TEST_CASE("runs take different orders until all n! are used") {
  for (const std::uint32_t n : {2u, 3u, 4u, 5u, 6u, 7u}) {
    const auto all = static_cast<std::uint32_t>(factorial(n));
    const std::vector<Path> paths = paths_of(15, n, all, n);
    CAPTURE(n);
    CHECK(std::set(paths.begin(), paths.end()).size() == all);
  }
  const std::vector<Path> many = paths_of(16, 20, 20'000, 20);
  CHECK(std::set(many.begin(), many.end()).size() == many.size());
}

TEST_CASE("the seed decides, and nothing else") {
  CHECK(paths_of(1, 5, 20, 12) == paths_of(1, 5, 20, 12));
  CHECK(paths_of(1, 5, 20, 12) != paths_of(2, 5, 20, 12));

  const std::vector<Path> forwards = paths_of(3, 4, 12, 10);
  Shuffle shuffle(3, 4);
  for (std::uint32_t run = 12; run-- > 0;)
    for (std::uint32_t job = 10; job-- > 0;) CHECK(shuffle.site_of(run, job) == forwards[run][job]);
}

TEST_CASE("the first site is not always the first of the list") {
  std::set<std::uint32_t> firsts;
  for (std::uint64_t seed = 0; seed < 40; ++seed) firsts.insert(Shuffle(seed, 4).site_of(0, 0));
  CHECK(firsts.size() == 4);
}

TEST_CASE("fixed, round robin and baseline") {
  Options options;
  options.sites = {3, 5, 8};
  options.baseline_site = 9;

  SUBCASE("fixed keeps every job at its site") {
    options.rule = Rule::fixed;
    options.fixed_site = 5;
    const auto policy = make_policy(options);
    for (std::uint32_t i = 0; i < 7; ++i) CHECK(policy->choose({.run = i, .job = 2 * i}).site == 5);
  }
  SUBCASE("round robin goes on by one site per job and per run") {
    options.rule = Rule::round_robin;
    const auto policy = make_policy(options);
    CHECK(policy->choose({.run = 0, .job = 0}).site == 3);
    CHECK(policy->choose({.run = 0, .job = 1}).site == 5);
    CHECK(policy->choose({.run = 0, .job = 3}).site == 3);
    CHECK(policy->choose({.run = 1, .job = 0}).site == 5);
  }
  SUBCASE("control runs stay at the baseline site and say why") {
    const auto policy = make_policy(options);
    for (std::uint32_t job = 0; job < 5; ++job) {
      const Choice choice = policy->choose({.run = 1, .job = job, .jobs = 5, .baseline = true});
      CHECK(choice.site == 9);
      CHECK(choice.reason.starts_with("baseline"));
    }
    CHECK(policy->choose({.run = 1, .job = 0}).site != 9);
  }
}

TEST_CASE("rules have the names that experiment.yaml uses") {
  CHECK(to_string(Rule::round_robin) == "round_robin");
  CHECK(rule_names() == std::vector<std::string>{"fixed", "round_robin", "shuffle"});
}

}  // namespace
}  // namespace godwit::placement
