#include "godwit/dag/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "godwit/base/error.h"

namespace godwit::dag {

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)),
      temporary_((path_.parent_path() / ("." + path_.filename().string() + '.' + std::to_string(::getpid()))).string()),
      buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) throw SystemError("cannot write " + path_.string(), errno);
}

OutputFile::~OutputFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void OutputFile::put_slowly(std::string_view text) {
  write_out({buffer_.get(), used_});
  used_ = 0;
  if (text.size() > kBufferBytes) return write_out(text);
  put(text);
}

void OutputFile::write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw SystemError("cannot write " + path_.string(), errno);
    text.remove_prefix(static_cast<std::size_t>(written));
    flushed_ += static_cast<std::uint64_t>(written);
  }
}

void OutputFile::finish() {
  write_out({buffer_.get(), used_});
  used_ = 0;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw SystemError("cannot write " + path_.string(), errno);
  ::close(std::exchange(file_, -1));
}

}  // namespace godwit::dag
