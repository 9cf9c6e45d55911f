#include "godwit/report/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "godwit/report/format.h"

namespace godwit::report {
namespace {

// A hash, as much of it as tells it from others.
std::string brief(const std::string& hash) {
  constexpr std::size_t kMost = 20;
  return hash.empty() ? "none" : shorten(hash, kMost);
}

void add(Run& run, FaultKind kind, int epoch, std::string text) {
  const auto same = [&](const Fault& fault) { return fault.kind == kind; };
  if (std::none_of(run.faults.begin(), run.faults.end(), same)) run.faults.push_back({kind, epoch, std::move(text)});
}

void find_gaps(Run& run) {
  int expected = 1;
  for (const EpochRecord& record : run.records) {
    if (record.epoch > expected)
      add(run, FaultKind::gapped, expected, fmt::format("nothing tells where epoch {} came from", expected));
    expected = record.epoch + 1;
  }
}

// Epoch by epoch along one run.
void follow_checkpoints(Run& run) {
  std::map<std::string, int> began;  // with which checkpoint, the first epoch that did
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const EpochRecord& record = run.records[i];
    if (!record.parent.empty()) {
      const auto [place, fresh] = began.try_emplace(record.parent, record.epoch);
      if (!fresh)
        add(run, FaultKind::replayed, record.epoch,
            fmt::format("epoch {} began with the checkpoint that epoch {} had begun with ({})", record.epoch,
                        place->second, brief(record.parent)));
      if (!fresh) continue;
    }
    if (i == 0 || run.records[i - 1].epoch != record.epoch - 1) continue;
    const EpochRecord& before = run.records[i - 1];
    const bool told = !before.checkpoint.empty();
    const bool lost = record.parent.empty() && (told || !before.parent.empty());
    if (lost || (told && before.checkpoint != record.parent))
      add(run, FaultKind::forked, record.epoch,
          fmt::format("epoch {} began with {}, not with what epoch {} left ({})", record.epoch,
                      record.parent.empty() ? "no checkpoint" : "checkpoint " + brief(record.parent), before.epoch,
                      brief(before.checkpoint)));
  }
}

// What should differ from epoch to epoch, unless it hardly ever does: then the trainer has none of it.
void find_repetition(Run& run, std::string EpochRecord::* member, const char* what) {
  std::map<std::string, int> first;
  std::size_t told = 0;
  const EpochRecord* again = nullptr;
  for (const EpochRecord& record : run.records) {
    if ((record.*member).empty()) continue;
    ++told;
    if (!first.try_emplace(record.*member, record.epoch).second && again == nullptr) again = &record;
  }
  if (again == nullptr || 2 * first.size() <= told) return;
  add(run, FaultKind::replayed, again->epoch,
      fmt::format("epoch {} had the {} of epoch {}", again->epoch, what, first.at(again->*member)));
}

const EpochRecord* record_of(const Run& run, int epoch) {
  const auto found = std::lower_bound(run.records.begin(), run.records.end(), epoch,
                                      [](const EpochRecord& record, int wanted) { return record.epoch < wanted; });
  return found != run.records.end() && found->epoch == epoch ? &*found : nullptr;
}

bool tells_what_it_left(const Run& run, int epoch) {
  const EpochRecord* before = record_of(run, epoch - 1);
  return before != nullptr && !before->checkpoint.empty();
}

// Two runs that began some earlier epoch with different checkpoints.
bool differed_before(const Run& a, const Run& b, int epoch) {
  return std::any_of(a.records.begin(), a.records.end(), [&](const EpochRecord& record) {
    const EpochRecord* other = record.epoch < epoch ? record_of(b, record.epoch) : nullptr;
    return other != nullptr && record.parent != other->parent;
  });
}

// Where jobs do not tell what they left, a fork shows when one run steps onto another's chain; whose it was at first
// cannot be known.
void find_merging(std::vector<Run>& runs) {
  std::unordered_map<std::string, std::size_t> owners;  // of "epoch checkpoint", the first run that began with it
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const EpochRecord& record : runs[i].records) {
      if (record.parent.empty() || tells_what_it_left(runs[i], record.epoch)) continue;
      const auto [place, fresh] = owners.try_emplace(fmt::format("{} {}", record.epoch, record.parent), i);
      Run& owner = runs[place->second];
      if (fresh || !differed_before(owner, runs[i], record.epoch)) continue;
      for (auto [run, other] : {std::pair(&owner, &runs[i]), std::pair(&runs[i], &owner)})
        add(*run, FaultKind::forked, record.epoch,
            fmt::format("epoch {} began with the same checkpoint as that of run {} ({}), which had others before",
                        record.epoch, other->number, brief(record.parent)));
    }
}

void compare_orders(std::vector<Run>& runs) {
  std::unordered_map<std::string, const Run*> baselines;
  for (const Run& run : runs)
    if (run.baseline && !run.pair.empty() && !run.records.empty()) baselines.try_emplace(run.pair, &run);
  for (Run& run : runs) {
    const auto found = run.baseline ? baselines.end() : baselines.find(run.pair);
    if (found == baselines.end()) continue;
    for (const EpochRecord& record : run.records) {
      const EpochRecord* other = record_of(*found->second, record.epoch);
      if (other == nullptr || record.data_order.empty() || other->data_order.empty() ||
          record.data_order == other->data_order)
        continue;
      add(run, FaultKind::unpaired, record.epoch,
          fmt::format("epoch {} read its data in another order than that of its baseline, run {}", record.epoch,
                      found->second->number));
      break;
    }
  }
}

}  // namespace

std::string_view to_string(FaultKind kind) {
  static constexpr std::array<std::string_view, 4> kNames = {"forked", "gapped", "replayed", "unpaired"};
  return kNames[static_cast<std::size_t>(kind)];
}

void find_faults(Experiment& experiment) {
  for (Run& run : experiment.runs) {
    run.faults.clear();
    find_gaps(run);
    follow_checkpoints(run);
    find_repetition(run, &EpochRecord::random_state, "random state");
    find_repetition(run, &EpochRecord::data_order, "order of data");
  }
  find_merging(experiment.runs);
  compare_orders(experiment.runs);
  for (Run& run : experiment.runs)
    std::stable_sort(run.faults.begin(), run.faults.end(),
                     [](const Fault& a, const Fault& b) { return a.epoch < b.epoch; });
}

}  // namespace godwit::report
