// Where an attempt's output is, and how it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "godwit/journal/state_dir.h"
#include "godwit/journal/view.h"

namespace godwit::journal {

// Absolute paths, or "" where the stream goes nowhere that is known. The files need not exist.
struct LogFiles {
  std::string out, err;
};

// Where experiments send a job's stream that its template names no file for, relative to the Dag's directory:
// runs/<run_uuid>/logs/<node>.<attempt>.<suffix>, with suffix "out" or "err".
std::string usual_log(std::string_view run_uuid, std::string_view node, std::uint32_t attempt, std::string_view suffix);

// Where experiments keep what a training job leaves whose last epoch this is: runs/<run_uuid>/checkpoints/<epoch>.
std::string checkpoint_folder(std::string_view run_uuid, std::uint32_t last_epoch);

// What the experiment says that its training jobs write as their checkpoint; "": nothing, or the journal does not tell.
std::string checkpoint_path(const View& view);

// As the journal tells; where it does not, usual_log. Paths start at the Dag's directory, or where that is gone
// (the experiment was moved) at the folder of `state`.
LogFiles log_files(const View& view, const StateDir& state, const Attempt& attempt);

// The last lines of a file, without the white space at their ends, empty ones left out, each at most `most_bytes` long.
// None where the file cannot be read.
std::vector<std::string> last_lines(const std::string& path, std::size_t most_lines, std::size_t most_bytes = 300);

}  // namespace godwit::journal
