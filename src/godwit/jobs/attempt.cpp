#include "godwit/jobs/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "godwit/base/hash.h"

namespace godwit::jobs {
namespace {

// Names stand beside their values, so that a table cannot slip against its enumeration.
template <typename Enum>
struct Name {
  Enum value;
  std::string_view text;
};

constexpr std::array kPhases{Name{Phase::pre, "pre"}, Name{Phase::job, "job"}, Name{Phase::post, "post"},
                             Name{Phase::hold, "hold"}, Name{Phase::service, "service"}};
constexpr std::array kStates{Name{JobState::new_, "new"},
                             Name{JobState::queued, "queued"},
                             Name{JobState::held, "held"},
                             Name{JobState::stage_in, "stage_in"},
                             Name{JobState::active, "active"},
                             Name{JobState::stage_out, "stage_out"},
                             Name{JobState::completed, "completed"},
                             Name{JobState::failed, "failed"},
                             Name{JobState::canceled, "canceled"}};
constexpr std::array kOutcomes{Name{Outcome::exited, "exited"},
                               Name{Outcome::signaled, "signaled"},
                               Name{Outcome::checkpointed, "checkpointed"},
                               Name{Outcome::evicted, "evicted"},
                               Name{Outcome::out_of_memory, "out_of_memory"},
                               Name{Outcome::time_limit, "time_limit"},
                               Name{Outcome::missing_output, "missing_output"},
                               Name{Outcome::unfinished, "unfinished"},
                               Name{Outcome::transfer_failed, "transfer_failed"},
                               Name{Outcome::input_changed, "input_changed"},
                               Name{Outcome::not_started, "not_started"},
                               Name{Outcome::disk_full, "disk_full"},
                               Name{Outcome::lost, "lost"},
                               Name{Outcome::canceled, "canceled"}};

template <typename Enum, std::size_t N>
std::string_view name_in(const std::array<Name<Enum>, N>& names, Enum value) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.value == value; });
  return found == names.end() ? std::string_view("unknown") : found->text;
}

template <typename Enum, std::size_t N>
std::optional<Enum> value_in(const std::array<Name<Enum>, N>& names, std::string_view text) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.text == text; });
  if (found == names.end()) return std::nullopt;
  return found->value;
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
  return value_in(kPhases, text);
}
std::string_view to_string(JobState state) {
  return name_in(kStates, state);
}
std::string_view to_string(Outcome outcome) {
  return name_in(kOutcomes, outcome);
}
std::optional<Outcome> outcome_from(std::string_view text) {
  return value_in(kOutcomes, text);
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
