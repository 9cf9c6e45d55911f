#include "godwit/jobs/local_executor.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

#include "godwit/base/error.h"
#include "godwit/base/json.h"
#include "godwit/jobs/classify.h"
#include "godwit/jobs/launch.h"
#include "godwit/jobs/metrics_follower.h"
#include "godwit/jobs/sandbox.h"
#include "godwit/jobs/setup.h"
#include "godwit/jobs/staging.h"
#include "godwit/jobs/supervisor_client.h"
#include "godwit/jobs/wire.h"
#include "godwit/jobs/work_pool.h"

namespace godwit::jobs {
namespace {

using store::FileDescriptor;

constexpr std::int64_t kMetricsPeriodNs = 500'000'000;
// How many attempts of a site are prepared and handed over beyond those that run: sandboxes take disk, plain jobs none.
constexpr std::size_t kStagedAhead = 2;
constexpr std::size_t kPlainAhead = 64;
constexpr int kMostDeaths = 20;  // of supervisors, with no job started or ended in between, before we give up

enum class Stage : std::uint8_t { waiting, staging_in, handed_over, active, staging_out, ended };

struct MetricsLine {
  AttemptKey key;
  std::string line;
  std::uint64_t offset;
};

struct NoMetrics {
  AttemptKey key;
  std::string why;
};

using Event = std::variant<StatusEvent, MetricsLine, NoMetrics>;  // for the caller

// A site's attempts that are not yet handed over, and how many are.
struct Site {
  LocalSite offer;
  std::deque<std::string> waiting;
  std::size_t out = 0;

  std::size_t room(bool plain) const {
    const std::size_t at_once = offer.slots != 0 ? offer.slots : offer.cpus;
    if (at_once == 0) return std::numeric_limits<std::size_t>::max();
    return 2 * at_once + (plain ? kPlainAhead : kStagedAhead);
  }
};

struct Record {
  Attempt attempt;
  Site* site = nullptr;  // where it takes a slot
  Stage stage = Stage::waiting;
  bool plain = false;   // no files to bring
  bool empty = false;   // it left none
  bool ours = true;     // submitted by this process, not attached
  bool cancel = false;  // while it was staged in
  bool keep = false;    // its sandbox says something to people
  std::unique_ptr<MetricsFollower> metrics;
  bool followed = false;
};

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

Ending not_run(Outcome outcome, std::string detail) {
  Ending ending;
  ending.outcome = outcome;
  ending.detail = std::move(detail);
  ending.started = ending.ended = system_clock().now();
  return ending;
}

Ending ending_of(const TransferError& error, Outcome otherwise) {
  const bool full = error.code() == ENOSPC || error.code() == EDQUOT;
  return not_run(full ? Outcome::disk_full : otherwise, error.what());
}

std::string directory_of(const SandboxArea& area, const Attempt& attempt) {
  return attempt.spec->sandbox ? area.path_of(attempt.key) : attempt.spec->directory;
}

// What comes of preparing an attempt: a program to execute, or the end already.
using Prepared = std::variant<std::string, Ending>;

Prepared prepare(const SandboxArea& area, const Attempt& attempt) {
  try {
    if (attempt.spec->sandbox)
      if (const auto remains = area.make(attempt.key)) SandboxArea::remove_remains(*remains);
    stage_in(area, attempt);
  } catch (const InputChanged& error) {
    return not_run(Outcome::input_changed, error.what());
  } catch (const TransferError& error) {
    return ending_of(error, Outcome::transfer_failed);
  } catch (const SystemError& error) {
    return ending_of(TransferError(error.what(), error.code()), Outcome::transfer_failed);
  }
  try {
    return program_of(*attempt.spec);
  } catch (const TransferError& error) {
    return ending_of(error, Outcome::not_started);
  }
}

class LocalExecutor final : public JobExecutor {
 public:
  explicit LocalExecutor(LocalExecutorOptions options)
      : options_(std::move(options)),
        area_(options_.state_dir, options_.spool_dir),
        client_(options_.state_dir, supervisor_command(options_)),
        host_(host_name()),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        kick_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
        pool_(std::max(1u, options_.threads)) {
    if (!epoll_.is_open() || !kick_.is_open() || !timer_.is_open()) throw SystemError("cannot watch events", errno);
    for (const LocalSite& site : options_.sites) sites_[site.name].offer = site;
    for (const int fd : {kick_.get(), timer_.get(), pool_.fd()}) watch(fd, EPOLLIN, EPOLL_CTL_ADD);
    connect();
    for (const std::string& path : area_.old_remains()) remove_later(path);
  }

