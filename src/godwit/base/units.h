// Quantities as people write them, and numbers with their units for messages.
//
// Multiples are binary, as HTCondor has them: 1 GB is 1024 MB. What does not come out whole is rounded up, so that
// a request never shrinks. Every parser returns nullopt for text that is not such a quantity, or is out of range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace godwit {

// "128GB", "2G", "512 MiB", "1.5 TB"; a bare number counts megabytes, as in request_memory. Case does not matter.
std::optional<std::int64_t> parse_memory_mb(std::string_view text);
// The same; a bare number counts kilobytes, as in request_disk.
std::optional<std::int64_t> parse_disk_kb(std::string_view text);
// "48h", "2d", "90m", "1h30m", "1.5 hours", "1w"; a bare number counts seconds.
std::optional<std::int64_t> parse_duration_s(std::string_view text);

std::string format_memory_mb(std::uint64_t megabytes);  // "512 MB", "128 GB", "19.5 GB"
std::string format_bytes(std::uint64_t bytes);          // "17 B", "1.5 MB"
// The two largest units that say something: "350 ms", "12.3 s", "3 min 20 s", "1 h 30 min", "2 d".
std::string format_duration(double seconds);
// How long ago something was, in whole seconds: "less than 1 s", "12 s", "3 min 20 s".
std::string format_age(double seconds);
// "1 job", "10,000 jobs". The plural is the noun with an s unless given.
std::string format_count(std::uint64_t count, std::string_view noun, std::string_view plural = {});

}  // namespace godwit
