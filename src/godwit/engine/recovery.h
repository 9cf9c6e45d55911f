// What a journal says of a Dag when an engine starts again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/dag/graph.h"
#include "godwit/engine/plan.h"
#include "godwit/jobs/attempt.h"
#include "godwit/journal/journal.h"

namespace godwit::engine {

struct Recovered {
  enum class Final : std::uint8_t { none, done, failed, pruned };

  // An attempt that was submitted, or was about to be, and whose end is not recorded.
  struct Open {
    dag::NodeId node;
    std::uint32_t attempt;
    jobs::Phase phase;
    std::string site;
  };
  // What is known of a node that is not at its end.
  struct Progress {
    std::uint32_t retries_used = 0;
    IdleContinuations idle;
    std::int64_t last_epoch = -1;
    std::int64_t epoch_before = -1;
    std::uint64_t metrics_offset = 0;
    std::optional<std::uint64_t> memory_mb;
    std::optional<jobs::Ending> job_ending;
    bool resume_at_post = false;
    std::string native_id;
    bool told_of_others = false;  // its metrics named an epoch that is not its own
  };

  // An open attempt of a node that the graph no longer has.
  struct Orphan {
    jobs::AttemptKey key;
    std::string site;
  };

  std::string dag_uuid;                 // empty: a fresh journal
  bool edited = false;                  // the graph is not the one that the journal defined last
  std::uint32_t revision = 0;           // of the journal's definition
  Json declared = Json::object();       // how the runs are to be compared, as last declared
  bool ended = false;                   // its end is recorded, and nothing was reset since
  std::vector<std::uint32_t> attempts;  // per node
  std::vector<Final> finals;            // per node
  std::unordered_map<dag::NodeId, Progress> progress;
  std::vector<Open> open;
  std::vector<Orphan> orphans;
  std::vector<jobs::AttemptKey> recently_ended;  // may not have been released
};

// Replays the journal against the graph. The graph may be an edited one: nodes are known by their names, and what the
// journal tells of others is passed over. Throws Error where the journal contradicts itself (`file` is named in the
// message). `also` hears every event of the graph's nodes and of none (kNoNode), in order.
Recovered recover(journal::Journal& journal, const dag::Graph& graph, const std::string& file,
                  const std::function<void(const journal::Event&, dag::NodeId)>& also);

// An ending as the attempt_ended event keeps it, both ways.
std::string ending_json(jobs::Phase phase, const jobs::Ending& ending, std::string_view retry,
                        const IdleContinuations& idle = {});

}  // namespace godwit::engine
