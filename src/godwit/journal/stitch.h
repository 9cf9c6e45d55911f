// A training run's metrics, epoch by epoch, out of what its jobs' attempts wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/journal/view.h"

namespace godwit::journal {

struct EpochMetrics {
  std::uint32_t epoch = 0;
  NodeIndex node = 0;
  std::uint32_t attempt = 0;
  SiteIndex site = kNone;
  // The line's "seconds", else the time since the attempt's line before it or its start. Nothing where neither is
  // known.
  std::optional<double> seconds;
  // No attempt that succeeded, continued or still runs told of this epoch; one that failed did.
  bool provisional = false;
  Json metrics;  // the line, without the engine's own members
};

// By increasing epoch, each epoch once. For an epoch that several attempts told of, the last line wins, lines of
// attempts that succeeded, continued or still run before those of attempts that failed. `kind` says whose lines:
// "train" or "evaluate" jobs'. A training line that names no epoch counts for its node's last; an evaluation line
// counts for the last epoch of the checkpoint that it scores, whatever epochs of its own it names.
std::vector<EpochMetrics> stitch(const View& view, RunIndex run, std::string_view kind = "train");

}  // namespace godwit::journal
