#include "godwit/report/chain.h"

#include <doctest/doctest.h>

#include "godwit/report/comparison.h"
#include "godwit/report/fixture.h"

namespace godwit::report {
namespace {

// Two pairs of four epochs; every epoch follows from the one before it.
Experiment whole() {
  Experiment experiment;
  for (std::uint32_t number = 0; number < 4; ++number) {
    const std::string seed = number % 2 == 0 ? "a" : "b";
    Run run = fixture::make_run({number, number >= 2, seed, 7 + number % 2, {}, {4, 3, 2, 1.0 + number}, {"x", "y"}});
    const auto left = [&](int epoch) {
      return epoch == 0 ? "" : "run" + std::to_string(number) + "-" + std::to_string(epoch);
    };
    for (int epoch = 1; epoch <= 4; ++epoch)
      run.records.push_back({epoch, left(epoch - 1), left(epoch), "random-" + seed + std::to_string(epoch),
                             "order-" + seed + std::to_string(epoch)});
    experiment.runs.push_back(run);
  }
  return experiment;
}

// "run 1 forked 3; run 2 …": every fault.
std::string faults_of(Experiment experiment) {
  find_faults(experiment);
  std::string text;
  for (const Run& run : experiment.runs)
    for (const Fault& fault : run.faults)
      text += (text.empty() ? "" : "; ") + std::string("run ") + std::to_string(run.number) + " " +
              std::string(to_string(fault.kind)) + " " + std::to_string(fault.epoch);
  return text;
}

EpochRecord& record(Experiment& experiment, std::size_t run, std::size_t epoch) {
  return experiment.runs[run].records[epoch - 1];
}

void forget_what_was_left(Experiment& experiment) {
  for (Run& run : experiment.runs)
    for (EpochRecord& record : run.records) record.checkpoint.clear();
}

TEST_CASE("runs whose epochs follow from each other have no fault") {
  CHECK(faults_of(whole()).empty());
  Experiment less = whole();
  forget_what_was_left(less);
  CHECK(faults_of(less).empty());
  for (Run& run : less.runs) run.records.clear();
  CHECK(faults_of(less).empty());
}

TEST_CASE("a forked run") {
  Experiment experiment = whole();
  record(experiment, 1, 3).parent = "elsewhere";
  CHECK(faults_of(experiment) == "run 1 forked 3");
  record(experiment, 1, 3).parent = record(experiment, 0, 3).parent;  // another run's
  CHECK(faults_of(experiment) == "run 1 forked 3");
  record(experiment, 1, 3).parent.clear();  // it began from nothing
  CHECK(faults_of(experiment) == "run 1 forked 3");
}

TEST_CASE("a forked run where jobs do not tell what they left: both that it may be are named") {
  Experiment experiment = whole();
  forget_what_was_left(experiment);
  record(experiment, 1, 3).parent = record(experiment, 0, 3).parent;
  CHECK(faults_of(experiment) == "run 0 forked 3; run 1 forked 3");
  record(experiment, 1, 3).parent.clear();
  CHECK(faults_of(experiment) == "run 1 forked 3");
}

TEST_CASE("runs that compute the same bits from the start are no forks") {
  Experiment experiment = whole();
  for (Run& run : experiment.runs)
    for (EpochRecord& record : run.records) {
      record.checkpoint.clear();
      record.parent = record.epoch == 1 ? "" : "same-" + std::to_string(record.epoch);
    }
  CHECK(faults_of(experiment).empty());
}

TEST_CASE("a gap") {
  Experiment experiment = whole();
  experiment.runs[2].records.erase(experiment.runs[2].records.begin() + 1);
  CHECK(faults_of(experiment) == "run 2 gapped 2");
  experiment = whole();
  experiment.runs[2].records.erase(experiment.runs[2].records.begin());
  CHECK(faults_of(experiment) == "run 2 gapped 1");
  experiment = whole();
  experiment.runs[2].records.pop_back();  // a run that ended early, by intention or not, is whole as far as it goes
  CHECK(faults_of(experiment).empty());
}

TEST_CASE("a replayed epoch") {
  Experiment experiment = whole();
  record(experiment, 0, 4).parent = record(experiment, 0, 3).parent;
  CHECK(faults_of(experiment) == "run 0 replayed 4");
  experiment = whole();
  record(experiment, 0, 4).random_state = record(experiment, 0, 2).random_state;
  CHECK(faults_of(experiment) == "run 0 replayed 4");
  experiment = whole();
  for (Run& run : experiment.runs)
    for (EpochRecord& record : run.records) record.random_state = record.data_order = "never changes";
  CHECK(faults_of(experiment).empty());
}

TEST_CASE("a pair that does not read the same data is none") {
  Experiment experiment = whole();
  record(experiment, 1, 2).data_order = "another";
  CHECK(faults_of(experiment) == "run 1 unpaired 2");
}

TEST_CASE("an invalid run enters no mean and no pair, and is named with the reason") {
  Experiment experiment = whole();
  record(experiment, 1, 3).parent = "elsewhere";
  const Comparison result = compare(experiment);
  CHECK(result.with_records() == 4);
  CHECK(result.invalid() == 1);
  CHECK(result.groups[0].metrics[0].last.n == 1);
  REQUIRE(result.paired[0].pairs.size() == 1);
  CHECK(result.paired[0].pairs[0].key == "a");
  CHECK(result.unpaired == std::vector<std::size_t>{3});
  CHECK(result.notes.front() ==
        "Invalid and left out of every mean, pair and verdict: run 1 (forked): epoch 3 began with checkpoint "
        "elsewhere, not with what epoch 2 left (run1-2).");
}

}  // namespace
}  // namespace godwit::report
