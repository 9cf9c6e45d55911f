// The seam to a scheduler. One subclass per kind of scheduler; the engine knows no other way to run anything.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "godwit/jobs/attempt.h"

namespace godwit::jobs {

// Receives what poll() found, on the caller's thread.
class StatusSink {
 public:
  virtual ~StatusSink() = default;
  virtual void on_status(const StatusEvent& event) = 0;
  // One complete line that the job appended to its metrics file; `offset` is where it began, in bytes.
  virtual void on_metrics(const AttemptKey& key, std::string_view line, std::uint64_t offset) = 0;
  // Before the end of a job that succeeded: why its metrics file says nothing, where it should.
  virtual void on_no_metrics(const AttemptKey&, const std::string& /*why*/) {}
};

enum class Found : std::uint8_t {
  unknown,  // never heard of: safe to submit
  known,    // queued, running or ended: attach() and poll() will tell
};

// Life of an attempt: submit → status events → one final event → the caller records it → release.
// A key is never run twice by one executor: submitting a known key is the same as attaching to it.
class JobExecutor {
 public:
  virtual ~JobExecutor() = default;
  virtual std::string name() const = 0;

  // Hands attempts over; returns once they are safely the executor's. Failures of single attempts come as final events.
  virtual void submit(std::span<const Attempt> attempts) = 0;
  // After a crash: which of these did the executor ever accept? In the order of `keys`.
  virtual std::vector<Found> find(std::span<const AttemptKey> keys) = 0;
  // Resumes reporting on attempts that an earlier process submitted.
  virtual void attach(std::span<const Attempt> attempts) = 0;
  // SIGTERM, grace, SIGKILL; `now` skips the grace. The final event comes by poll() all the same.
  virtual void cancel(std::span<const AttemptKey> keys, bool now) = 0;
  // Reports everything new, without blocking.
  virtual void poll(StatusSink& sink) = 0;
  // Everything accepted is with the scheduler, or ended and reported: this process could go without delaying anything.
  // Files of none are being moved. What find() was asked before is taken into account.
  virtual bool settled() const = 0;
  // A descriptor that becomes readable when poll() has something, or -1 where the caller must poll by the clock.
  virtual int wake_fd() const = 0;
  // The ends of these are recorded: their sandboxes and remains may go.
  virtual void release(std::span<const AttemptKey> keys) = 0;
};

}  // namespace godwit::jobs
