// Early stopping where no engine is: a script that DAGMan runs before each node, and that ends a run by skipping what
// is left of it (PRE_SKIP). It reads the metrics files that came back, and needs a shell and awk.
#pragma once

#include <string>
#include <string_view>

#include "godwit/dag/graph.h"

namespace godwit::dag {

// Its exit code where the node is to be skipped.
inline constexpr int kSkipExitCode = 75;

// Why the graph's rule cannot be carried out by the script: a sentence for people; empty: it can, or there is no rule.
std::string why_no_early_stop_script(const Graph& graph);

std::string_view early_stop_script();

// Its arguments for a node of a run; what follows them is the node's own PRE script. Throws InputError where DAGMan
// cannot say them.
std::string early_stop_arguments(const Graph& graph, NodeId node);

}  // namespace godwit::dag
