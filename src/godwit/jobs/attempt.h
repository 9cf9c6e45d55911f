// Attempts: one execution of a node's job or script, its key, its state and how it ended.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "godwit/base/clock.h"
#include "godwit/jobs/job_spec.h"

namespace godwit::jobs {

enum class Phase : std::uint8_t { pre, job, post, hold, service };

std::string_view to_string(Phase phase);
std::optional<Phase> phase_from(std::string_view text);

// A node's name as a legal, unique file name: bytes that are not are written %XX, a very long one ends in its hash.
std::string node_file_name(std::string_view node);

// Names one attempt for ever. It is journalled before anything is submitted and travels with the job, so that after a
// crash `JobExecutor::find` can say what became of it.
struct AttemptKey {
  std::string dag_uuid;  // 32 hex digits
  std::string node;
  std::uint32_t attempt = 1;  // counts from 1 per node
  Phase phase = Phase::job;

  // "node.3.job", of node_file_name: unique within a Dag.
  std::string file_name() const;
  // "0123…cdef/node.3.job": unique anywhere; what jobs carry in GODWIT_ATTEMPT.
  std::string text() const { return dag_uuid + "/" + file_name(); }
  friend bool operator==(const AttemptKey&, const AttemptKey&) = default;
};

struct Attempt {
  AttemptKey key;
  std::string site;
  std::shared_ptr<const JobSpec> spec;
};

// PSI/J's states, in its order (a job moves only forwards), and `held` beside `queued`.
enum class JobState : std::uint8_t { new_, queued, held, stage_in, active, stage_out, completed, failed, canceled };

std::string_view to_string(JobState state);
bool is_final(JobState state);

// How an attempt ended. Names are what the journal stores.
enum class Outcome : std::uint8_t {
  exited,           // exit_code says (0 is success)
  signaled,         // signal says
  checkpointed,     // exited with the checkpoint exit code: continue in a new attempt
  evicted,          // told to leave (SIGTERM by us or the site) before it ended
  out_of_memory,    // passed the memory it asked for, or the kernel's killer took it
  time_limit,       // passed its time limit
  missing_output,   // exit 0 without a required output
  unfinished,       // exit 0 before the last epoch it was to train
  transfer_failed,  // an input was missing or an output could not be brought back
  input_changed,    // an input is not what the job before it left: nothing was started
  not_started,      // the program could not be executed
  disk_full,        // failed while the disk was full: waits, spends no retry
  lost,             // nobody knows; its supervisor or site vanished
  canceled,         // by the user
};

std::string_view to_string(Outcome outcome);
std::optional<Outcome> outcome_from(std::string_view text);

struct ResourceUse {
  double wall_s = 0;
  double cpu_s = 0;
  std::uint64_t peak_memory_kb = 0;
};

struct Ending {
  Outcome outcome = Outcome::exited;
  int exit_code = 0;
  int signal = 0;
  ResourceUse use;
  std::string detail;  // a sentence for people: which output is missing, what could not be executed
  Micros started = 0;
  Micros ended = 0;

  bool success() const { return outcome == Outcome::exited && exit_code == 0; }
};

// One change, as an executor reports it.
struct StatusEvent {
  AttemptKey key;
  JobState state = JobState::new_;
  Micros time = 0;
  std::string native_id;  // the scheduler's name for it: a pid here
  std::string host;
  std::optional<Ending> ending;  // in final states
};

}  // namespace godwit::jobs
