// The part of `compare` that looks at checkpoints: reads them, and where asked runs the experiment's evaluation on what
// lies between them.
#pragma once

#include <cstddef>

#include "godwit/cli/opened.h"
#include "godwit/report/comparison.h"

namespace godwit::cli {

struct LandscapeOptions {
  bool weights = false;     // read the checkpoints however large they are
  bool barrier = false;     // run evaluations
  std::size_t points = 11;  // of a line, its ends included
};

// Throws InputError where barriers are asked for and the experiment's file is wrong, Interrupted at Ctrl-C.
report::Landscape survey(const Opened& opened, const report::Comparison& comparison, const LandscapeOptions& options);

// Ctrl-C came, and what ran has been stopped.
struct Interrupted {};

}  // namespace godwit::cli
