#include "godwit/jobs/metrics_follower.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

// Where the experiment names the file, it is an output.
bool is_expected(const JobSpec& spec) {
  const auto is_metrics = [&](const OutputFile& output) { return output.name == spec.metrics_file; };
  return std::any_of(spec.outputs.begin(), spec.outputs.end(), is_metrics);
}

std::string left_none(const std::string& name) {
  return fmt::format("it left no {}", name);
}

class LineFollower final : public MetricsFollower {
 public:
  LineFollower(std::string sandbox, const JobSpec& spec)
      : sandbox_(std::move(sandbox)), name_(spec.metrics_file), expected_(is_expected(spec)) {}

  void read(const OnLine& on_line, bool last) override {
    const auto path = path_in(sandbox_, name_);
    if (!path) return;
    // Not blocking, because a job may put a FIFO there.
    const store::FileDescriptor file(::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open()) return;
    there_ = true;
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

  std::string trouble() const override {
    if (objects_ > 0) return {};
    if (lines() > 0) return fmt::format("no line of its {} is a JSON object", name_);
    if (there_ && !pending_.empty()) return fmt::format("its {} holds no lines", name_);
    if (!expected_) return {};
    return there_ ? fmt::format("its {} is empty", name_) : left_none(name_);
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
    const std::string_view content = trim(line);
    if (content.empty()) return;
    if (content.front() == '{' && content.back() == '}') ++objects_;
    give(line, offset_, on_line);
  }

  std::string sandbox_;
  std::string name_;
  bool expected_;
  bool there_ = false;
  std::uint64_t objects_ = 0;  // lines that look like one
  std::uint64_t offset_ = 0;   // of pending_'s first byte
  std::string pending_;        // read, but not given
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
      : sandbox_(std::move(sandbox)),
        name_(spec.metrics_file),
        first_epoch_(spec.metrics_first_epoch),
        trouble_(left_none(name_)) {}

  void read(const OnLine& on_line, bool last) override {
    const auto path = path_in(sandbox_, name_);
    struct stat info{};
    if (!path || ::stat(path->c_str(), &info) != 0) return;
    if (!S_ISREG(info.st_mode)) {
      trouble_ = fmt::format("its {} is no file", name_);
      return;
    }
    const auto state = std::tuple(info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    if (!last && state == state_) return;
    state_ = state;
    // What is wrong may be so because it is being written just now: it is looked at again.
    try {
      const Table table = read_table(read_file(*path, kLargestTable), name_, TableFormat::csv);
      const Epochs epochs = epochs_of(table);
      trouble_ = epochs.empty() ? trouble_with(table) : std::string();
      give_new(epochs, on_line, last);
    } catch (const InputError& error) {
      state_ = {};
      const Diagnostic& first = error.diagnostics().front();
      trouble_ = fmt::format("its {} is no CSV table: {}{}", name_, first.message,
                             first.position.line == 0 ? "" : fmt::format(" (line {})", first.position.line));
    } catch (const Error& error) {
      state_ = {};
      trouble_ = error.what();
    }
  }

  std::string trouble() const override { return lines() > 0 ? std::string() : trouble_; }

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

  // Of a table without epochs.
  std::string trouble_with(const Table& table) const {
    if (!table.column("epoch"))
      return fmt::format("its {} has no column 'epoch'; its columns are {}", name_, join(table.names(), ", "));
    if (table.rows() == 0) return fmt::format("its {} has no rows", name_);
    return fmt::format("no row of its {} has a whole number from {} on under 'epoch'", name_, first_epoch_);
  }

  void give_new(const Epochs& epochs, const OnLine& on_line, bool last) {
    for (const auto& [epoch, json] : epochs) {
      const bool newest = epoch == epochs.rbegin()->first;
      if (epoch <= given_ || (newest && !(last && is_whole(json)))) continue;
      give(dump(json), static_cast<std::uint64_t>(epoch), on_line);
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
  std::string trouble_;
};

}  // namespace

std::unique_ptr<MetricsFollower> follow_metrics(const std::string& sandbox, const JobSpec& spec) {
  if (spec.metrics_table) return std::make_unique<TableFollower>(sandbox, spec);
  return std::make_unique<LineFollower>(sandbox, spec);
}

}  // namespace godwit::jobs
