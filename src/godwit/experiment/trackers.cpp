#include "godwit/experiment/trackers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "godwit/base/clock.h"
#include "godwit/base/error.h"
#include "godwit/base/hash.h"
#include "godwit/base/user.h"
#include "godwit/base/yaml.h"
#include "godwit/store/atomic_file.h"
#include "godwit/submit/paths.h"

namespace godwit::experiment {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNameLength = 40;  // W&B takes ids of up to 64 characters; "-rehearsal" and a run's are 19

bool is_folder(const ExperimentSpec& spec) {
  return !spec.mlflow.empty() && !submit::is_url(spec.mlflow);
}

// As a tracking URI. A path below the experiment is told by macro, so that the experiment may be moved.
std::string tracking_uri(const ExperimentSpec& spec) {
  if (!is_folder(spec)) return spec.mlflow;
  if (spec.mlflow.starts_with('/')) return "file://" + submit::url_path(spec.mlflow);
  return "file://$(godwit_directory_url)/" + submit::url_path(spec.mlflow);
}

// Rehearsals stay apart from what they rehearse.
std::string name_of(const ExperimentSpec& spec) {
  return tracker_name(spec.name) + (spec.results == ExperimentSpec().results ? "" : "-rehearsal");
}

// Single quotes: nothing but they themselves needs escaping.
std::string yaml_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

// One file store, and one experiment in it.
class FileStore {
 public:
  FileStore(std::string folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {
    fs::create_directories(folder_);
    id_ = find().value_or("");
    if (id_.empty()) create();
  }

  void make_run(const std::string& id, const std::string& name) const {
    const fs::path run = fs::path(folder_) / id_ / id;
    if (fs::exists(run / "meta.yaml")) return;
    for (const char* part : {"artifacts", "metrics", "params", "tags"}) fs::create_directories(run / part);
    store::write_file(run / "tags" / "mlflow.runName", name, store::Durability::process);
    store::write_file(run / "tags" / "mlflow.user", user_name(), store::Durability::process);
    const std::string text = fmt::format(
        "artifact_uri: {}\nend_time: null\nentry_point_name: ''\nexperiment_id: {}\nlifecycle_stage: active\n"
        "run_id: {}\nrun_name: {}\nrun_uuid: {}\nsource_name: ''\nsource_type: 4\nsource_version: ''\n"
        "start_time: {}\nstatus: 1\ntags: []\nuser_id: {}\n",
        yaml_text(url("/" + id_ + "/" + id + "/artifacts")), yaml_text(id_), yaml_text(id), yaml_text(name),
        yaml_text(id), now(), yaml_text(user_name()));
    store::write_file(run / "meta.yaml", text, store::Durability::process);
  }

 private:
  std::string url(const std::string& below) const { return "file://" + submit::url_path(folder_ + below); }
  static std::int64_t now() { return system_clock().now() / 1000; }  // in ms, as MLflow counts

  std::optional<std::string> find() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      const fs::path meta = entry.path() / "meta.yaml";
      if (!fs::exists(meta)) continue;
      const yaml::Node node = yaml::load(meta.string());
      const yaml::Node* name = node.find("name");
      if (name != nullptr && name->text == name_) return entry.path().filename().string();
    }
    return std::nullopt;
  }

  void create() {
    constexpr std::uint64_t kDigits = 1'000'000'000'000'000'000;  // ids are numbers of 18 digits
    id_ = fmt::format("{:018}", hash64(name_) % kDigits);
    const std::int64_t time = now();
    fs::create_directories(fs::path(folder_) / id_);
    store::write_file(fs::path(folder_) / id_ / "meta.yaml",
                      fmt::format("artifact_location: {}\ncreation_time: {}\nexperiment_id: {}\nlast_update_time: {}\n"
                                  "lifecycle_stage: active\nname: {}\n",
                                  yaml_text(url("/" + id_)), time, yaml_text(id_), time, yaml_text(name_)),
                      store::Durability::process);
  }

  std::string folder_, name_, id_;
};

InputError cannot_use(const std::string& folder, int code) {
  return InputError(fmt::format("MLflow's folder '{}' cannot be used: {}", folder, std::strerror(code)),
                    "name another folder under 'mlflow' in the experiment, or a server");
}

}  // namespace

std::string tracker_name(std::string_view experiment_name) {
  std::string out;
  for (const char c : experiment_name.substr(0, kMostNameLength)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    out += plain ? c : '-';
  }
  if (out.empty() || out.front() == '-' || out.front() == '_') out.insert(0, "x");  // MLflow's ids begin so
  return out;
}

std::vector<std::pair<std::string, std::string>> tracker_variables(const ExperimentSpec& spec, JobKind kind) {
  const std::string name = name_of(spec);
  const std::string run = name + "-$(run_uuid)";
  const bool trains = kind == JobKind::train;
  std::vector<std::pair<std::string, std::string>> out{{"WANDB_RUN_GROUP", name}};
  // Evaluations run beside the next training job; two processes in one run would overwrite each other's history.
  if (trains) {
    out.emplace_back("WANDB_RUN_ID", run);
    out.emplace_back("WANDB_RESUME", "allow");
  }
  if (spec.mlflow.empty()) return out;
  out.emplace_back("MLFLOW_TRACKING_URI", tracking_uri(spec));
  out.emplace_back("MLFLOW_EXPERIMENT_NAME", name);
  if (trains && is_folder(spec)) out.emplace_back("MLFLOW_RUN_ID", run);
  return out;
}

void make_mlflow_runs(const ExperimentSpec& spec, const dag::Graph& graph) {
  if (!is_folder(spec)) return;
  const std::string name = name_of(spec);
  try {
    const FileStore store((fs::path(spec.directory) / spec.mlflow).lexically_normal().string(), name);
    for (const dag::Run& run : graph.runs())
      store.make_run(name + "-" + run.uuid,
                     fmt::format("run{}-{}{}", run.number, run.uuid, run.baseline ? "-baseline" : ""));
  } catch (const fs::filesystem_error& error) {
    throw cannot_use(spec.mlflow, error.code().value());
  } catch (const SystemError& error) {
    throw cannot_use(spec.mlflow, error.code());
  }
}

}  // namespace godwit::experiment
