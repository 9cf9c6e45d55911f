#include "godwit/journal/state_dir.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "godwit/base/clock.h"
#include "godwit/base/error.h"
#include "godwit/base/file.h"
#include "godwit/store/atomic_file.h"

namespace godwit::journal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRequestSuffix = ".json";
constexpr std::size_t kMostRequestBytes = 256u << 20;  // a retry may name a million nodes

bool is_name_list(const Json& json) {
  return json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& name) { return name.is_string(); });
}

// What is wrong with a request; "" where nothing is.
std::string fault_of(const Json& request) {
  if (!request.is_object() || !request.contains("what") || !request["what"].is_string()) return "it has no \"what\"";
  const std::string what = request["what"];
  if (what == "stop" || what == "stop_now") return {};
  if (what == "pause" || what == "promote" || what == "prune")
    return request.contains("runs") && is_name_list(request["runs"])
               ? ""
               : fmt::format("a {} needs a list \"runs\" of uuids", what);
  if (what != "retry" && what != "redo" && what != "accept") return fmt::format("\"{}\" is not known", what);
  return request.contains("nodes") && is_name_list(request["nodes"])
             ? ""
             : fmt::format("a {} needs a list \"nodes\" of names", what);
}

// In the order in which they were dropped: their names begin with the time.
std::vector<std::string> waiting(const std::string& inbox) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(inbox, error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kRequestSuffix) && !name.starts_with('.')) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Throws where what failed is that the person may not write there.
void require_leave(const std::string& path, int code) {
  if (code != EACCES && code != EPERM && code != EROFS) return;
  throw InputError(
      fmt::format("cannot write {}: {}", path, std::strerror(code)),
      "an experiment's state is kept beside its file: copy the experiment to a folder where you may write");
}

}  // namespace

StateDir StateDir::beside(const std::string& experiment_file) {
  const fs::path path = fs::absolute(experiment_file.empty() ? "." : experiment_file).lexically_normal();
  std::error_code error;
  const fs::path folder = fs::is_directory(path, error) ? path : path.parent_path();
  return StateDir((folder / ".godwit").lexically_normal().string());
}

std::string StateDir::folder() const {
  return fs::path(path_).parent_path().string();
}

bool StateDir::has_journal() const {
  return fs::exists(journal());
}

void StateDir::create() const {
  try {
    for (const std::string& folder : {inbox(), sandboxes()}) fs::create_directories(folder);
  } catch (const fs::filesystem_error& error) {
    require_leave(error.path1().string(), error.code().value());
    throw SystemError("cannot make " + error.path1().string(), error.code().value());
  }
  for (const std::string& folder : {path_, inbox(), sandboxes()})
    if (::access(folder.c_str(), W_OK) != 0) require_leave(folder, errno);
  // State is no source: a repository that holds the experiment leaves it out.
  if (!fs::exists(path_ + "/.gitignore")) store::write_file(path_ + "/.gitignore", "*\n");
}

void drop_request(const StateDir& state, const Json& request) {
  if (const std::string fault = fault_of(request); !fault.empty())
    throw InputError("this cannot be asked of an engine: " + fault, {});
  static std::atomic<unsigned> counter{0};
  std::error_code error;
  fs::create_directories(state.inbox(), error);  // where this fails, writing says why
  const std::string name =
      fmt::format("{:020}-{}-{:06}{}", system_clock().now(), ::getpid(), counter++, kRequestSuffix);
  store::write_file(state.inbox() + "/" + name, request.dump() + "\n");
}

void take_requests(const StateDir& state, const std::function<bool(const Requests&)>& record) {
  const std::vector<std::string> files = waiting(state.inbox());
  if (files.empty()) return;
  Requests found;
  for (const std::string& file : files) {
    const Json request = Json::parse(read_file(file, kMostRequestBytes), nullptr, false);
    if (fault_of(request).empty())
      found.requests.push_back(request);
    else
      found.rejected.push_back(file);
  }
  if (!record(found)) return;
  for (const std::string& file : files) fs::remove(file);
}

}  // namespace godwit::journal
