// One engine with everything around it: the journal, the local executor, the inbox, the disk.
#pragma once

#include <memory>
#include <optional>

#include "godwit/engine/engine.h"
#include "godwit/experiment/code_watch.h"
#include "godwit/experiment/plan.h"
#include "godwit/jobs/executor.h"
#include "godwit/journal/state_dir.h"

namespace godwit::cli {

// The folder that keeps the experiment's state.
journal::StateDir state_of(const experiment::Planned& planned);

struct SessionOptions {
  bool once = false;
  bool stop_only = false;
  std::optional<journal::StateDir> state = std::nullopt;  // elsewhere than beside the experiment
  Json code = Json::array();                              // of the files that jobs run and read, for a definition
  std::optional<std::uint32_t> edit_of = std::nullopt;    // as EngineOptions has it
};

class Session {
 public:
  // Opens (or makes) the state beside the experiment. `planned` and `observer` must outlive the session. Throws
  // InputError where another engine is at work on it.
  Session(const experiment::Planned& planned, engine::Observer& observer, SessionOptions options = {});
  ~Session();

  engine::Engine& engine() { return *engine_; }

 private:
  // Jobs run what somebody agreed to run.
  std::string objection();

  std::unique_ptr<journal::Journal> journal_;
  std::unique_ptr<jobs::JobExecutor> executor_;
  std::unique_ptr<engine::Disk> disk_;
  std::unique_ptr<engine::CheckpointStore> checkpoints_;
  experiment::CodeWatch code_watch_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace godwit::cli
