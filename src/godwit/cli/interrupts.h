// Ctrl-C and its like, handed to a running engine.
#pragma once

#include "godwit/engine/engine.h"

namespace godwit::cli {

// While it lives, SIGINT, SIGTERM and SIGHUP interrupt the engine: the first gently, the second at once.
class Interrupts {
 public:
  explicit Interrupts(engine::Engine& engine);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
};

}  // namespace godwit::cli
