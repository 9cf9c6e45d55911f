// Why a node is where it is, and what to do: `godwit why`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/journal/engine_status.h"
#include "godwit/journal/state_dir.h"
#include "godwit/journal/view.h"

namespace godwit::journal {

struct Explanation {
  std::string subject;                // the node's name; empty: the experiment as a whole
  std::string state;                  // "failed", "waiting" …; of the whole: "paused", "no engine"
  std::string summary;                // one clause
  std::vector<std::string> facts;     // one line each
  std::string evidence_file;          // absolute; empty: none
  std::vector<std::string> evidence;  // the last lines of that file
  std::string advice;                 // what to do; empty: nothing
  std::vector<std::string> alike;     // other nodes that failed in the same way
};

Json to_json(const Explanation& explanation);

class Explainer {
 public:
  // `now`: UTC, for how long things have lasted. The view must outlive this.
  Explainer(const View& view, const StateDir& state, EngineStatus engine, Micros now);

  Explanation node(NodeIndex node) const;
  // The nodes of a run that keep it from going on: what failed, else what is under way, else what is first to wait.
  std::vector<Explanation> run(const Run& run) const;

  // Everything that does not move: what holds the whole, failed nodes (with what became futile by each), nodes that are
  // ready and do not start (one line per site). Nodes that failed in the same way are told of once; at most `most`
  // ways.
  struct Stuck {
    std::vector<Explanation> all;
    std::size_t ways_left_out = 0;
  };
  Stuck stuck(std::size_t most) const;
  // What holds everything, where something does: no engine, paused.
  std::optional<Explanation> whole() const;
  // Why the ready nodes of a site do not start; nothing where there are none.
  std::optional<Explanation> waits_at(SiteIndex site) const;

 private:
  Explanation begin(NodeIndex node) const;
  // The failed nodes, those that failed in the same way together.
  std::vector<std::vector<NodeIndex>> failures() const;
  Explanation failure(const std::vector<NodeIndex>& nodes, std::uint64_t futile) const;
  void explain_waiting(NodeIndex node, Explanation& out) const;
  void explain_ready(NodeIndex node, Explanation& out) const;
  void explain_under_way(NodeIndex node, Explanation& out) const;
  void explain_done(NodeIndex node, Explanation& out) const;
  void explain_failed(NodeIndex node, Explanation& out) const;
  void explain_pruned(NodeIndex node, Explanation& out) const;
  // Of a run that is paused or pruned.
  std::optional<Explanation> steered(const Run& run) const;
  void explain_futile(NodeIndex node, Explanation& out) const;
  void add_attempts(NodeIndex node, Explanation& out) const;
  void add_warnings(NodeIndex node, Explanation& out) const;
  void add_evidence(const Attempt& attempt, Explanation& out) const;
  std::string attempt_line(const Attempt& attempt) const;
  std::string held_by_limit(SiteIndex site) const;
  std::string throttle(SiteIndex site) const;
  // The attempt that decided: the last that ended.
  const Attempt* last_ended(NodeIndex node) const;
  NodeIndex holds_up(NodeIndex node) const;
  std::string since(Micros time) const;
  const Node& at(NodeIndex node) const { return view_.nodes()[node]; }

  const View& view_;
  const StateDir& state_;
  EngineStatus engine_;
  Micros now_;
};

}  // namespace godwit::journal
