#include "metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "godwit/base/error.h"

namespace protein_lm {

void append_line(const std::string& path, const std::string& line) {
  if (path.empty()) return;
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) throw godwit::SystemError("cannot open the metrics file: " + path, errno);
  const std::string bytes = line + '\n';  // in one write, so that a reader sees whole lines
  const ssize_t written = write(file, bytes.data(), bytes.size());
  const int code = written < 0 ? errno : ENOSPC;
  close(file);
  if (written != static_cast<ssize_t>(bytes.size()))
    throw godwit::SystemError("cannot add to the metrics file: " + path, code);
}

}  // namespace protein_lm
