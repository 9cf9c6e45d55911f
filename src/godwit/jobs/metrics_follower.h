// Follows a file in which a job reports, and gives each line of its metrics once it is complete.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "godwit/jobs/job_spec.h"

namespace godwit::jobs {

class MetricsFollower {
 public:
  // A line is a JSON object; `offset` grows from line to line and is the same whenever the file is read from its start.
  using OnLine = std::function<void(std::string_view line, std::uint64_t offset)>;

  virtual ~MetricsFollower() = default;
  // What is new. `last`: the job has ended, so that what looked unfinished counts, too, where it is whole.
  virtual void read(const OnLine& on_line, bool last) = 0;
  // At the job's end: why the file says nothing, as a clause for people ("it left no logs/metrics.csv"); "" where it
  // does, or where nothing is expected of it, as of the usual file that the experiment does not name.
  virtual std::string trouble() const = 0;
  std::uint64_t lines() const { return lines_; }
  // "" where there was none.
  const std::string& last_line() const { return last_line_; }

 protected:
  void give(std::string_view line, std::uint64_t offset, const OnLine& on_line) {
    ++lines_;
    last_line_ = line;
    on_line(line, offset);
  }

 private:
  std::uint64_t lines_ = 0;
  std::string last_line_;
};

// Of the spec's metrics file, which must not lead out of the sandbox.
//
// Lines of JSON are given as they stand, each with its place in bytes; empty ones are left out. Of a table (CSV) the
// rows of an epoch become one line, in which later cells win over earlier ones and empty cells say nothing; its epochs
// count from 1, and its offset is the epoch. An epoch is given once a later one has begun, and the last at the job's
// end unless it lacks a column that the epoch before had: then the job was cut off within it.
std::unique_ptr<MetricsFollower> follow_metrics(const std::string& sandbox, const JobSpec& spec);

}  // namespace godwit::jobs
