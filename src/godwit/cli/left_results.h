// Results of an experiment whose journal is gone.
#pragma once

#include <cstddef>
#include <string>

#include "godwit/experiment/plan.h"

namespace godwit::cli {

struct LeftResults {
  std::size_t runs = 0;  // of the experiment, whose checkpoints are there
  std::string example;   // one of them: "runs/d35b3ea9/checkpoints/10"
};

// Looks in runs/ beside the experiment.
LeftResults left_results(const experiment::Planned& planned);

}  // namespace godwit::cli
