#include "godwit/jobs/supervisor_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "godwit/base/error.h"
#include "godwit/jobs/supervisor.h"
#include "godwit/store/lock.h"

namespace godwit::jobs {
namespace {

using store::FileDescriptor;

constexpr int kStartTimeoutMs = 30'000;
constexpr int kAnswerTimeoutMs = 30'000;
constexpr int kMostFailedStarts = 10;
constexpr int kConnectTries = 200;  // 10 ms apart

bool readable_within(int fd, int timeout_ms, bool or_writable = false) {
  pollfd entry{fd, static_cast<short>(POLLIN | (or_writable ? POLLOUT : 0)), 0};
  int ready = 0;
  while ((ready = ::poll(&entry, 1, timeout_ms)) < 0 && errno == EINTR) {
  }
  return ready > 0;
}

// The line that the supervisor says when it is ready or has failed; "" where it says nothing.
std::string first_line(int fd) {
  std::string line;
  std::array<char, 512> buffer;
  while (line.find('\n') == std::string::npos && readable_within(fd, kStartTimeoutMs)) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    line.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return line.substr(0, line.find('\n'));
}

// The signal state that a supervisor wants to start with, whatever ours is.
struct SpawnSettings {
  explicit SpawnSettings(int out) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE}) sigaddset(&signals, number);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

}  // namespace

void SupervisorClient::connect(const wire::Hello& hello) {
  disconnect();
  for (int i = 0; i < kConnectTries; ++i) {
    if (!try_connect()) {
      start();
      if (!try_connect()) {
        ::usleep(10'000);  // another process's supervisor starts or ends just now
        continue;
      }
    }
    send(wire::Type::hello, hello);
    const auto frame = wait_for(wire::Type::welcome);
    if (!frame) {  // it ended, idle, as we came
      disconnect();
      continue;
    }
    const auto welcome = wire::decode<wire::Welcome>(frame->body);
    if (welcome.version != wire::kVersion)
      throw Error(
          fmt::format("the supervisor of {} (process {}) is of another version of godwit", state_dir_, welcome.pid),
          "Let its jobs end with the version that started them, or stop it: kill " + std::to_string(welcome.pid));
    pid_ = welcome.pid;
    return;
  }
  throw Error("cannot reach the supervisor of " + state_dir_, "See " + state_dir_ + "/" + kSupervisorLog);
}

void SupervisorClient::disconnect() {
  channel_.reset();
  socket_ = FileDescriptor();
}

// By way of the directory's descriptor, because a socket's path may have 107 bytes only.
bool SupervisorClient::try_connect() {
  const FileDescriptor folder(::open(state_dir_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) throw SystemError("cannot open " + state_dir_, errno);
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) throw SystemError("socket", errno);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder.get(), kSupervisorSocket);
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
  socket_ = std::move(fd);
  channel_.emplace(socket_.get());
  set_aside_.clear();
  return true;
}

void SupervisorClient::start() {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw SystemError("pipe", errno);
  const FileDescriptor in(pipe[0]);
  FileDescriptor out(pipe[1]);
  std::vector<char*> argv;
  std::vector<std::string> words = command_;
  words.push_back(state_dir_);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const SpawnSettings settings(out.get());
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0], &settings.files, &settings.attributes, argv.data(), environ);
  if (error != 0) throw SystemError("cannot execute " + words[0], error);
  out = FileDescriptor();
  const std::string said = first_line(in.get());
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (said == "ready") {
    failed_starts_ = 0;
    return;
  }
  // One that found another in its place is no failure: we connect to that one. One that was killed before it said
  // anything, or met another that was just dying, may do better next time.
  if (store::probe_lock(state_dir_ + "/" + kSupervisorLock).held || ++failed_starts_ < kMostFailedStarts) return;
  throw Error("the supervisor of " + state_dir_ + " does not start: " + (said.empty() ? "it says nothing" : said));
}

bool SupervisorClient::exchange() {
  if (!channel_) return false;
  const bool received = channel_->receive();
  return channel_->flush() && received;
}

std::optional<wire::Frame> SupervisorClient::next() {
  if (!set_aside_.empty()) {
    wire::Frame frame = std::move(set_aside_.front());
    set_aside_.pop_front();
    return frame;
  }
  return channel_ ? channel_->next() : std::nullopt;
}

std::optional<wire::Frame> SupervisorClient::wait_for(wire::Type type) {
  for (;;) {
    const bool open = exchange();
    while (auto frame = channel_->next()) {
      if (frame->type == type) return frame;
      set_aside_.push_back(std::move(*frame));
    }
    if (!open || !readable_within(fd(), kAnswerTimeoutMs, wants_to_write())) return std::nullopt;
  }
}

}  // namespace godwit::jobs