  std::string name() const override { return "local"; }
  int wake_fd() const override { return epoll_.get(); }

  void submit(std::span<const Attempt> attempts) override {
    for (const Attempt& attempt : attempts) accept(attempt);
    for (auto& [name, site] : sites_) pump(site);
    exchange();
  }

  std::vector<Found> find(std::span<const AttemptKey> keys) override {
    wire::Keys query;
    for (const AttemptKey& key : keys) query.keys.push_back(key.text());
    const wire::Answer answer = ask(query);
    std::vector<Found> out;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool known = records_.contains(query.keys[i]) || (i < answer.known.size() && answer.known[i]);
      out.push_back(known ? Found::known : Found::unknown);
    }
    kick();
    return out;
  }

  void attach(std::span<const Attempt> attempts) override {
    wire::Keys keys;
    for (const Attempt& attempt : attempts) {
      const std::string key = attempt.key.text();
      if (records_.contains(key)) continue;
      Record& record = add(key, attempt);
      record.ours = false;
      record.stage = Stage::handed_over;
      if (record.site != nullptr) ++record.site->out;
      keys.keys.push_back(key);
    }
    client_.send(wire::Type::attach, keys);
    exchange();
  }

  void cancel(std::span<const AttemptKey> keys, bool now) override {
    wire::Cancel message;
    message.now = now;
    for (const AttemptKey& attempt : keys) {
      const std::string key = attempt.text();
      const auto found = records_.find(key);
      if (found == records_.end()) continue;
      Record& record = found->second;
      if (record.stage == Stage::waiting) {
        if (record.site != nullptr) std::erase(record.site->waiting, key);
        finish(record, not_run(Outcome::evicted, kWithdrawn));
      } else if (record.stage == Stage::staging_in) {
        record.cancel = true;
      } else if (record.stage == Stage::handed_over || record.stage == Stage::active) {
        message.keys.push_back(key);
      }
    }
    client_.send(wire::Type::cancel, message);
    exchange();
  }

  void poll(StatusSink& sink) override {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(kick_.get(), &count, sizeof count);
    if (::read(timer_.get(), &count, sizeof count) > 0) read_metrics();
    exchange();
    pool_.collect();
    for (auto& [name, site] : sites_) pump(site);
    exchange();
    // The sink may call us again: what that brings is for the next poll.
    const auto events = std::exchange(events_, {});
    for (const auto& event : events) {
      if (const auto* line = std::get_if<MetricsLine>(&event))
        sink.on_metrics(line->key, line->line, line->offset);
      else if (const auto* none = std::get_if<NoMetrics>(&event))
        sink.on_no_metrics(none->key, none->why);
      else
        sink.on_status(std::get<StatusEvent>(event));
    }
  }

  bool settled() const override {
    if (!events_.empty() || client_.wants_to_write()) return false;
    return std::none_of(records_.begin(), records_.end(), [](const auto& entry) {
      return entry.second.stage == Stage::staging_in || entry.second.stage == Stage::staging_out;
    });
  }

  void release(std::span<const AttemptKey> keys) override {
    bool kept = false;
    for (const AttemptKey& key : keys) {
      const auto found = records_.find(key.text());
      const bool has_sandbox = found == records_.end() || found->second.attempt.spec->sandbox;
      const bool keep = found != records_.end() && found->second.keep;
      if (found != records_.end()) records_.erase(found);
      if (!has_sandbox) continue;
      if (keep)
        kept = true;
      else
        remove_later(area_.discard(key));
    }
    if (!kept) return;
    for (const std::string& remains : area_.discard_oldest(options_.kept_sandboxes, sandboxes_in_use()))
      remove_later(remains);
  }

 private:
  static std::vector<std::string> supervisor_command(const LocalExecutorOptions& options) {
    if (!options.supervisor_command.empty()) return options.supervisor_command;
    return {"/proc/self/exe", "supervise"};
  }

  // --- events for the caller ---------------------------------------------------------------------------------------

  void kick() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(kick_.get(), &one, sizeof one);  // fails only when awake already
  }

