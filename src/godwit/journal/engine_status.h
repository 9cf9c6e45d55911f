// Whether an engine is at work on an experiment.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "godwit/journal/state_dir.h"
#include "godwit/journal/view.h"
#include "godwit/store/lock.h"

namespace godwit::journal {

// An engine that has said nothing for so long is frozen, or its host is gone.
inline constexpr Micros kSilent = 60'000'000;

enum class EngineState : std::uint8_t {
  never_started,
  running,
  stopped,  // ended orderly; View::engine() says why
  died,     // the last one ended without saying so
};

std::string_view to_string(EngineState state);

// How an engine that ended orderly did, before "… ago": "was interrupted", "took one step (run --once)".
std::string_view stop_words(const EngineRecord& engine);

struct EngineStatus {
  EngineState state = EngineState::never_started;
  std::optional<store::LockHolder> holder;  // of the writer's lock, while running
  std::optional<Message> paused;            // why no new jobs start, while running
  bool running() const { return state == EngineState::running; }
};

// Whether a process holds the writer's lock, or one on another host was heard of just now.
bool engine_at_work(const StateDir& state);

// By the writer's lock, which dies with its holder (see engine_at_work()), and by what the journal tells.
EngineStatus engine_status(const StateDir& state, const View& view);

}  // namespace godwit::journal
