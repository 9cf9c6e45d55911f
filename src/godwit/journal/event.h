// The kinds of event in a journal. Kinds are only ever added; what a kind's JSON holds is only ever extended.
//
// A row is event(seq, time_us, kind, node, attempt, json). `node` is the node's name or "" for the Dag as a whole;
// `attempt` is 0 where the event belongs to no attempt; `json` is "" where there is nothing to add.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "godwit/base/clock.h"

namespace godwit::journal {

enum class Kind : std::uint8_t {
  // The definition, written before anything runs; and again, whole, when the experiment has been edited since: nodes
  // and runs of the same names are the same ones, those that are named no more are orphaned.
  dag = 1,       // {"uuid","name","file","version","directory","digest","nodes":N,"edges":N,"revision":N}
  site = 2,      // {"name","executor","slots","cpus","memory_mb","gpus",…}
  run = 3,       // {"number","run_uuid","seed","replicate","baseline","pair","values":{…},"epochs":N}
  nodes = 4,     // {"first":id,"nodes":[{"name","kind","run":run_uuid,"site","first_epoch","last_epoch"}…],
                 //  "edges":[[parent id, child id]…]}: ids count over all chunks; edges may name earlier chunks
  source = 5,    // {"experiment":{…},"sites":{…}}: what the definition was made from, as JSON
  code = 6,      // {"file","bytes","digest"}: an executable or input of the jobs, as it was then
  declared = 8,  // {"metric","better"?,"margin","alpha"}, or {}: how the runs will be compared; written with the
                 // definition, and whenever an engine starts and finds it changed
  // The engine.
  engine_started = 16,  // {"pid","user","host","version","resumed":bool}
  engine_stopped = 17,  // {"reason":"finished"|"interrupted"|"stopped"|"once"}
  paused = 18,          // {"reason":"disk full …"}: no new submissions
  unpaused = 19,        // {}
  request = 20,         // {"what":"stop"|"stop_now"|"retry"|"redo"|"accept"|"pause"|"promote"|"prune","nodes":[…],
                        //  "runs":[uuid…]}: from the inbox
  warning = 21,         // {"message","about"?:"foreign_epochs"|"no_metrics","metric"?,"epoch"?}
  // Of training runs: {"run":run_uuid,"by":"hand"|"early_stop"|"asha","reason",…}.
  run_paused = 22,    // "rung","epoch","metric","value": its next training job waits
  run_promoted = 23,  // "rung": it goes on, to that rung
  run_pruned = 24,    // "epoch","metric","best","best_epoch","rung": it ends there
  taken_over = 25,    // {"user","host","epoch","from_user","from_host"}: whose the experiment is from now on
  // A node's life. `attempt` is set.
  placed = 32,              // {"site","reason"}
  submitting = 33,          // {"phase","site","memory_mb"?}: before anything is submitted
  queued = 34,              // {"phase","native_id"}
  active = 35,              // {"phase","host","native_id"}
  epoch = 36,               // one line of the metrics file, as the job wrote it (a JSON object), plus "_offset"
  attempt_ended = 37,       // {"phase","outcome","exit_code","signal","wall_s","cpu_s","peak_memory_kb","started_us",
                            //  "ended_us","detail","retry":"continued"|"retried"|"none",
                            //  "idle"?:[N,N]}: continuations in a row that led nowhere
  escalated = 38,           // {"request":"memory","from_mb","to_mb"}
  checkpoint = 39,          // {"epoch","bytes","digest"}: what the node left, as it was when the node was done
  checkpoint_dropped = 40,  // {"epoch","bytes"}: before it is deleted
  // A node's end. `attempt` is its last.
  node_done = 48,    // {}
  node_failed = 49,  // {"reason"}
  node_futile = 50,  // {"because":node}: an ancestor failed
  node_reset = 51,   // {"by":"retry"|"accept"}: failed or futile → waiting again, "accept": from its checkpoint as it
                     // is now; {"by":"redo"}: done → waiting again
  node_pruned = 52,  // {"by","reason"}: its run was pruned; it is neither run nor needed
  dag_ended = 64,    // {"success":bool,"done":N,"failed":N,"futile":N,"pruned":N}
};

std::string_view to_string(Kind kind);
std::optional<Kind> kind_from(std::string_view text);

struct Event {
  std::int64_t seq = 0;  // given by the journal, from 1
  Micros time = 0;
  Kind kind = Kind::warning;
  std::string node;
  std::uint32_t attempt = 0;
  std::string json;
};

}  // namespace godwit::journal