  void tell(Event event) {
    if (events_.empty()) kick();
    events_.push_back(std::move(event));
  }

  void tell(const Record& record, JobState state, Micros time, std::optional<Ending> ending = {}, int pid = 0) {
    StatusEvent event;
    event.key = record.attempt.key;
    event.state = state;
    event.time = time;
    event.host = host_;
    event.ending = std::move(ending);
    if (pid != 0) event.native_id = std::to_string(pid);
    tell(std::move(event));
  }
  void tell(const Record& record, JobState state) { tell(record, state, system_clock().now()); }

  void read_metrics(Record& record, bool last = false) {
    if (!record.metrics) return;
    record.metrics->read(
        [&](std::string_view line, std::uint64_t offset) {
          tell(MetricsLine{record.attempt.key, std::string(line), offset});
        },
        last);
  }

  void read_metrics() {
    for (auto& [key, record] : records_)
      if (record.followed) read_metrics(record);
    set_timer();
  }

  // Once set it runs out even where nothing is followed any more: short jobs come and go.
  void set_timer() {
    timer_is_set_ = followed_ > 0;
    if (!timer_is_set_) return;
    itimerspec when{};
    when.it_value.tv_nsec = kMetricsPeriodNs;
    ::timerfd_settime(timer_.get(), 0, &when, nullptr);
  }

  void follow(Record& record, bool on) {
    if (!record.metrics || record.followed == on) return;
    record.followed = on;
    followed_ += on ? 1 : -1;
    if (!timer_is_set_) set_timer();
  }

  // --- an attempt's way --------------------------------------------------------------------------------------------

  Record& add(const std::string& key, const Attempt& attempt) {
    Record& record = records_[key];
    record.attempt = attempt;
    record.plain = brings_nothing(area_, attempt);
    if (attempt.key.phase == Phase::job) {
      const auto site = sites_.find(attempt.site);
      if (site != sites_.end()) record.site = &site->second;
    }
    if (!attempt.spec->metrics_file.empty() && attempt.spec->sandbox)
      record.metrics = follow_metrics(area_.path_of(attempt.key), *attempt.spec);
    return record;
  }

  void accept(const Attempt& attempt) {
    const std::string key = attempt.key.text();
    if (records_.contains(key)) return;
    Record& record = add(key, attempt);
    tell(record, JobState::queued);
    if (record.site != nullptr)
      record.site->waiting.push_back(key);
    else if (attempt.key.phase == Phase::job)
      finish(record, not_run(Outcome::not_started, "there is no local site '" + attempt.site + "'"));
    else
      begin(key, record);
  }

  void pump(Site& site) {
    while (!site.waiting.empty()) {
      const std::string key = site.waiting.front();
      Record& record = records_.at(key);
      if (site.out >= site.room(record.plain)) return;
      site.waiting.pop_front();
      ++site.out;
      begin(key, record);
    }
  }

  void begin(const std::string& key, Record& record) {
    record.stage = Stage::staging_in;
    if (record.plain) return prepared(key, prepare(area_, record.attempt));
    tell(record, JobState::stage_in);
    pool_.add([this, key, attempt = record.attempt]() -> WorkPool::Done {
      return [this, key, result = prepare(area_, attempt)] { prepared(key, result); };
    });
  }

  void prepared(const std::string& key, const Prepared& result) {
    Record& record = records_.at(key);
    if (record.cancel) return leave(record, not_run(Outcome::evicted, kWithdrawn));
    if (const auto* ending = std::get_if<Ending>(&result)) return leave(record, *ending);
    record.stage = Stage::handed_over;
    client_.send(wire::Type::launch, launch_of(record, std::get<std::string>(result)));
  }

  wire::Launch launch_of(const Record& record, std::string program) const {
    static const std::vector<std::string> kNone;
    wire::Launch launch = jobs::launch_of(record.attempt, directory_of(area_, record.attempt), std::move(program),
                                          record.site != nullptr ? record.site->offer.setup : kNone);
    launch.slotted = record.site != nullptr;
    return launch;
  }

  // It takes no slot any more.
  void leave_site(Record& record) {
    if (record.site != nullptr) --record.site->out;
  }
  void leave(Record& record, const Ending& ending) {
    leave_site(record);
    finish(record, ending);
  }

