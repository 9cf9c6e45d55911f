#include "godwit/jobs/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "godwit/base/error.h"
#include "godwit/jobs/exit_log.h"
#include "godwit/jobs/job_runner.h"
#include "godwit/jobs/strays.h"
#include "godwit/jobs/wire.h"
#include "godwit/store/file_descriptor.h"
#include "godwit/store/lock.h"

namespace godwit::jobs {
namespace {

using store::FileDescriptor;

constexpr Micros kSecond = 1'000'000;
constexpr int kExitFailed = 1;

int checked(int result, const char* what) {
  if (result < 0) throw SystemError(what, errno);
  return result;
}

// The working directory is the state directory, so the name is short enough for any socket (108 bytes).
FileDescriptor listen_here() {
  FileDescriptor fd(checked(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket"));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, kSupervisorSocket, sizeof address.sun_path - 1);
  ::unlink(kSupervisorSocket);
  const mode_t before = ::umask(0177);
  const int bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(before);
  checked(bound, "cannot make supervisor.sock");
  checked(::listen(fd.get(), 16), "listen");
  return fd;
}

FileDescriptor take_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t mask;
  sigemptyset(&mask);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&mask, number);
  checked(::sigprocmask(SIG_BLOCK, &mask, nullptr), "sigprocmask");
  return FileDescriptor(checked(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
}

Predecessor myself() {
  const store::LockHolder holder = store::this_process("godwit supervise");
  return {holder.pid, holder.boot_id, holder.start_time};
}

struct Client {
  explicit Client(FileDescriptor socket) : fd(std::move(socket)), channel(fd.get()) {}
  FileDescriptor fd;
  wire::Channel channel;
  std::shared_ptr<const ClientEnvironment> environment;  // set by hello
  bool gone = false;
  bool watched_for_writing = false;
};

class Supervisor final : public RunnerListener {
 public:
  Supervisor(const SupervisorOptions& options, const std::string& state)
      : options_(options),
        lock_(store::FileLock::acquire(kSupervisorLock, "godwit supervise")),
        log_(kExitLog),
        runner_(log_, state, *this) {
    bury_predecessors(state);
    signals_ = take_signals();
    listener_ = listen_here();
    epoll_ = FileDescriptor(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create"));
    watch(signals_.get(), nullptr);
    watch(listener_.get(), &listener_);
  }

  // Until there is nothing to do for a while, or SIGTERM has ended all jobs.
  void run() {
    touch();
    while (!finished()) {
      turn();
      flush();
    }
    ::unlink(kSupervisorSocket);
  }

 private:
  void on_started(const wire::Started& started) override { broadcast(wire::Type::started, started); }
  void on_exited(const wire::Exited& exited) override {
    broadcast(wire::Type::exited, exited);
    touch();
  }

  void bury_predecessors(const std::string& state) {
    if (log_.cut_bytes() > 0) fmt::print(stderr, "exits.log: cut a torn tail of {} bytes\n", log_.cut_bytes());
    const std::vector<std::string> open = log_.open_attempts();
    if (!open.empty()) {
      const int killed = kill_strays(state, log_.predecessors());
      fmt::print(stderr, "{} attempts of a dead supervisor are lost; killed {} of their processes\n", open.size(),
                 killed);
    }
    for (const std::string& key : open) runner_.lost(key);
    log_.set_supervisor(myself());
  }

  void watch(int fd, void* tag, bool writing = false, int operation = EPOLL_CTL_ADD) {
    epoll_event event{};
    event.events = EPOLLIN | (writing ? EPOLLOUT : 0u);
    event.data.ptr = tag;
    checked(::epoll_ctl(epoll_.get(), operation, fd, &event), "epoll_ctl");
  }

  void touch() { active_at_ = system_clock().monotonic(); }

  bool finished() const {
    if (stopping_ && runner_.runs_nothing()) return true;
    return runner_.idle() && clients_.empty() && system_clock().monotonic() - active_at_ >= options_.idle_s * kSecond;
  }

  int timeout_ms() const {
    std::optional<Micros> next = runner_.next_deadline();
    if (runner_.idle() && clients_.empty()) next = active_at_ + options_.idle_s * kSecond;
    if (!next) return -1;
    const Micros wait = *next - system_clock().monotonic();
    return wait <= 0 ? 0 : static_cast<int>(std::min<Micros>(wait / 1000 + 1, 60'000));
  }

  void turn() {
    std::array<epoll_event, 64> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms());
    if (count < 0 && errno != EINTR) throw SystemError("epoll_wait", errno);
    for (int i = 0; i < count; ++i) {
      void* tag = events[static_cast<std::size_t>(i)].data.ptr;
      if (tag == nullptr)
        take_signal();
      else if (tag == &listener_)
        accept_clients();
      else
        read(*static_cast<Client*>(tag));
    }
    if (const auto next = runner_.next_deadline(); next && *next <= system_clock().monotonic()) runner_.tick();
  }

  void take_signal() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) {
        stopping_ = true;
        runner_.stop();
      }
    }
    runner_.reap();
  }

  void accept_clients() {
    for (;;) {
      FileDescriptor fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd.is_open()) return;
      Client& client = clients_.emplace_back(std::move(fd));
      watch(client.fd.get(), &client);
      touch();
    }
  }

  void read(Client& client) {
    if (client.gone) return;
    try {
      const bool open = client.channel.receive();
      while (const auto frame = client.channel.next()) handle(client, *frame);
      client.gone = client.gone || !open;
    } catch (const wire::WireError& error) {
      fmt::print(stderr, "dropped a client: {}\n", error.what());
      client.gone = true;
    }
  }

  void handle(Client& client, const wire::Frame& frame) {
    switch (frame.type) {
      case wire::Type::hello:
        return greet(client, wire::decode<wire::Hello>(frame.body));
      case wire::Type::launch:
        return launch(client, wire::decode<wire::Launch>(frame.body));
      case wire::Type::cancel: {
        const auto cancel = wire::decode<wire::Cancel>(frame.body);
        for (const std::string& key : cancel.keys) runner_.cancel(key, cancel.now);
        return;
      }
      case wire::Type::attach:
        for (const std::string& key : wire::decode<wire::Keys>(frame.body).keys) tell(client, key);
        return;
      case wire::Type::query: {
        wire::Answer answer;
        for (const std::string& key : wire::decode<wire::Keys>(frame.body).keys)
          answer.known.push_back(runner_.knows(key));
        return client.channel.send(wire::Type::answer, answer);
      }
      default:
        throw wire::WireError(fmt::format("unknown message {}", static_cast<int>(frame.type)));
    }
  }

  void greet(Client& client, wire::Hello hello) {
    // What a client that died had sent is taken first: else the new one would be told that nobody knows an attempt
    // which is about to start.
    for (Client& other : clients_)
      if (&other != &client) read(other);
    client.channel.send(wire::Type::welcome, wire::Welcome{wire::kVersion, ::getpid()});
    if (hello.version != wire::kVersion) return;
    client.environment = std::make_shared<const ClientEnvironment>(
        ClientEnvironment{std::move(hello.environment), std::move(hello.secrets)});
    runner_.offer(hello.sites);
  }

  void launch(Client& client, wire::Launch job) {
    if (!client.environment) throw wire::WireError("a launch before hello");
    if (runner_.knows(job.key)) return tell(client, job.key);
    runner_.launch(std::move(job), client.environment);
  }

  void tell(Client& client, const std::string& key) {
    if (const auto running = runner_.running(key))
      client.channel.send(wire::Type::started, *running);
    else if (const auto exit = log_.exit_of(key))
      client.channel.send(wire::Type::exited, wire::Exited{key, *exit});
    else if (!runner_.knows(key))
      client.channel.send(wire::Type::stranger, wire::Keys{{key}});
  }

  template <typename T>
  void broadcast(wire::Type type, const T& message) {
    for (Client& client : clients_)
      if (client.environment) client.channel.send(type, message);
  }

  void flush() {
    for (auto client = clients_.begin(); client != clients_.end();) {
      if (!client->gone && !client->channel.flush()) client->gone = true;
      if (client->gone) {
        // Not left to close(): a child that has just been made shares the socket until it executes, and epoll would go
        // on telling of a client that is no more.
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, client->fd.get(), nullptr);
        client = clients_.erase(client);
        touch();
        continue;
      }
      const bool writing = client->channel.wants_to_write();
      if (writing != client->watched_for_writing) {
        watch(client->fd.get(), &*client, writing, EPOLL_CTL_MOD);
        client->watched_for_writing = writing;
      }
      ++client;
    }
  }

