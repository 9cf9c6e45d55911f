// The executor's end of the socket: finds or starts the supervisor of a state directory and speaks with it.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "godwit/jobs/wire.h"
#include "godwit/store/file_descriptor.h"

namespace godwit::jobs {

class SupervisorClient {
 public:
  // `command` and the state directory's path make the argv that becomes the supervisor.
  SupervisorClient(std::string state_dir, std::vector<std::string> command)
      : state_dir_(std::move(state_dir)), command_(std::move(command)) {}

  // Connects, starting a supervisor where there is none, and says hello. Throws Error where that fails or where the
  // supervisor is another version's.
  void connect(const wire::Hello& hello);
  bool connected() const { return channel_.has_value(); }
  void disconnect();
  // -1 where not connected.
  int fd() const { return socket_.get(); }
  std::int32_t supervisor_pid() const { return pid_; }

  template <typename T>
  void send(wire::Type type, const T& message) {
    if (channel_) channel_->send(type, message);
  }
  // Reads and writes what goes without blocking. False where the supervisor is gone; frames that came before still come
  // by next().
  bool exchange();
  bool wants_to_write() const { return channel_ && channel_->wants_to_write(); }
  // The next frame that came.
  std::optional<wire::Frame> next();
  // Blocks until a frame of `type` comes; the others before it are kept for next(). nullopt where the supervisor is
  // gone or silent for a long while.
  std::optional<wire::Frame> wait_for(wire::Type type);

 private:
  bool try_connect();
  void start();

  std::string state_dir_;
  std::vector<std::string> command_;
  store::FileDescriptor socket_;
  std::optional<wire::Channel> channel_;
  std::deque<wire::Frame> set_aside_;
  std::int32_t pid_ = 0;
  int failed_starts_ = 0;
};

}  // namespace godwit::jobs
