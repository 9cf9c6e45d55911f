#include "godwit/cli/left_results.h"

#include <filesystem>

#include "godwit/journal/log_files.h"

namespace godwit::cli {

namespace fs = std::filesystem;

LeftResults left_results(const experiment::Planned& planned) {
  LeftResults out;
  const fs::path directory(planned.spec.directory);
  std::error_code error;
  if (!fs::is_directory(directory / "runs", error)) return out;
  for (const dag::Run& run : planned.graph.runs()) {
    const fs::path checkpoints = fs::path(journal::checkpoint_folder(run.uuid, 0)).parent_path();
    const fs::directory_iterator first(directory / checkpoints, error);
    if (error || first == fs::directory_iterator()) continue;
    if (++out.runs == 1) out.example = (checkpoints / first->path().filename()).string();
  }
  return out;
}

}  // namespace godwit::cli
