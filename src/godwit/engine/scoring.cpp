#include "godwit/engine/scoring.h"

#include <fmt/format.h>
#include <poll.h>

#include <memory>
#include <unordered_map>
#include <utility>

#include "godwit/base/error.h"
#include "godwit/base/ids.h"
#include "godwit/engine/attempt_builder.h"
#include "godwit/journal/metrics.h"

namespace godwit::engine {
namespace {

std::string failure_of(const jobs::Ending& ending) {
  if (ending.success()) return {};
  if (!ending.detail.empty()) return ending.detail;
  if (ending.outcome == jobs::Outcome::exited) return fmt::format("exit code {}", ending.exit_code);
  return std::string(jobs::to_string(ending.outcome));
}

class Gather final : public jobs::StatusSink {
 public:
  explicit Gather(std::span<const jobs::Attempt> attempts) : scores_(attempts.size()) {
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      places_.emplace(attempts[i].key.node, i);
      scores_[i].failure = "stopped";
    }
  }

  void on_status(const jobs::StatusEvent& event) override {
    if (!event.ending) return;
    const auto place = places_.find(event.key.node);
    if (place == places_.end()) return;
    scores_[place->second].failure = failure_of(*event.ending);
    ended_.push_back(event.key);
    places_.erase(place);
  }

  void on_metrics(const jobs::AttemptKey& key, std::string_view line, std::uint64_t) override {
    const auto place = places_.find(key.node);
    const auto event = place == places_.end() ? std::nullopt : journal::metrics_event(line, 0);
    if (!event) return;
    Json json = Json::parse(*event);
    json.erase("_offset");
    scores_[place->second].lines.push_back(std::move(json));
  }

  bool all_ended() const { return places_.empty(); }
  std::size_t ended() const { return scores_.size() - places_.size(); }
  std::vector<jobs::AttemptKey> take_ended() { return std::exchange(ended_, {}); }
  std::vector<Score> scores() && { return std::move(scores_); }

 private:
  std::unordered_map<std::string, std::size_t> places_;  // of what has not ended, by name
  std::vector<Score> scores_;
  std::vector<jobs::AttemptKey> ended_;
};

void wait(int descriptor) {
  constexpr int kMilliseconds = 100;
  pollfd wake{descriptor, POLLIN, 0};
  ::poll(&wake, descriptor < 0 ? 0 : 1, kMilliseconds);
}

}  // namespace

Scorer::Scorer(const dag::Graph& graph, jobs::JobExecutor& executor, std::string log_folder)
    : graph_(graph), executor_(executor), log_folder_(std::move(log_folder)), id_(new_uuid()) {}

jobs::Attempt Scorer::attempt_of(const ScoreRequest& request) const {
  jobs::Attempt attempt = AttemptBuilder(graph_, id_).job(request.node, request.site, 1, jobs::Phase::job);
  jobs::JobSpec spec = *attempt.spec;
  spec.name = attempt.key.node = request.name;
  spec.outputs.clear();
  spec.checkpoint_files.clear();
  spec.stdout_path.clear();
  spec.stderr_path = fmt::format("{}/{}.err", log_folder_, request.name);
  const std::string own = fmt::format("runs/{}/checkpoints/", graph_.runs()[graph_.run_of(request.node)].uuid);
  bool found = false;
  for (jobs::InputFile& input : spec.inputs) {
    if (!input.source.starts_with(own)) continue;
    input = {request.checkpoint_folder, "", true};
    found = true;
  }
  if (!found) throw InputError("the evaluation takes no checkpoint of its run as input");
  attempt.spec = std::make_shared<const jobs::JobSpec>(std::move(spec));
  return attempt;
}

std::vector<Score> Scorer::run(std::span<const ScoreRequest> requests,
                               const std::function<bool(std::size_t)>& progress) {
  std::vector<jobs::Attempt> attempts;
  attempts.reserve(requests.size());
  for (const ScoreRequest& request : requests) attempts.push_back(attempt_of(request));
  Gather gather(attempts);
  executor_.submit(attempts);
  bool stopping = false;
  while (!gather.all_ended()) {
    executor_.poll(gather);
    if (const auto ended = gather.take_ended(); !ended.empty()) executor_.release(ended);
    if (!progress(gather.ended()) && !stopping) {
      stopping = true;
      std::vector<jobs::AttemptKey> keys;
      for (const jobs::Attempt& attempt : attempts) keys.push_back(attempt.key);
      executor_.cancel(keys, false);
    }
    if (!gather.all_ended()) wait(executor_.wake_fd());
  }
  return std::move(gather).scores();
}

}  // namespace godwit::engine