  // Some programs (PyTorch Lightning) answer SIGTERM by ending orderly, with exit code 0: what they reported says
  // whether they were done.
  static bool left_early(const Record& record) {
    const JobSpec& spec = *record.attempt.spec;
    if (record.metrics == nullptr) return false;
    const auto is_last = [](const auto& variable) { return variable.first == "GODWIT_LAST_EPOCH"; };
    const auto wanted = std::find_if(spec.environment.begin(), spec.environment.end(), is_last);
    if (wanted == spec.environment.end()) return false;
    const Json line = Json::parse(record.metrics->last_line(), nullptr, false);
    if (line.is_object() && line.contains("epoch") && line["epoch"].is_number_integer())
      return line["epoch"].get<std::int64_t>() < std::strtoll(wanted->second.c_str(), nullptr, 10);
    // It reports, and has not yet.
    const auto reports = [&](const OutputFile& output) { return output.name == spec.metrics_file; };
    return record.metrics->lines() == 0 && std::any_of(spec.outputs.begin(), spec.outputs.end(), reports);
  }

  static Ending told_to_leave(Ending ending) {
    ending.outcome = Outcome::evicted;
    ending.detail = "told to leave, it ended before its last epoch";
    return ending;
  }

  void exited(const std::string& key, Record& record, const wire::Exit& exit) {
    leave_site(record);
    record.empty = left_nothing(area_, record.attempt);
    if (!record.empty) read_metrics(record, true);
    follow(record, false);
    Ending ending = classify(exit, *record.attempt.spec);
    if (exit.cause == wire::Cause::itself && record.attempt.spec->sandbox && !record.empty)
      if (auto fault = failed_setup(area_.path_of(record.attempt.key))) {
        ending.outcome = Outcome::not_started;
        ending.detail = std::move(*fault);
      }
    if (exit.cause == wire::Cause::terminated && ending.success() && left_early(record))
      ending = told_to_leave(std::move(ending));
    if (ending.success() && record.metrics)
      if (std::string why = record.metrics->trouble(); !why.empty())
        tell(NoMetrics{record.attempt.key, std::move(why)});
    const std::optional<bool> progressed =
        record.metrics != nullptr ? std::optional(record.metrics->lines() > 0) : std::nullopt;
    record.stage = Stage::staging_out;
    if (record.empty) return finish(record, stage_out(area_, record.attempt, ending, progressed));
    tell(record, JobState::stage_out);
    pool_.add([this, key, attempt = record.attempt, ending, progressed]() -> WorkPool::Done {
      return [this, key, result = stage_out(area_, attempt, ending, progressed)] { finish(records_.at(key), result); };
    });
  }

  void finish(Record& record, const Ending& ending) {
    record.stage = Stage::ended;
    record.keep = went_wrong(ending) && !record.empty;
    const JobState state = ending.success()                     ? JobState::completed
                           : ending.outcome == Outcome::evicted ? JobState::canceled
                                                                : JobState::failed;
    tell(record, state, ending.ended, ending);
  }

  // --- the supervisor ----------------------------------------------------------------------------------------------

  void watch(int fd, std::uint32_t events, int operation) {
    epoll_event event{};
    event.events = events;
    if (::epoll_ctl(epoll_.get(), operation, fd, &event) != 0) throw SystemError("epoll_ctl", errno);
  }

  void connect() {
    wire::Hello hello;
    hello.environment = own_environment();
    for (const auto& [name, value] : options_.secrets) hello.secrets.push_back(fmt::format("{}={}", name, value));
    for (const auto& [name, site] : sites_)
      hello.sites.push_back({name, site.offer.slots, site.offer.cpus, site.offer.gpus, site.offer.memory_mb});
    client_.connect(hello);
    watch(client_.fd(), EPOLLIN, EPOLL_CTL_ADD);
    watched_for_writing_ = false;
  }

  // A new supervisor finds out what became of the dead one's jobs; what the dead one had only queued is sent again.
  void reconnect() {
    if (++deaths_in_vain_ > kMostDeaths)
      throw Error(
          fmt::format("the supervisor of {} died {} times without doing anything", options_.state_dir, deaths_in_vain_),
          "See " + options_.state_dir + "/supervisor.log");
    connect();
    wire::Keys keys;
    for (const auto& [key, record] : records_)
      if (record.stage == Stage::handed_over || record.stage == Stage::active) keys.keys.push_back(key);
    client_.send(wire::Type::attach, keys);
  }

