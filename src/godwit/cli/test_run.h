// For tests: runs a command of the program in this process and keeps what it printed.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "godwit/cli/app.h"

namespace godwit::cli {

struct Ran {
  int code = 0;
  std::string out, err;
};

// A standard stream that goes to a file while this lives.
class Captured {
 public:
  explicit Captured(std::FILE* stream) : stream_(stream), file_(std::tmpfile()) {
    std::fflush(stream_);
    before_ = ::dup(::fileno(stream_));
    ::dup2(::fileno(file_), ::fileno(stream_));
  }
  ~Captured() {
    std::fflush(stream_);
    ::dup2(before_, ::fileno(stream_));
    ::close(before_);
    std::fclose(file_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text() const {
    std::fflush(stream_);
    std::string out;
    char block[4096];
    ::off_t at = 0;
    for (ssize_t got = 0; (got = ::pread(::fileno(file_), block, sizeof block, at)) > 0; at += got)
      out.append(block, static_cast<std::size_t>(got));
    return out;
  }

 private:
  std::FILE* stream_;
  std::FILE* file_;
  int before_ = -1;
};

// run_command({"status", "--json"}): the arguments without the program's name.
inline Ran run_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "godwit");
  std::vector<char*> argv;
  argv.reserve(arguments.size());
  for (std::string& argument : arguments) argv.push_back(argument.data());
  const Captured out(stdout);
  const Captured err(stderr);
  const int code = run(static_cast<int>(argv.size()), argv.data());
  return {code, out.text(), err.text()};
}

}  // namespace godwit::cli
