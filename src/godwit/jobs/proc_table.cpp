#include "godwit/jobs/proc_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <memory>

#include "godwit/base/text.h"
#include "godwit/store/file_descriptor.h"

namespace godwit::jobs {
namespace {

// Files of /proc have no size, and one of a dying process may fail at any time: then there is nothing.
std::string read_all(int fd) {
  std::string content;
  std::array<char, 8192> buffer;
  for (;;) {
    const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(content.size()));
    if (got <= 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::string read_proc(const std::string& path) {
  const store::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.is_open() ? read_all(file.get()) : std::string();
}

template <typename Int>
Int number(std::string_view text) {
  Int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "12345 (name) S 1 …": the name may hold anything, parentheses too.
std::optional<Process> parse_stat(pid_t pid, std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  const auto fields = split_words(stat.substr(name_end + 1));  // from the third field (state) on, as proc(5) counts
  if (fields.size() < 22) return std::nullopt;
  static const std::uint64_t kPageKb = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
  Process out;
  out.pid = pid;
  out.state = fields[0].front();
  out.parent = number<pid_t>(fields[1]);
  out.group = number<pid_t>(fields[2]);
  out.session = number<pid_t>(fields[3]);
  out.start_ticks = number<std::uint64_t>(fields[19]);
  out.resident_kb = number<std::uint64_t>(fields[21]) * kPageKb;
  return out;
}

// The number behind `label` in a file of "label number" lines.
std::optional<std::uint64_t> labelled(std::string_view content, std::string_view label) {
  for (const std::string_view line : split(content, '\n'))
    if (line.starts_with(label)) return number<std::uint64_t>(trim(line.substr(label.size())));
  return std::nullopt;
}

}  // namespace

std::optional<Process> process(pid_t pid) {
  return parse_stat(pid, read_proc(fmt::format("/proc/{}/stat", pid)));
}

std::vector<Process> all_processes() {
  std::vector<Process> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (!folder) return out;
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto pid = number<pid_t>(entry->d_name);
    if (pid <= 0) continue;
    if (const auto found = process(pid)) out.push_back(*found);
  }
  return out;
}

std::vector<pid_t> own_children() {
  const pid_t self = ::getpid();
  // Kept open: this is asked at every end of a job.
  static const store::FileDescriptor file(
      ::open(fmt::format("/proc/self/task/{}/children", self).c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<pid_t> out;
  if (file.is_open()) {
    const std::string children = read_all(file.get());
    for (const std::string_view word : split_words(children)) out.push_back(number<pid_t>(word));
    return out;
  }
  for (const Process& process : all_processes())  // a kernel without CONFIG_PROC_CHILDREN
    if (process.parent == self) out.push_back(process.pid);
  return out;
}

std::optional<std::string> environment_value(pid_t pid, std::string_view name) {
  const std::string environment = read_proc(fmt::format("/proc/{}/environ", pid));
  for (const std::string_view entry : split(environment, '\0'))
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return std::string(entry.substr(name.size() + 1));
  return std::nullopt;
}

std::optional<std::uint64_t> proportional_kb(pid_t pid) {
  return labelled(read_proc(fmt::format("/proc/{}/smaps_rollup", pid)), "Pss:");
}

std::uint64_t kernel_oom_kills() {
  return labelled(read_proc("/proc/vmstat"), "oom_kill ").value_or(0);
}

}  // namespace godwit::jobs
