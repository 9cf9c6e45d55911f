#include "godwit/jobs/metrics_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "godwit/base/error.h"
#include "godwit/base/file.h"
#include "godwit/base/json.h"
#include "godwit/base/table.h"
#include "godwit/base/text.h"
#include "godwit/jobs/staging.h"
#include "godwit/store/file_descriptor.h"

namespace godwit::jobs {
namespace {

// A line that grows beyond this is no metrics; it is dropped. A table beyond that is none either.
constexpr std::size_t kLongestLine = 1u << 20;
constexpr std::size_t kLargestTable = 64u << 20;

// Nothing where the file is not there, or leads out of the sandbox: then it is nothing of ours (staging out will say
// so).
std::optional<std::string> path_in(const std::string& sandbox, const std::string& name) {
  try {
    return resolve_within(sandbox, name);
  } catch (const TransferError&) {
    return std::nullopt;
  }
}

class LineFollower final : public MetricsFollower {
 public:
  LineFollower(std::string sandbox, std::string name) : sandbox_(std::move(sandbox)), name_(std::move(name)) {}

  void read(const OnLine& on_line, bool last) override {
    const auto path = path_in(sandbox_, name_);
    if (!path) return;
    // Not blocking, because a job may put a FIFO there.
    const store::FileDescriptor file(::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
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
      give_line(pending_, on_line);
      offset_ += pending_.size();
      pending_.clear();
    }
  }

 private:
  void take_lines(const OnLine& on_line) {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      give_line(std::string_view(pending_).substr(begin, end - begin), on_line);
      offset_ += end + 1 - begin;
    }
    pending_.erase(0, begin);
    if (pending_.size() <= kLongestLine) return;
    offset_ += pending_.size();
    pending_.clear();
  }

  void give_line(std::string_view line, const OnLine& on_line) {
    if (!trim(line).empty()) give(line, offset_, on_line);
  }

  std::string sandbox_;
  std::string name_;
  std::uint64_t offset_ = 0;  // of pending_'s first byte
  std::string pending_;       // read, but not given
};

std::optional<std::int64_t> whole_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value < 0 || value >= 1e9) return std::nullopt;
  const auto number = static_cast<std::int64_t>(value);
  return static_cast<double>(number) == value ? std::optional(number) : std::nullopt;
}

// A number where it is one; NaN and infinities as metrics have them; else text.
Json cell_value(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return text;
  if (value != value) return "NaN";
  if (value - value != 0) return value > 0 ? "Infinity" : "-Infinity";
  if (const auto number = whole_number(text)) return *number;
  return value;
}

class TableFollower final : public MetricsFollower {
 public:
  TableFollower(std::string sandbox, const JobSpec& spec)
      : sandbox_(std::move(sandbox)), name_(spec.metrics_file), first_epoch_(spec.metrics_first_epoch) {}

  void read(const OnLine& on_line, bool last) override {
    const auto path = path_in(sandbox_, name_);
    struct stat info{};
    if (!path || ::stat(path->c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    const auto state = std::tuple(info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    if (!last && state == state_) return;
    state_ = state;
    try {
      give_new(epochs_of(read_table(read_file(*path, kLargestTable), name_, TableFormat::csv)), on_line, last);
    } catch (const Error&) {
      state_ = {};  // it is being written just now, or is no table: looked at again
    }
  }

 private:
  using Epochs = std::map<std::int64_t, Json>;

  Epochs epochs_of(const Table& table) const {
    Epochs epochs;
    const auto column = table.column("epoch");
    if (!column) return epochs;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const auto number = whole_number(table.at(row, *column));
      if (!number || *number < first_epoch_) continue;
      const std::int64_t epoch = *number - first_epoch_ + 1;
      Json& json = epochs[epoch];
      json["epoch"] = epoch;
      for (std::size_t i = 0; i < table.columns(); ++i)
        if (i != *column && !table.at(row, i).empty()) json[table.names()[i]] = cell_value(table.at(row, i));
    }
    return epochs;
  }

  void give_new(const Epochs& epochs, const OnLine& on_line, bool last) {
    for (const auto& [epoch, json] : epochs) {
      const bool newest = epoch == epochs.rbegin()->first;
      if (epoch <= given_ || (newest && !(last && is_whole(json)))) continue;
      give(json.dump(-1, ' ', false, Json::error_handler_t::replace), static_cast<std::uint64_t>(epoch), on_line);
      given_ = epoch;
      given_json_ = json;
    }
  }

  bool is_whole(const Json& json) const {
    for (const auto& [key, value] : given_json_.items())
      if (!json.contains(key)) return false;
    return true;
  }

  std::string sandbox_;
  std::string name_;
  std::int64_t first_epoch_;
  std::tuple<ino_t, off_t, time_t, long> state_{};  // of the file, when it was read
  std::int64_t given_ = 0;                          // the last epoch
  Json given_json_ = Json::object();
};

}  // namespace

std::unique_ptr<MetricsFollower> follow_metrics(const std::string& sandbox, const JobSpec& spec) {
  if (spec.metrics_table) return std::make_unique<TableFollower>(sandbox, spec);
  return std::make_unique<LineFollower>(sandbox, spec.metrics_file);
}

}  // namespace godwit::jobs
