#include "godwit/experiment/starter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "godwit/base/error.h"

namespace godwit::experiment {
namespace {

constexpr std::string_view kExperiment = R"(# An experiment for Godwit.
#   godwit plan       checks it and says what it comes to
#   godwit run        runs it; again to go on where it stopped
#   godwit compare    tables what came out

name: starter
seed: 1            # decides every random choice; the same seed gives the same runs

# How one training job runs: HTCondor's submit language. {resource.cpus} comes from the site, $(rate) from vars below.
# {resource.digits} is an attribute of the sites: here it stands for how exactly they compute.
submit_template: |
  executable = train.sh
  arguments = $(rate) $(random_seed) {resource.digits}
  request_cpus = {resource.cpus}
  request_memory = {resource.mem_mb}
  queue

# Every combination of the variables is one training run. There are also range, linspace, logspace, random, table,
# zip and expression.
vars:
  rate:
    type: list
    values: [0.03, 0.1, 0.3]
    description: learning rate

epochs: 12         # that each run trains for
epochs_per_job: 3  # after so many the run may move to another site
replicates: 1      # more repeat each combination with other random seeds

# Sites are described in sites.yaml. `shuffle` sends each run to every site once before any repeats, each run in
# another order; each run is also repeated at the baseline site alone, with the same random seed.
placement: shuffle
baseline: north

# Said before there is a result: a difference in validation loss below this does not matter. compare gives the verdict.
compare:
  metric: val_loss
  margin: 0.001

# What travels from job to job along a run, wherever they run.
checkpoint: model.txt

# Scores the checkpoint beside every second training job.
evaluation:
  every: 2
  submit_template: |
    executable = evaluate.sh
    request_memory = 64MB
    queue

retry: 1           # how often a job that fails is tried again
)";

constexpr std::string_view kSites =
    R"(# Where jobs run. These two are both this machine, so that you can watch runs move. They differ as real sites do: the
# south has room for more jobs and computes less exactly, so that moving there changes a model a little.
# A real site adds its queue, allocation, log-in and so on.
north:
  executor: local
  cpus: 1
  mem: 128MB       # what one job gets
  slots: 1         # jobs at once
  attributes:      # what templates may ask of a site: {resource.digits}
    digits: 17
south:
  executor: local
  cpus: 1
  mem: 128MB
  slots: 2
  attributes:
    digits: 3
)";

// Fits a cubic to sin(3x) by gradient descent. Little, but it does what a training program should: it starts from the
// checkpoint that is there, writes one after every epoch in one step, reports each epoch, and heeds SIGTERM.
constexpr std::string_view kTrain = R"(#!/bin/sh
# train.sh RATE SEED [DIGITS]: fits a cubic to the curve sin(3x) by gradient descent. After each epoch the weights are
# rounded to so many significant digits, as a site with other arithmetic would.
#
# A training program for Godwit: starts from $GODWIT_CHECKPOINT where it is there, trains the epochs from
# $GODWIT_FIRST_EPOCH to $GODWIT_LAST_EPOCH, and appends a JSON line per epoch to $GODWIT_METRICS.
set -eu
rate=$1
seed=$2
digits=${3:-17}
model=${GODWIT_CHECKPOINT:-model.txt}
metrics=${GODWIT_METRICS:-metrics.jsonl}

# Told to leave: the last whole epoch is in the checkpoint, and 85 says "continue me".
trap 'exit 85' TERM

# The checkpoint is one line: the epoch it ends, then four weights.
epoch=0
[ ! -f "$model" ] || read -r epoch _ < "$model"

while [ "$epoch" -lt "${GODWIT_LAST_EPOCH:-12}" ]; do
  epoch=$((epoch + 1))
  { [ -f "$model" ] && cat "$model" || echo 0; } | awk -v rate="$rate" -v seed="$seed" -v digits="$digits" \
      -v epoch="$epoch" -v metrics="$metrics" -v next_model="$model.new" '
    function guess(x) { return w[0] + x * (w[1] + x * (w[2] + x * w[3])) }
    function loss(first,   i, x, sum) {          # of every other point: the even ones train, the odd ones validate
      for (i = first; i < 100; i += 2) { x = i / 50 - 1; sum += (guess(x) - sin(3 * x)) ^ 2 }
      return sum / 50
    }
    {
      srand(seed + epoch)
      for (k = 0; k < 4; k++) w[k] = NF == 5 ? $(k + 2) : 0
      if (NF < 5) { srand(seed); for (k = 0; k < 4; k++) w[k] = 2 * rand() - 1; srand(seed + epoch) }
      for (step = 0; step < 200; step++) {
        x = 2 * int(50 * rand()) / 50 - 1
        slope = rate * 2 * (guess(x) - sin(3 * x))
        for (k = 0; k < 4; k++) { w[k] -= slope; slope *= x }
      }
      for (k = 0; k < 4; k++) w[k] = sprintf("%." digits "g", w[k]) + 0
      printf "%d %.17g %.17g %.17g %.17g\n", epoch, w[0], w[1], w[2], w[3] > next_model
      printf "{\"epoch\":%d,\"train_loss\":%.6f,\"val_loss\":%.6f}\n", epoch, loss(0), loss(1) >> metrics
    }'
  mv "$model.new" "$model"
  echo "epoch $epoch is in the checkpoint"
  sleep 0.1
done
)";

constexpr std::string_view kEvaluate = R"(#!/bin/sh
# evaluate.sh: the largest error of the checkpoint's cubic beyond the points it was trained on.
set -eu
awk '{
  for (i = 0; i <= 1000; i++) {
    x = i / 500 - 1
    error = $2 + x * ($3 + x * ($4 + x * $5)) - sin(3 * x)
    if (error < 0) error = -error
    if (error > worst) worst = error
  }
  printf "{\"epoch\":%d,\"worst_error\":%.6f}\n", $1, worst
}' "${GODWIT_CHECKPOINT:-model.txt}" >> "${GODWIT_METRICS:-metrics.jsonl}"
)";

constexpr StarterFile kFiles[] = {
    {"experiment.yaml", kExperiment},
    {"sites.yaml", kSites},
    {"train.sh", kTrain, true},
    {"evaluate.sh", kEvaluate, true},
};

void write_new(const std::filesystem::path& path, const StarterFile& file) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file.executable ? 0777 : 0666);
  if (fd < 0) throw SystemError("cannot write " + path.string(), errno);
  const ssize_t written = write(fd, file.text.data(), file.text.size());
  const int error = written < 0 ? errno : ENOSPC;
  close(fd);
  if (written != static_cast<ssize_t>(file.text.size())) throw SystemError("cannot write " + path.string(), error);
}

}  // namespace

std::span<const StarterFile> starter_files() {
  return kFiles;
}

std::vector<std::string> write_starter(const std::string& folder) {
  const std::filesystem::path base = folder.empty() ? "." : folder;
  for (const StarterFile& file : kFiles)
    if (std::filesystem::exists(base / file.name))
      throw InputError((base / file.name).lexically_normal().string() + " is there already; nothing was written",
                       "name another folder: 'godwit init DIR'");
  std::error_code error;
  std::filesystem::create_directories(base, error);
  if (error) throw SystemError("cannot make " + base.string(), error.value());
  std::vector<std::string> names;
  for (const StarterFile& file : kFiles) {
    write_new(base / file.name, file);
    names.push_back((base / file.name).lexically_normal());
  }
  return names;
}

}  // namespace godwit::experiment
