#include "godwit/cli/interrupts.h"

#include <array>
#include <atomic>
#include <csignal>

namespace godwit::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

// A signal handler reaches nothing but globals.
std::atomic<engine::Engine*> interrupted{nullptr};

extern "C" void on_signal(int) {
  if (engine::Engine* engine = interrupted.load()) engine->interrupt();
}

void install(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupts::Interrupts(engine::Engine& engine) {
  interrupted = &engine;
  install(on_signal);
}

Interrupts::~Interrupts() {
  install(SIG_DFL);
  interrupted = nullptr;
}

}  // namespace godwit::cli
