#include "godwit/cli/background.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "godwit/base/error.h"
#include "godwit/cli/command.h"

namespace godwit::cli {

void Background::say(char verdict, const std::string& message) {
  if (fd_ < 0) return;
  const std::string text = verdict + message;
  // The parent reads to the end; a parent that is gone does not need the word.
  if (write(fd_, text.data(), text.size()) < 0 && errno != EPIPE) perror("cannot report to the foreground");
  close(fd_);
  fd_ = -1;
}

void Background::ready() {
  say('+', "");
}
void Background::failed(const std::string& message) {
  say('-', message);
}

namespace {

void leave_terminal(int output) {
  setsid();
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0) throw SystemError("cannot read /dev/null", errno);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
}

// As cli::run() says it; what InputError says has its "error:" already.
std::string rendered(const std::exception& error) {
  if (dynamic_cast<const InputError*>(&error) != nullptr) return error.what();
  const auto* ours = dynamic_cast<const Error*>(&error);
  const std::string hint = ours == nullptr || ours->hint().empty() ? "" : "\n  " + ours->hint();
  return fmt::format("error: {}{}", error.what(), hint);
}

[[noreturn]] void be_the_background(int log, int fd, const std::function<int(Background&)>& work) {
  Background background(fd);
  int code = kFailed;
  try {
    leave_terminal(log);
    code = work(background);
    background.ready();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", rendered(error));
    background.failed(rendered(error));
  }
  std::fflush(nullptr);
  _exit(code);
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

int run_in_background(const std::string& log, const std::function<void(pid_t)>& begun,
                      const std::function<int(Background&)>& work) {
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (output < 0) throw SystemError("cannot write " + log, errno);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw SystemError("cannot make a pipe", errno);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw SystemError("cannot fork", errno);
  if (child == 0) {
    close(ends[0]);
    be_the_background(output, ends[1], work);
  }
  close(output);
  close(ends[1]);
  const std::string word = read_all(ends[0]);
  close(ends[0]);
  if (!word.empty() && word[0] == '+') {
    begun(child);
    return kSuccess;
  }
  waitpid(child, nullptr, 0);
  if (word.empty()) throw InputError("the background process ended before it began", "see " + log);
  // It is rendered already, with its place.
  fmt::print(stderr, "{}\n", word.substr(1));
  return kBadInput;
}

}  // namespace godwit::cli
