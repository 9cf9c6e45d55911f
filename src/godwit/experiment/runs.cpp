#include "godwit/experiment/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/experiment/ids.h"

namespace godwit::experiment {
namespace {

constexpr std::string_view kRaise = "a larger '--limit' allows more";

// `epochs` or `epochs_per_job`: the same for all runs, or a variable.
class EpochSetting {
 public:
  EpochSetting(const sweep::Sweep& sweep, std::string_view name, std::optional<std::uint32_t> constant,
               Diagnostics& diagnostics)
      : sweep_(sweep), name_(name), constant_(constant.value_or(1)), diagnostics_(diagnostics) {
    variable_ = sweep.variables().index_of(name);
  }

  std::uint32_t of(const Interner::Id* values) {
    if (!variable_) return constant_;
    const Interner::Id id = values[*variable_];
    const auto [known, fresh] = known_.emplace(id, 1);
    if (fresh) known->second = parse(sweep_.strings().view(id));
    return known->second;
  }

 private:
  std::uint32_t parse(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr std::uint32_t kMost = 1'000'000'000;
    if (error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= kMost) return value;
    diagnostics_.error(sweep_.variables().all()[*variable_].position,
                       fmt::format("'{}' must be a whole number, 1 or more", name_), std::string(text));
    return 1;
  }

  const sweep::Sweep& sweep_;
  std::string_view name_;
  std::uint32_t constant_;
  Diagnostics& diagnostics_;
  std::optional<std::uint32_t> variable_;
  std::unordered_map<Interner::Id, std::uint32_t> known_;
};

}  // namespace

class RunLister {
 public:
  RunLister(const ExperimentSpec& spec, const sweep::Sweep& sweep, std::size_t sites, const dag::Earlier* earlier,
            std::uint64_t limit, Diagnostics& diagnostics, RunList& list)
      : spec_(spec),
        sweep_(sweep),
        sites_(sites),
        earlier_(earlier),
        limit_(limit),
        diagnostics_(diagnostics),
        list_(list) {}

  void make() {
    list_.width_ = sweep_.names().size();
    list_.same_in_all_.assign(list_.width_, true);
    if (!few_enough(sweep_.most())) return;
    list_combinations();
    if (diagnostics_.has_errors()) return;
    report_values_of_several_lines();
    if (diagnostics_.has_errors()) return;
    if (combinations_ == 0) {
      diagnostics_.error(filter_position(), "the sweep is empty: no combination of the variables is left", {},
                         fmt::format("without include and exclude there are {}", sweep_.shape()));
      return;
    }
    list_runs();
    if (!diagnostics_.has_errors()) {
      name_runs();
      number_runs();
    }
    if (diagnostics_.has_errors() || !few_enough_jobs()) list_.runs_.clear();
  }

 private:
  Position vars_position() const { return spec_.vars.is_null() ? spec_.position : spec_.vars.position; }
  Position filter_position() const {
    for (const yaml::Node* node : {&spec_.exclude, &spec_.include})
      if (!node->is_null()) return node->position;
    return vars_position();
  }
  std::uint64_t copies() const { return std::uint64_t{spec_.replicates} * (spec_.baseline ? 2 : 1); }

  // Whether so many combinations may be walked over.
  bool few_enough(std::uint64_t combinations) {
    if (combinations <= limit_ / copies()) return true;
    diagnostics_.error(vars_position(),
                       fmt::format("the sweep has {} combinations{}, more than the limit of {}", sweep_.shape(),
                                   copies() > 1 ? fmt::format(", each {} times", copies()) : std::string(),
                                   format_count(limit_, "job")),
                       {}, std::string(kRaise));
    return false;
  }

