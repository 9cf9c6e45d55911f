#include "godwit/base/clock.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <thread>

namespace godwit {
namespace {

template <typename ClockType>
Micros micros_of() {
  return std::chrono::duration_cast<std::chrono::microseconds>(ClockType::now().time_since_epoch()).count();
}

class SystemClock final : public Clock {
 public:
  Micros now() const override { return micros_of<std::chrono::system_clock>(); }
  Micros monotonic() const override { return micros_of<std::chrono::steady_clock>(); }
  void sleep_until(Micros monotonic_deadline) override {
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::microseconds(monotonic_deadline)));
  }
};

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

std::string iso_time(Micros utc) {
  const std::time_t seconds = static_cast<std::time_t>(utc / 1'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, utc % 1'000'000 / 1000);
}

}  // namespace godwit
