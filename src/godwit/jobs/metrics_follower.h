// Follows a file to which a job appends lines, and gives each line once it is complete.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace godwit::jobs {

class MetricsFollower {
 public:
  using OnLine = std::function<void(std::string_view line, std::uint64_t offset)>;

  // `name` is relative to `sandbox` and must not lead out of it.
  MetricsFollower(std::string sandbox, std::string name) : sandbox_(std::move(sandbox)), name_(std::move(name)) {}

  // What is new: lines without their newline, empty ones left out. `last`: the job has ended, so that a whole JSON
  // object without a newline behind it counts, too.
  void read(const OnLine& on_line, bool last = false);
  std::uint64_t lines() const { return lines_; }

 private:
  void take_lines(const OnLine& on_line);
  void give(std::string_view line, const OnLine& on_line);

  std::string sandbox_;
  std::string name_;
  std::uint64_t offset_ = 0;  // of pending_'s first byte
  std::string pending_;       // read, but not given
  std::uint64_t lines_ = 0;
};

}  // namespace godwit::jobs
