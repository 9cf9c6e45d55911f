// Whether the files that jobs run and read are still what they were when it was agreed to run them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "godwit/base/json.h"

namespace godwit::experiment {

class CodeWatch {
 public:
  // `code`: what code_of() said of the paths, in this directory. What it did not say anything of is not watched.
  CodeWatch(const std::set<std::string>& paths, const std::string& directory, const Json& code);

  // The first file or folder that is another one now, as `code` names it. Reads only what was touched; of many files it
  // looks a few times a second at most, and says in between what it said last.
  std::optional<std::string> altered();

 private:
  // Of a file, or of every file below a folder: where it is, its size and its time of change.
  using Signature = std::vector<std::uint64_t>;
  struct Watched {
    std::string path;
    Json recorded;
    Signature signature;
    bool altered = false;
  };
  static Signature signature_of(const std::string& path);

  std::string directory_;
  std::vector<Watched> watched_;
  std::size_t files_ = 0;
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace godwit::experiment