  SupervisorOptions options_;
  store::FileLock lock_;
  ExitLog log_;
  FileDescriptor signals_, listener_, epoll_;
  std::list<Client> clients_;  // epoll holds their addresses
  JobRunner runner_;
  Micros active_at_ = 0;
  bool stopping_ = false;
};

// Nothing of the starter's may stay open in a process that outlives it.
void close_inherited() {
  if (::close_range(3, ~0u, 0) == 0) return;
  const long most = ::sysconf(_SC_OPEN_MAX);
  for (int fd = 3; fd < static_cast<int>(std::min(most, 65536L)); ++fd) ::close(fd);
}

void redirect(const char* path, int flags, int to) {
  const FileDescriptor fd(checked(::open(path, flags | O_CLOEXEC, 0666), path));
  checked(::dup2(fd.get(), to), path);
}

void say(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());  // nobody may listen
}

int supervise_detached(const SupervisorOptions& options) {
  std::optional<Supervisor> supervisor;
  try {
    redirect("/dev/null", O_RDWR, STDIN_FILENO);
    redirect(kSupervisorLog, O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO);
    checked(::prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl");
    supervisor.emplace(options, state_id("."));
  } catch (const std::exception& error) {
    say(error.what());
    fmt::print(stderr, "{}\n", error.what());
    return kExitFailed;
  }
  say("ready");
  redirect("/dev/null", O_RDWR, STDOUT_FILENO);
  try {
    supervisor->run();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kExitFailed;
  }
}

}  // namespace

int supervise(const std::string& state_dir, const SupervisorOptions& options) {
  if (::chdir(state_dir.c_str()) != 0) {
    const int error = errno;
    say("cannot enter " + state_dir);  // whoever started us reads this, people read what is thrown
    throw SystemError("cannot enter " + state_dir, error);
  }
  const pid_t child = checked(::fork(), "fork");
  if (child != 0) return 0;
  ::setsid();
  close_inherited();
  return supervise_detached(options);
}

}  // namespace godwit::jobs
