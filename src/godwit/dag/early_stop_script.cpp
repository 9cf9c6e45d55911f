#include "godwit/dag/early_stop_script.h"

#include <fmt/format.h>

#include "godwit/base/error.h"

namespace godwit::dag {
namespace {

// Improvements as engine/early_stop.cpp counts them; both are tested against each other.
constexpr std::string_view kScript = R"SH(#!/bin/sh
# Written by godwit. Before a job of a training run: exits 75 (PRE_SKIP) where the run has been stopped before the job's
# first epoch, or is to be: its metric has brought nothing new in so many epochs. To let a run go on, delete
# runs/<run>/stopped and resubmit.
#
#   RUN FIRST_EPOCH train|evaluate METRIC min|max PATIENCE MIN_DELTA [PRE SCRIPT AND ITS ARGUMENTS]
run=$1 first=$2 kind=$3 metric=$4 mode=$5 patience=$6 delta=$7
shift 7
stopped=runs/$run/stopped
if [ "$kind" = train ] && [ ! -e "$stopped" ] && [ -d "runs/$run/metrics" ]; then
  cat runs/"$run"/metrics/*-train_*.jsonl 2>/dev/null | METRIC=$metric awk -v mode="$mode" -v patience="$patience" -v delta="$delta" '
    function number(key,   at, rest) {
      at = index($0, "\"" key "\"")
      if (!at) return ""
      rest = substr($0, at + length(key) + 2)
      sub(/^[ \t]*:[ \t]*/, "", rest)
      return match(rest, /^[-+]?[0-9.]+([eE][-+]?[0-9]+)?/) ? substr(rest, 1, RLENGTH) + 0 : "none"
    }
    {
      epoch = number("epoch"); value = number(ENVIRON["METRIC"])
      if (epoch == "" || epoch == "none" || value == "") next
      values[epoch] = value
      if (!seen++ || epoch < low) low = epoch
      if (epoch > last) last = epoch
    }
    END {
      if (!seen) exit
      since = low - 1
      for (epoch = low; epoch <= last; epoch++) {
        if (!(epoch in values) || values[epoch] == "none") continue
        value = values[epoch]
        if (!known || (mode == "min" ? best - value : value - best) > delta) { known = 1; best = value; since = epoch }
      }
      if (last - since >= patience) print last
    }' > "$stopped.new"
  if [ -s "$stopped.new" ]; then mv "$stopped.new" "$stopped"; else rm -f "$stopped.new"; fi
fi
if [ -e "$stopped" ] && [ "$first" -gt "$(cat "$stopped")" ]; then exit 75; fi
[ $# -eq 0 ] || exec "$@"
)SH";

}  // namespace

std::string why_no_early_stop_script(const Graph& graph) {
  if (!graph.rules.early_stop) return {};
  if (graph.rules.early_stop->metric.of_evaluation())
    return "DAGMan does not stop runs early by an evaluation's metric; only `godwit run` does";
  if (!graph.rules.metrics_return)
    return "DAGMan cannot stop runs early: their metrics do not come back. Write `metrics: metrics.jsonl` (or as the "
           "file is called) into the experiment";
  return {};
}

std::string_view early_stop_script() {
  return kScript;
}

std::string early_stop_arguments(const Graph& graph, NodeId node) {
  const EarlyStopRule& rule = *graph.rules.early_stop;
  if (rule.metric.name.find_first_of(" \t\"'\\") != std::string::npos)
    throw InputError("DAGMan cannot say this metric's name in a script's arguments: '" + rule.metric.name + "'",
                     "no white space, quotes or backslashes");
  return fmt::format(" {} {} {} {} {} {} {}", graph.runs()[graph.run_of(node)].uuid,
                     graph.var(node, "first_epoch").value_or("0"),
                     graph.kind(node) == NodeKind::train ? "train" : "evaluate", rule.metric.name,
                     rule.metric.goal == Goal::lowest ? "min" : "max", rule.patience, rule.min_delta);
}

}  // namespace godwit::dag
