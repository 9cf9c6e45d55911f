// What an edited experiment changes about the one that its journal knows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "godwit/base/difference.h"
#include "godwit/base/json.h"
#include "godwit/dag/earlier.h"
#include "godwit/dag/graph.h"
#include "godwit/journal/view.h"

namespace godwit::engine {

// What has begun, for a planner to keep.
dag::Earlier earlier_plan(const journal::View& view);

// What becomes of a training run.
enum class Fate : std::uint8_t {
  kept,       // nothing about it changes
  changed,    // it has jobs to run that are not what they were
  extended,   // it trains more epochs
  shortened,  // … or fewer
  added,
  returned,  // the experiment had it once, then not, and has it again
  orphaned,  // the experiment has it no more
};
inline constexpr std::size_t kFates = 7;

std::string_view to_string(Fate fate);

struct RunEdit {
  std::uint32_t number = 0;
  std::string uuid;
  bool baseline = false;
  std::vector<std::pair<std::string, std::string>> values;
  Fate fate = Fate::kept;
  std::uint32_t epochs_done = 0;
  std::uint32_t epochs_before = 0, epochs_now = 0;
  std::string why;  // for people; empty: there is nothing to say
};

struct Edit {
  std::uint32_t revision = 0;          // of the definition that the journal has
  std::vector<Difference> definition;  // in the files it was made from
  std::vector<Difference> code;        // files that jobs run or read, "1.2 kB" before and after
  std::vector<RunEdit> runs;           // by number
  std::size_t jobs_to_run = 0;         // nodes of the new definition that are not done
  std::size_t failed = 0;              // of them, those that have failed and stay so
  std::size_t leaving = 0;             // attempts that run now and will be stopped

  std::size_t count(Fate fate) const;
};

// Whether the graph, or the files that its jobs run and read (`code`, as journal::Kind::code keeps them), are not what
// the journal says.
bool is_edit(const journal::View& before, const dag::Graph& after, const Json& code);

// `source` as journal::Kind::source keeps it.
Edit compare_definitions(const journal::View& before, const dag::Graph& after, const Json& source, const Json& code);

Json to_json(const Edit& edit);

}  // namespace godwit::engine
