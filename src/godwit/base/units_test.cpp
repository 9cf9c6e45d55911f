#include "godwit/base/units.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace godwit;

using Cases = std::vector<std::pair<std::string_view, std::optional<std::int64_t>>>;

TEST_CASE("memory counts megabytes and rounds up") {
  const Cases cases{{"128GB", 131072},
                    {"2G", 2048},
                    {"512 MiB", 512},
                    {"131072", 131072},
                    {" 1.5 tb ", 1572864},
                    {"1KB", 1},
                    {"0", 0},
                    {"0.1", 1},
                    {"1025k", 2},
                    {"1048576B", 1},
                    {".5GB", 512},
                    {"", {}},
                    {"GB", {}},
                    {"-1GB", {}},
                    {"12 apples", {}},
                    {"1GB2", {}},
                    {"1.2.3GB", {}},
                    {"1e3", {}},
                    {"999999999999999999PB", {}},
                    {"99999999999999999999", {}}};
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(parse_memory_mb(text) == expected);
  }
}

TEST_CASE("disk counts kilobytes") {
  CHECK(parse_disk_kb("40GB") == 41943040);
  CHECK(parse_disk_kb("41943040") == 41943040);
  CHECK(parse_disk_kb("1B") == 1);
  CHECK(parse_disk_kb("1h") == std::nullopt);
}

TEST_CASE("durations count seconds") {
  const Cases cases{{"48h", 172800},
                    {"2d", 172800},
                    {"90m", 5400},
                    {"1h30m", 5400},
                    {"3600", 3600},
                    {"1d 12h", 129600},
                    {"1.5h", 5400},
                    {"1 hour 1 min 1 sec", 3661},
                    {"2 WEEKS", 1209600},
                    {"0.2s", 1},
                    {"0", 0},
                    {"0.1h", 360},
                    {"", {}},
                    {"h", {}},
                    {"1h30", {}},
                    {"30 1h", {}},
                    {"-1h", {}},
                    {"1y", {}},
                    {"999999999999999999w", {}}};
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(parse_duration_s(text) == expected);
  }
}

TEST_CASE("numbers are shown with their units") {
  CHECK(format_memory_mb(512) == "512 MB");
  CHECK(format_memory_mb(131072) == "128 GB");
  CHECK(format_memory_mb(20000) == "19.5 GB");
  CHECK(format_bytes(17) == "17 B");
  CHECK(format_bytes(1572864) == "1.5 MB");
  CHECK(format_bytes(1048575) == "1 MB");
  CHECK(format_age(0.608) == "less than 1 s");
  CHECK(format_age(-3) == "less than 1 s");
  CHECK(format_age(12.9) == "12 s");
  CHECK(format_age(200.7) == "3 min 20 s");
  CHECK(format_duration(0.35) == "350 ms");
  CHECK(format_duration(12.34) == "12.3 s");
  CHECK(format_duration(59.99) == "1 min");
  CHECK(format_duration(200) == "3 min 20 s");
  CHECK(format_duration(5400) == "1 h 30 min");
  CHECK(format_duration(172800) == "2 d");
  CHECK(format_duration(-5400) == "-1 h 30 min");
  CHECK(format_count(0, "job") == "0 jobs");
  CHECK(format_count(1, "job") == "1 job");
  CHECK(format_count(1234567, "job") == "1,234,567 jobs");
  CHECK(format_count(100, "entry", "entries") == "100 entries");
}
