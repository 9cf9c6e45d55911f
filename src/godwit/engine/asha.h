// Asynchronous successive halving: which runs may train on, by what they reached so far. Li, Jamieson, Rostamizadeh,
// Gonina, Ben-tzur, Hardt, Recht, Talwalkar: "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020,
// Algorithm 2. Pure, and the same for the same order of results.
//
// Rung k is reached after r·η^k of the resource, here training jobs (r is the rule's `grace`, η its `reduction`), up to
// the highest K with r·η^K ≤ R (its `max`). Of the n runs that a rung knows, the best ⌊n/η⌋ may go to the next one. A
// free place asks the rungs from the highest down for a run that may and has not, the best first; only where there is
// none does a new run begin. Nothing waits for a rung to be full.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "godwit/dag/graph.h"

namespace godwit::engine {

// After how many jobs each rung is reached, from the lowest: r, rη, rη² … up to `most`.
std::vector<std::uint32_t> rungs_of(const dag::AshaRule& rule, std::uint32_t most);

class Asha {
 public:
  struct Candidate {
    dag::RunId run = 0;
    std::uint32_t rung = 0;  // that it leaves
  };

  // `rungs`: how many there are. From the highest nobody is promoted.
  Asha(const dag::AshaRule& rule, std::size_t rungs);

  // What the run reached in the rung; what is told again counts no more. Of equal values the earlier is better.
  void record(dag::RunId run, std::uint32_t rung, double value);
  // The run has left the rung for the next.
  void promote(dag::RunId run, std::uint32_t rung);
  // The run that a free place is to train on, of those that are allowed there.
  std::optional<Candidate> promotable(const std::function<bool(dag::RunId)>& allowed) const;
  // How many runs the rung knows, and how many of them have left it.
  std::size_t size(std::uint32_t rung) const { return rungs_[rung].values.size(); }
  std::size_t promoted(std::uint32_t rung) const { return rungs_[rung].promoted.size(); }

 private:
  struct Entry {
    double value = 0;  // a loss: low is better; what is no number is infinite
    std::size_t arrival = 0;
    dag::RunId run = 0;
    friend auto operator<=>(const Entry& a, const Entry& b) = default;
  };
  struct Rung {
    std::unordered_map<dag::RunId, Entry> values;
    std::set<Entry> top, rest;  // the best ⌊n/η⌋, and the others
    std::set<Entry> open;       // those of the top that have not left
    std::set<dag::RunId> promoted;
  };

  static void enter_top(Rung& rung, const Entry& entry);
  static void leave_top(Rung& rung, const Entry& entry);

  Goal goal_;
  std::uint32_t reduction_;
  std::vector<Rung> rungs_;
};

}  // namespace godwit::engine
