// What a comparison needs to know of an experiment. read.h fills it from a journal; tests write it by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "godwit/base/goal.h"
#include "godwit/report/equivalence.h"

namespace godwit::report {

enum class State : std::uint8_t { waiting, running, finished, failed, pruned };

std::string_view to_string(State state);

// One value of a metric. `value` may be NaN or infinite: a model that diverged says so.
struct Point {
  int epoch = 0;
  double value = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

// The values of one metric along one run, by increasing epoch, each epoch once (the journal's view stitches attempts).
struct Series {
  std::string metric;       // as the job wrote it: "val_loss"
  bool evaluation = false;  // reported by the run's evaluation jobs, not by training
  std::vector<Point> points;
};

// One training job of a run.
struct Job {
  std::string node;
  std::string site;  // where it ran, or where it is planned to run
  int first_epoch = 0;
  int last_epoch = 0;
  State state = State::waiting;
  std::uint32_t attempts = 0;
  std::uint32_t retries = 0;  // the attempts that followed a failure; continued attempts are not among them
  double wall_s = 0;          // all attempts together
};

struct EpochTime {
  std::string site;
  int epoch = 0;
  double seconds = 0;
  bool reported = true;  // by the job; false: the time between the lines that the engine read
};

// What a line says of where its epoch came from. Hashes are the jobs' own texts; empty: not told, or nothing there.
struct EpochRecord {
  int epoch = 0;
  std::string parent;        // of the checkpoint that it began with
  std::string checkpoint;    // of the one that it left
  std::string random_state;  // of the random numbers' generator
  std::string data_order;
};

// Why a run is not what it says it is.
enum class FaultKind : std::uint8_t {
  forked,    // an epoch went on from something else than the one before it left
  gapped,    // an epoch between others is not recorded
  replayed,  // an epoch began where an earlier one had
  unpaired,  // an epoch read other data than the same epoch of its pair's baseline
};
std::string_view to_string(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::forked;
  int epoch = 0;
  std::string text;  // a sentence's predicate for people: "epoch 5 began with …"
};

// A run that was ended before its last planned epoch.
struct Stopped {
  int epoch = 0;
  bool early = false;  // by the rule that every run trains by: it counts as finished; else it was chosen to end
  std::string reason;
};

struct Run {
  std::uint32_t number = 0;
  std::string uuid;
  std::uint32_t seed = 0;
  std::uint32_t replicate = 0;
  bool baseline = false;
  std::string pair;  // runs with the same values and seed, migrated and baseline, share it
  std::vector<std::pair<std::string, std::string>> values;
  int epochs = 0;  // planned
  State state = State::waiting;
  std::optional<Stopped> stopped;
  std::vector<Job> jobs;  // training jobs, by epoch; those that were pruned are not among them
  std::vector<Series> series;
  std::vector<EpochTime> epoch_times;
  std::vector<EpochRecord> records;  // by epoch; empty where its jobs tell nothing of the kind
  std::vector<Fault> faults;         // by epoch, at most one of a kind (chain.h finds them)

  // Whether it may enter a mean, a pair, a verdict.
  bool counts() const { return state == State::finished && faults.empty(); }
};

// Of all its training jobs.
std::uint32_t attempts_of(const Run& run);
std::uint32_t retries_of(const Run& run);
double wall_seconds_of(const Run& run);

// How the runs were to be compared, as it was said at one time.
struct Declaration {
  std::string metric;        // empty: not at all any more
  std::optional<Goal> goal;  // absent: by the metric's name
  Margin margin;
  std::int64_t time = 0;         // microseconds UTC; 0: the experiment's file as it is now, which nothing has run with
  std::size_t lines_before = 0;  // of metrics that had been reported by then
};

struct Experiment {
  std::string name;
  std::string uuid;
  std::string file;  // experiment.yaml, as the journal names it
  std::vector<Run> runs;
  std::vector<Declaration> declarations;  // oldest first
};

}  // namespace godwit::report
