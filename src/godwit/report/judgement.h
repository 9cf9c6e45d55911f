// The verdict on what the experiment declared before it ran.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "godwit/report/experiment.h"

namespace godwit::report {

struct Comparison;

struct Judged {
  Declaration declared;
  std::optional<std::size_t> metric;  // index into Comparison::metrics; nullopt: no run reported it
  std::optional<Equivalence> test;
  std::string reason;  // why there is no test: a sentence; empty where there is one
};

struct Judgement {
  // The last declaration that was made before any metric was reported; where there is none, the first of all.
  Judged verdict;
  bool beforehand = false;
  bool interim = false;         // runs are not finished: looking often and stopping when it suits makes errors likelier
  std::vector<Judged> changes;  // what was declared otherwise after that: shown, not followed
};

// nullopt where nothing was ever declared. Pairs are tested where there are two or more, else the groups.
std::optional<Judgement> judge(const Comparison& comparison);

// What the verdict is, why, what it would take, and what was changed after the fact: sentences for people, the first
// the verdict. Empty where there is no baseline.
std::vector<std::string> verdict_sentences(const Comparison& comparison);

}  // namespace godwit::report
