#include "godwit/jobs/exit_log.h"

namespace godwit::jobs {
namespace {

enum class Kind : std::uint8_t { supervisor = 1, start = 2, end = 3 };

struct StartRecord {
  std::string key;
  Micros time = 0;
  static void visit(auto& self, auto& code) { code(self.key, self.time); }
};

// An end's record is at most this much longer than its key: numbers, and the sentence of one that was not started.
constexpr std::uint64_t kMostEndBytes = 512;

template <typename T>
std::string record_of(Kind kind, const T& value) {
  return static_cast<char>(kind) + wire::encode(value);
}

}  // namespace

ExitLog::ExitLog(const std::string& path)
    : log_(path, [this](std::uint64_t offset, std::string_view record) { replay(offset, record); }) {}

void ExitLog::replay(std::uint64_t offset, std::string_view record) {
  const std::string_view body = record.substr(1);
  switch (static_cast<Kind>(record.front())) {
    case Kind::supervisor:
      // One that found nothing open has nothing to do with what its predecessors left.
      if (open_.empty()) predecessors_.clear();
      predecessors_.push_back(wire::decode<Predecessor>(body));
      return;
    case Kind::start: {
      const auto start = wire::decode<StartRecord>(body);
      remember_start(start.key, start.time);
      return;
    }
    case Kind::end: {
      const auto end = wire::decode<wire::Exited>(body);
      remember_end(end.key, offset);
      return;
    }
  }
  throw Error("exits.log has a record of a kind that this version does not know",
              "A newer godwit wrote it: use that one.");
}

std::vector<std::string> ExitLog::open_attempts() const {
  std::vector<std::string> keys;
  keys.reserve(open_.size());
  for (const auto& [key, time] : open_) keys.push_back(key);
  return keys;
}

std::optional<wire::Exit> ExitLog::exit_of(const std::string& key) const {
  const auto found = records_.find(hash128(key));
  if (found == records_.end() || found->second == 0) return std::nullopt;
  return wire::decode<wire::Exited>(std::string_view(log_.read(found->second)).substr(1)).exit;
}

bool ExitLog::started(const std::string& key, Micros time) {
  const std::string record = record_of(Kind::start, StartRecord{key, time});
  const std::uint64_t for_its_end = key.size() + kMostEndBytes;
  const std::uint64_t now = record.size() + store::kRecordOverhead + (self_ ? kMostEndBytes : 0);
  if (!log_.reserve(now + promised_ + for_its_end)) return false;
  if (self_) log_.append(record_of(Kind::supervisor, *self_));
  self_.reset();
  log_.append(record);
  remember_start(key, time);
  return true;
}

void ExitLog::ended(const std::string& key, const wire::Exit& exit) {
  wire::Exited record{key, exit};
  if (record.exit.what.size() > kMostEndBytes / 2) record.exit.what.resize(kMostEndBytes / 2);
  remember_end(key, log_.append(record_of(Kind::end, record)));
}

void ExitLog::remember_start(const std::string& key, Micros time) {
  records_.emplace(hash128(key), 0);
  if (open_.emplace(key, time).second) promised_ += key.size() + kMostEndBytes;
}

void ExitLog::remember_end(const std::string& key, std::uint64_t offset) {
  records_[hash128(key)] = offset;
  if (open_.erase(key) > 0) promised_ -= key.size() + kMostEndBytes;
}

}  // namespace godwit::jobs
