// Which site runs which job, and why. A seam: `plan` asks a policy for every node of an experiment.
//
// Policies are deterministic: the same seed and the same questions give the same answers, in whatever order they
// are asked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "godwit/dag/graph.h"

namespace godwit::placement {

// What a policy may know about the job it places.
struct NodeContext {
  std::uint32_t run = 0;   // the run's index among the runs that migrate (baseline runs: their pair's)
  std::uint32_t job = 0;   // the job's index in its run, from 0
  std::uint32_t jobs = 1;  // how many jobs the run has
  bool baseline = false;   // a single-site control run
};

struct Choice {
  dag::SiteId site = 0;
  std::string_view reason;  // for people; static
};

class Policy {
 public:
  virtual ~Policy() = default;
  virtual Choice choose(const NodeContext& node) = 0;
};

enum class Rule : std::uint8_t {
  fixed,        // every job at one site
  round_robin,  // job j of run r at site (r + j) mod n
  shuffle,      // each run visits every site once before any repeats; see shuffle.h
};

std::string_view to_string(Rule rule);
const std::vector<std::string>& rule_names();
// What a policy gives as its reason; of control runs where `baseline`.
std::string_view reason_of(Rule rule, bool baseline);

struct Options {
  Rule rule = Rule::shuffle;
  std::uint64_t seed = 0;
  std::vector<dag::SiteId> sites;  // that may be chosen, at least one
  dag::SiteId fixed_site = 0;      // of Rule::fixed
  // Where control runs stay; they do not count for the balance of the others.
  dag::SiteId baseline_site = 0;
};

std::unique_ptr<Policy> make_policy(const Options& options);

}  // namespace godwit::placement
