#include "godwit/report/landscape.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "godwit/base/error.h"
#include "godwit/report/comparison.h"
#include "godwit/report/document.h"
#include "godwit/report/fixture.h"
#include "godwit/report/tables.h"

namespace godwit::report {
namespace {

// A folder that goes when this does.
class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "godwit-XXXXXX").string()) {
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Runs 0 to 2 migrate, 3 to 5 are their baselines; run 2 and 5 have other values.
Comparison six_runs(bool fork_one = false) {
  Experiment experiment;
  for (std::uint32_t number = 0; number < 6; ++number) {
    Run run = fixture::make_run({number,
                                 number >= 3,
                                 "p" + std::to_string(number % 3),
                                 number % 3,
                                 {{"lr", number % 3 == 2 ? "2" : "1"}},
                                 {2, 1.0 + 0.1 * number},
                                 {"x"}});
    if (fork_one && number == 0) run.records = {{1, "", "a", "", ""}, {2, "b", "c", "", ""}};
    experiment.runs.push_back(run);
  }
  return compare(experiment);
}

std::string text_of(const std::vector<RunPair>& pairs) {
  std::string text;
  for (const RunPair& pair : pairs)
    text += std::to_string(pair.a) + (pair.same_seed ? "=" : "~") + std::to_string(pair.b) + " ";
  return text;
}

TEST_CASE("which weights are compared: pairs, and baselines of the same values as the yardstick") {
  CHECK(text_of(pairs_to_look_at(six_runs())) == "3=0 4=1 5=2 3~4 ");
  CHECK(text_of(pairs_to_look_at(six_runs(true))) == "4=1 5=2 3~4 ");  // an invalid run is not looked at
  Experiment same;
  for (std::uint32_t number = 0; number < 3; ++number)
    same.runs.push_back(
        fixture::make_run({number, true, "p" + std::to_string(number), number, {}, {1, 1.0 + number}, {"x"}}));
  CHECK(text_of(pairs_to_look_at(compare(same))) == "0~1 1~2 2~0 ");
}

TEST_CASE("distances of checkpoints, from files") {
  const Folder folder;
  const auto checkpoint = [&](std::size_t run) -> std::optional<std::string> {
    if (run == 2) return std::nullopt;
    return folder / (std::to_string(run) + ".safetensors");
  };
  // Migrated: one step beside the baseline. Baselines: at right angles.
  const double weights[6][2] = {{10, 1}, {1, 10}, {0, 0}, {10, 0}, {0, 10}, {5, 5}};
  for (std::size_t run = 0; run < 6; ++run) {
    ml::Tensor<double> tensor({2});
    tensor[0] = weights[run][0];
    tensor[1] = weights[run][1];
    ml::SafetensorsWriter writer;
    writer.add("w", tensor);
    if (const auto file = checkpoint(run)) write(*file, writer.bytes());
  }
  Comparison comparison = six_runs();
  const Distances found = measure_distances(comparison, checkpoint);
  REQUIRE(found.all.size() == 3);
  CHECK(found.same_seed.n == 2);
  CHECK(found.same_seed.mean == doctest::Approx(1 / std::sqrt(100.5)));
  CHECK(found.yardstick.mean == doctest::Approx(std::sqrt(2.0)));

  comparison.landscape = Landscape{found, "", std::nullopt, "the experiment has no evaluation"};
  const Json json = to_json(comparison)["weights"];
  CHECK(json["distance"]["pairs"].size() == 3);
  CHECK(json["barrier"]["not_computed"] == "the experiment has no evaluation");
  const std::vector<Table> tables = make_tables(comparison, 100);
  const auto table = std::find_if(tables.begin(), tables.end(),
                                  [](const Table& t) { return t.title == "Where the last weights lie"; });
  REQUIRE(table != tables.end());
  CHECK(table->note == "Barrier not computed: the experiment has no evaluation.");

  write(*checkpoint(0), "no safetensors");
  CHECK_THROWS_AS(measure_distances(comparison, checkpoint), InputError);
  CHECK_THROWS_AS(measure_distances(comparison, [](std::size_t) { return std::nullopt; }), Error);
}

TEST_CASE("barriers in closed form") {
  // Along a line from -1 to 1: a double well (x² - 1)², height 1; and from 1 to 1: flat. As an accuracy: upside down.
  const auto line = [](bool same_seed, double from, double sign) {
    Barrier barrier{{0, 1, same_seed}, {}, 0};
    for (int i = 0; i <= 10; ++i) {
      const double x = from + (1 - from) * i / 10;
      barrier.line.emplace_back(i / 10.0,
                                sign * std::pow(x * x - 1, 2) + 3 * i / 10.0);  // on a slope, which is no barrier
    }
    return barrier;
  };
  const Barriers low = measure_barriers({line(true, 1, 1), line(false, -1, 1)}, "loss", false);
  CHECK(low.same_seed.mean == doctest::Approx(0));
  CHECK(low.yardstick.mean == doctest::Approx(1));
  const Barriers high = measure_barriers({line(false, -1, -1)}, "accuracy", true);
  CHECK(high.yardstick.mean == doctest::Approx(1));
  const Barriers valley = measure_barriers({line(false, -1, -1)}, "loss", false);
  CHECK(valley.yardstick.mean < 0);  // all between is better
}

}  // namespace
}  // namespace godwit::report
