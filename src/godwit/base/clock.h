// Time. Records carry UTC microseconds; timers use the monotonic clock. A seam: tests put their own clock here.
#pragma once

#include <cstdint>
#include <string>

namespace godwit {

using Micros = std::int64_t;  // microseconds: since 1970-01-01T00:00:00Z, or a span

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Micros now() const = 0;        // UTC, for records
  virtual Micros monotonic() const = 0;  // for timers; its zero means nothing
  virtual void sleep_until(Micros monotonic_deadline) = 0;
};

// The machine's clock.
Clock& system_clock();

// "2026-11-30T20:31:47.123Z"
std::string iso_time(Micros utc);

}  // namespace godwit