  // Writes what is to be said and takes in what was said.
  void exchange() {
    while (!client_.exchange()) {
      take_frames();
      client_.disconnect();
      reconnect();
    }
    take_frames();
    if (client_.wants_to_write() == watched_for_writing_) return;
    watched_for_writing_ = !watched_for_writing_;
    watch(client_.fd(), EPOLLIN | (watched_for_writing_ ? EPOLLOUT : 0u), EPOLL_CTL_MOD);
  }

  void take_frames() {
    while (const auto frame = client_.next()) take(*frame);
  }

  void take(const wire::Frame& frame) {
    if (frame.type == wire::Type::started || frame.type == wire::Type::exited) deaths_in_vain_ = 0;
    switch (frame.type) {
      case wire::Type::started: {
        const auto started = wire::decode<wire::Started>(frame.body);
        Record* record = handed_over(started.key);
        if (record == nullptr || record->stage == Stage::active) return;
        record->stage = Stage::active;
        follow(*record, true);
        return tell(*record, JobState::active, started.time, {}, started.pid);
      }
      case wire::Type::exited: {
        const auto message = wire::decode<wire::Exited>(frame.body);
        if (Record* record = handed_over(message.key)) exited(message.key, *record, message.exit);
        return;
      }
      case wire::Type::stranger:
        for (const std::string& key : wire::decode<wire::Keys>(frame.body).keys)
          if (Record* record = handed_over(key)) estranged(*record);
        return;
      default:
        return;  // welcome and answer are waited for where they are asked for
    }
  }

  Record* handed_over(const std::string& key) {
    const auto found = records_.find(key);
    if (found == records_.end()) return nullptr;
    const Stage stage = found->second.stage;
    return stage == Stage::handed_over || stage == Stage::active ? &found->second : nullptr;
  }

  // The supervisor has never started it.
  void estranged(Record& record) {
    if (!record.ours || record.stage == Stage::active)
      return leave(record, not_run(Outcome::lost, "there is no record of it"));
    try {
      client_.send(wire::Type::launch, launch_of(record, program_of(*record.attempt.spec)));
    } catch (const TransferError& error) {
      leave(record, ending_of(error, Outcome::not_started));
    }
  }

  wire::Answer ask(const wire::Keys& query) {
    for (;;) {
      client_.send(wire::Type::query, query);
      if (const auto frame = client_.wait_for(wire::Type::answer)) return wire::decode<wire::Answer>(frame->body);
      take_frames();
      client_.disconnect();
      reconnect();
    }
  }

  // --- remains -----------------------------------------------------------------------------------------------------

  void remove_later(const std::string& path) {
    if (path.empty()) return;
    pool_.add([path]() -> WorkPool::Done {
      SandboxArea::remove_remains(path);
      return [] {};
    });
  }

  std::function<bool(const std::string&)> sandboxes_in_use() const {
    std::vector<std::string> names;
    names.reserve(records_.size());
    for (const auto& [key, record] : records_) names.push_back(record.attempt.key.file_name());
    std::sort(names.begin(), names.end());
    return [names = std::move(names)](const std::string& name) {
      return std::binary_search(names.begin(), names.end(), name);
    };
  }

  LocalExecutorOptions options_;
  SandboxArea area_;
  SupervisorClient client_;
  std::string host_;
  FileDescriptor epoll_, kick_, timer_;
  std::map<std::string, Site> sites_;
  std::unordered_map<std::string, Record> records_;  // by AttemptKey::text
  std::vector<Event> events_;
  int deaths_in_vain_ = 0;  // of supervisors
  bool watched_for_writing_ = false;
  bool timer_is_set_ = false;
  int followed_ = 0;  // active attempts whose metrics are read by the clock
  WorkPool pool_;     // last: its threads use the others
};

}  // namespace

std::unique_ptr<JobExecutor> make_local_executor(LocalExecutorOptions options) {
  std::error_code error;
  std::filesystem::create_directories(options.state_dir, error);
  if (error) throw SystemError("cannot make " + options.state_dir, error.value());
  options.state_dir = std::filesystem::canonical(options.state_dir).string();
  return std::make_unique<LocalExecutor>(std::move(options));
}

}  // namespace godwit::jobs
