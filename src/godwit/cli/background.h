// Running a command's work in the background, for --detach.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace godwit::cli {

// The background process's word to the one that started it.
class Background {
 public:
  explicit Background(int fd) : fd_(fd) {}
  // "It runs": the process that was started by the person ends with success now.
  void ready();
  void failed(const std::string& message);

 private:
  void say(char verdict, const std::string& message);
  int fd_;
};

// Forks; the child leaves the terminal, writes its output to the file `log` and does `work`, whose result is its exit
// code. Returns in the parent once the work is ready (`begun` hears the process) or failed: 0, or 2 with the error on
// standard error. Must be called before any thread is started.
int run_in_background(const std::string& log, const std::function<void(pid_t)>& begun,
                      const std::function<int(Background&)>& work);

}  // namespace godwit::cli
