#include "godwit/engine/asha.h"

#include <cmath>
#include <iterator>
#include <limits>

namespace godwit::engine {

std::vector<std::uint32_t> rungs_of(const dag::AshaRule& rule, std::uint32_t most) {
  std::vector<std::uint32_t> rungs;
  for (std::uint64_t jobs = rule.grace; jobs <= most; jobs *= rule.reduction)
    rungs.push_back(static_cast<std::uint32_t>(jobs));
  return rungs;
}

Asha::Asha(const dag::AshaRule& rule, std::size_t rungs)
    : goal_(rule.metric.goal), reduction_(rule.reduction), rungs_(rungs) {}

void Asha::enter_top(Rung& rung, const Entry& entry) {
  rung.top.insert(entry);
  if (!rung.promoted.contains(entry.run)) rung.open.insert(entry);
}

void Asha::leave_top(Rung& rung, const Entry& entry) {
  rung.open.erase(entry);
  rung.rest.insert(entry);
  rung.top.erase(entry);  // `entry` may be the one in it
}

void Asha::record(dag::RunId run, std::uint32_t index, double value) {
  Rung& rung = rungs_[index];
  const double loss = std::isnan(value)       ? std::numeric_limits<double>::infinity()
                      : goal_ == Goal::lowest ? value
                                              : -value;
  const Entry entry{loss, rung.values.size(), run};
  if (!rung.values.try_emplace(run, entry).second) return;
  if (!rung.top.empty() && entry < *rung.top.rbegin())
    enter_top(rung, entry);
  else
    rung.rest.insert(entry);
  const std::size_t most = rung.values.size() / reduction_;
  while (rung.top.size() > most) leave_top(rung, Entry(*rung.top.rbegin()));
  while (rung.top.size() < most) {
    const Entry best = *rung.rest.begin();
    rung.rest.erase(rung.rest.begin());
    enter_top(rung, best);
  }
}

void Asha::promote(dag::RunId run, std::uint32_t index) {
  Rung& rung = rungs_[index];
  rung.promoted.insert(run);
  if (const auto known = rung.values.find(run); known != rung.values.end()) rung.open.erase(known->second);
}

std::optional<Asha::Candidate> Asha::promotable(const std::function<bool(dag::RunId)>& allowed) const {
  for (std::size_t rung = rungs_.empty() ? 0 : rungs_.size() - 1; rung-- > 0;)
    for (const Entry& entry : rungs_[rung].open)
      if (allowed(entry.run)) return Candidate{entry.run, static_cast<std::uint32_t>(rung)};
  return std::nullopt;
}

}  // namespace godwit::engine
