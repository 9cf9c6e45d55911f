#include "godwit/jobs/metrics_follower.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "godwit/base/text.h"
#include "godwit/jobs/staging.h"
#include "godwit/store/file_descriptor.h"

namespace godwit::jobs {
namespace {

// A line that grows beyond this is no metrics; it is dropped.
constexpr std::size_t kLongestLine = 1u << 20;

}  // namespace

void MetricsFollower::read(const OnLine& on_line, bool last) {
  std::string path;
  try {
    const auto found = resolve_within(sandbox_, name_);
    if (!found) return;
    path = *found;
  } catch (const TransferError&) {
    return;  // it leads out of the sandbox: nothing of ours (staging out will say so)
  }
  // Not blocking, because a job may put a FIFO there.
  const store::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return;
  std::array<char, 64u << 10> buffer;
  for (;;) {
    const auto at = static_cast<off_t>(offset_ + pending_.size());
    const ssize_t got = ::pread(file.get(), buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    pending_.append(buffer.data(), static_cast<std::size_t>(got));
    take_lines(on_line);
  }
  if (last && trim(pending_).ends_with('}')) {
    give(pending_, on_line);
    offset_ += pending_.size();
    pending_.clear();
  }
}

void MetricsFollower::take_lines(const OnLine& on_line) {
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    give(std::string_view(pending_).substr(begin, end - begin), on_line);
    offset_ += end + 1 - begin;
  }
  pending_.erase(0, begin);
  if (pending_.size() <= kLongestLine) return;
  offset_ += pending_.size();
  pending_.clear();
}

void MetricsFollower::give(std::string_view line, const OnLine& on_line) {
  if (trim(line).empty()) return;
  ++lines_;
  on_line(line, offset_);
}

}  // namespace godwit::jobs