  bool few_enough_jobs() {
    const std::uint32_t every = spec_.evaluation ? spec_.evaluation->every : 0;
    for (const PlannedRun& run : list_.runs_)
      list_.jobs_ += run.jobs() + std::uint64_t{every == 0 ? 0 : run.evaluations(every)};
    if (list_.jobs_ <= limit_) return true;
    diagnostics_.error(
        vars_position(),
        fmt::format("the experiment has {} of {}, more than the limit of {}", format_count(list_.runs_.size(), "run"),
                    format_count(list_.jobs_, "job"), format_count(limit_, "job")),
        {}, std::string(kRaise));
    return false;
  }

  void list_combinations() {
    try {
      sweep_.for_each_ids([&](std::span<const Interner::Id> values) {
        list_.values_.insert(list_.values_.end(), values.begin(), values.end());
        for (std::size_t i = 0; i < values.size(); ++i)
          if (values[i] != list_.values_[i]) list_.same_in_all_[i] = false;
        ++combinations_;
        return !spec_.rehearses;  // one is enough for that
      });
    } catch (const InputError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics_.add(diagnostic);
    }
  }

  // Such a value could be no argument, setting or VARS of a job.
  void report_values_of_several_lines() {
    const Interner& strings = sweep_.strings();
    std::unordered_set<Interner::Id> faulty;
    for (Interner::Id id = 0; id < strings.size(); ++id)
      if (strings.view(id).find_first_of(std::string_view("\n\r\0", 3)) != std::string_view::npos) faulty.insert(id);
    if (faulty.empty()) return;
    for (std::size_t i = 0; i < list_.values_.size() && !faulty.empty(); ++i) {
      if (faulty.erase(list_.values_[i]) == 0) continue;
      const sweep::Variable& variable = sweep_.variables().all()[i % list_.width_];
      diagnostics_.error(variable.position,
                         fmt::format("a value of '{}' has several lines, or a zero byte", variable.name),
                         std::string(strings.view(list_.values_[i])), "put the text into a file and name that");
    }
  }

  void list_runs() {
    EpochSetting epochs(sweep_, "epochs", spec_.epochs, diagnostics_);
    EpochSetting per_job(sweep_, "epochs_per_job", spec_.epochs_per_job, diagnostics_);
    list_.runs_.reserve(combinations_ * copies());
    for (std::uint32_t combination = 0; combination < combinations_; ++combination) {
      const Interner::Id* values = list_.values_.data() + std::size_t{combination} * list_.width_;
      PlannedRun run;
      run.combination = combination;
      run.epochs = epochs.of(values);
      run.epochs_per_job = per_job.of(values);
      for (run.replicate = 0; run.replicate < spec_.replicates; ++run.replicate) {
        run.pair = static_cast<std::uint32_t>(list_.runs_.size());
        list_.runs_.push_back(run);
      }
    }
    if (spec_.rehearses) return repeat_at_sites();
    if (!spec_.baseline) return;
    const std::size_t migrating = list_.runs_.size();
    for (std::size_t i = 0; i < migrating; ++i) {
      list_.runs_.push_back(list_.runs_[i]);
      list_.runs_.back().baseline = true;
    }
  }

  void repeat_at_sites() {
    list_.runs_.resize(sites_, list_.runs_.front());
    for (std::size_t i = 0; i < sites_; ++i) list_.runs_[i].pair = static_cast<std::uint32_t>(i);
  }

