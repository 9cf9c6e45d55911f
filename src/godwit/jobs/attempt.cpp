#include "godwit/jobs/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "godwit/base/hash.h"

namespace godwit::jobs {
namespace {

// Indexed by the enumeration's value: one table serves both directions.
constexpr std::array<std::string_view, 5> kPhases{"pre", "job", "post", "hold", "service"};
constexpr std::array<std::string_view, 9> kStates{"new",       "queued",    "held",   "stage_in", "active",
                                                  "stage_out", "completed", "failed", "canceled"};
constexpr std::array<std::string_view, 12> kOutcomes{"exited",        "signaled",   "checkpointed",   "evicted",
                                                     "out_of_memory", "time_limit", "missing_output", "transfer_failed",
                                                     "not_started",   "disk_full",  "lost",           "canceled"};

template <typename Enum, std::size_t N>
std::string_view name_in(const std::array<std::string_view, N>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

template <typename Enum, std::size_t N>
std::optional<Enum> value_in(const std::array<std::string_view, N>& names, std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

bool stays(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '+' || c == '.' || c == '=' || c == ',' || c == '@';
}

}  // namespace

std::string_view to_string(Phase phase) {
  return name_in(kPhases, phase);
}
std::optional<Phase> phase_from(std::string_view text) {
  return value_in<Phase>(kPhases, text);
}
std::string_view to_string(JobState state) {
  return name_in(kStates, state);
}
std::string_view to_string(Outcome outcome) {
  return name_in(kOutcomes, outcome);
}
std::optional<Outcome> outcome_from(std::string_view text) {
  return value_in<Outcome>(kOutcomes, text);
}

bool is_final(JobState state) {
  return state >= JobState::completed;
}

std::string node_file_name(std::string_view node) {
  constexpr std::size_t kLongest = 200;  // of the 255 bytes that file systems take; the rest is for suffixes
  std::string out;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const bool hidden = i == 0 && node[i] == '.';  // hidden names are ours, and ".." is nobody's
    if (stays(node[i]) && !hidden)
      out += node[i];
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(node[i]));
  }
  if (out.size() <= kLongest) return out;
  return out.substr(0, kLongest - 17) + "~" + hex(hash64(node));
}

std::string AttemptKey::file_name() const {
  return fmt::format("{}.{}.{}", node_file_name(node), attempt, to_string(phase));
}

}  // namespace godwit::jobs
