#include "godwit/journal/engine_status.h"

#include "godwit/base/clock.h"
#include "godwit/journal/pause_note.h"

namespace godwit::journal {
namespace {

// The lock of an engine on another host may not be seen here; then what was heard of it last counts.
bool at_work(const store::LockState& lock) {
  if (lock.held) return true;
  return lock.holder && !store::is_alive(*lock.holder).has_value() && system_clock().now() - lock.heard_of < kSilent;
}

}  // namespace

std::string_view to_string(EngineState state) {
  switch (state) {
    case EngineState::never_started:
      return "never_started";
    case EngineState::running:
      return "running";
    case EngineState::stopped:
      return "stopped";
    case EngineState::died:
      return "died";
  }
  return "";
}

std::string_view stop_words(const EngineRecord& engine) {
  const std::string reason = engine.stopped.value_or("");
  if (reason == "once") return "took one step (run --once)";
  if (reason == "paused") return "stopped, with nothing left but paused runs,";
  if (reason == "interrupted") return "was interrupted";
  if (reason == "finished") return "finished";
  return "was stopped";
}

bool engine_at_work(const StateDir& state) {
  return at_work(store::probe_lock(writer_lock(state.journal())));
}

EngineStatus engine_status(const StateDir& state, const View& view) {
  const store::LockState lock = store::probe_lock(writer_lock(state.journal()));
  if (at_work(lock)) {
    // The journal says nothing of it while it cannot be written.
    const std::optional<Message> noted = read_pause_note(state.pause_note());
    return {EngineState::running, lock.holder, view.engine().paused ? view.engine().paused : noted};
  }
  if (view.engine().started == 0) return {EngineState::never_started, {}, {}};
  return {view.engine().stopped ? EngineState::stopped : EngineState::died, {}, {}};
}

}  // namespace godwit::journal