  // The variables that make a run what it is, by name: how long it trains is no part of it unless runs differ in that,
  // so that an experiment that is given more epochs keeps its runs.
  std::vector<std::size_t> identifying() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < list_.width_; ++i) {
      const std::string name = lower(sweep_.names()[i]);
      const bool length = name == "epochs" || name == "epochs_per_job";
      if (!length || !list_.same_in_all_[i]) out.push_back(i);
    }
    std::sort(out.begin(), out.end(),
              [&](std::size_t a, std::size_t b) { return sweep_.names()[a] < sweep_.names()[b]; });
    return out;
  }

  void name_runs() {
    const std::vector<std::size_t> which = identifying();
    std::vector<std::pair<std::string_view, std::string_view>> values(which.size());
    std::vector<Hash128> digests;
    digests.reserve(list_.runs_.size());
    for (PlannedRun& run : list_.runs_) {
      for (std::size_t i = 0; i < which.size(); ++i)
        values[i] = {sweep_.names()[which[i]], sweep_.strings().view(list_.value_id(run, which[i]))};
      const RunIdentity identity = identify(spec_.seed, values, run.replicate, run.baseline);
      run.seed = identity.seed;
      // A rehearsal's runs are no runs of the experiment, whatever keeps books of these by their uuids.
      digests.push_back(!spec_.rehearses ? identity.digest
                                         : FieldHasher()
                                               .add(identity.digest.high)
                                               .add(identity.digest.low)
                                               .add("rehearsal")
                                               .add(std::uint64_t{run.pair})
                                               .digest128());
    }
    RunUuids named = run_uuids(digests, holder());
    for (std::size_t i = 0; i < list_.runs_.size(); ++i) list_.runs_[i].uuid = std::move(named.uuids[i]);
    list_.repeated_ = named.repeated;
  }

  // A uuid is short, so two runs may have the same one in two plans: their seeds tell them apart.
  std::function<Holder(std::size_t, const std::string&)> holder() const {
    if (earlier_ == nullptr) return {};
    return [this](std::size_t index, const std::string& uuid) {
      const dag::EarlierRun* before = earlier_->find(uuid);
      if (before == nullptr) return Holder::nobody;
      const PlannedRun& run = list_.runs_[index];
      return before->seed == run.seed && before->baseline == run.baseline ? Holder::this_run : Holder::another_run;
    };
  }

  // Runs keep the numbers that they had; new ones follow.
  void number_runs() {
    std::uint32_t next = earlier_ == nullptr ? 0 : earlier_->next_number;
    for (PlannedRun& run : list_.runs_) {
      run.earlier = earlier_ == nullptr ? nullptr : earlier_->find(run.uuid);
      run.number = run.earlier != nullptr ? run.earlier->number : next++;
      if (run.earlier != nullptr) keep_begun_jobs(run);
    }
    if (earlier_ != nullptr) sort_by_number();
  }

  // A job that has begun keeps its epochs, unless all of them lie beyond the run's end and it is not done.
  static void keep_begun_jobs(PlannedRun& run) {
    for (const dag::EarlierJob& job : run.earlier->begun) {
      if (!job.done && job.first_epoch > run.epochs) break;
      ++run.kept_jobs;
      run.kept_epochs = job.last_epoch;
    }
  }

  void sort_by_number() {
    std::vector<std::uint32_t> order(list_.runs_.size()), place(list_.runs_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return list_.runs_[a].number < list_.runs_[b].number; });
    std::vector<PlannedRun> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t from : order) {
      place[from] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(std::move(list_.runs_[from]));
    }
    for (PlannedRun& run : sorted) run.pair = place[run.pair];
    list_.runs_ = std::move(sorted);
  }

  const ExperimentSpec& spec_;
  const sweep::Sweep& sweep_;
  std::size_t sites_;
  const dag::Earlier* earlier_;
  std::uint64_t limit_;
  Diagnostics& diagnostics_;
  RunList& list_;
  std::size_t combinations_ = 0;
};

Epochs PlannedRun::epochs_of(std::uint32_t job) const {
  if (job < kept_jobs) return {earlier->begun[job].first_epoch, earlier->begun[job].last_epoch};
  const std::uint32_t before = kept_epochs + (job - kept_jobs) * epochs_per_job;
  return {before + 1, std::min(before + epochs_per_job, epochs)};
}

RunList::RunList(const ExperimentSpec& spec, const sweep::Sweep& sweep, std::size_t sites, const dag::Earlier* earlier,
                 std::uint64_t limit, Diagnostics& diagnostics) {
  RunLister(spec, sweep, sites, earlier, limit, diagnostics, *this).make();
}

}  // namespace godwit::experiment
