#include "godwit/experiment/trackers.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "godwit/base/file.h"
#include "godwit/base/yaml.h"
#include "godwit/store/atomic_file.h"
#include "godwit/store/test_folder.h"

namespace godwit::experiment {
namespace {

namespace fs = std::filesystem;

dag::Graph two_runs() {
  dag::Graph graph;
  for (const char* uuid : {"d35b3ea9", "0badcafe"}) {
    dag::Run run;
    run.uuid = uuid;
    graph.add_run(std::move(run));
  }
  graph.freeze();
  return graph;
}

// The only experiment in the store.
fs::path experiment_in(const fs::path& store) {
  fs::path found;
  int count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(store)) found = entry.path(), ++count;
  CHECK(count == 1);
  return found;
}

TEST_CASE("each run gets a folder in MLflow's store, once") {
  const store::TestFolder folder;
  ExperimentSpec spec;
  spec.name = "first try";
  spec.directory = folder.path();
  spec.mlflow = "mlruns";
  make_mlflow_runs(spec, two_runs());
  const fs::path experiment = experiment_in(folder / "mlruns");
  CHECK(yaml::load(experiment / "meta.yaml").find("name")->text == "first-try");
  const fs::path run = experiment / "first-try-d35b3ea9";
  const yaml::Node meta = yaml::load(run / "meta.yaml");
  CHECK(meta.find("run_id")->text == "first-try-d35b3ea9");
  CHECK(meta.find("experiment_id")->text == experiment.filename().string());
  CHECK(fs::is_directory(run / "metrics"));
  CHECK(fs::is_directory(experiment / "first-try-0badcafe"));

  const std::string before = read_file(run / "meta.yaml");
  make_mlflow_runs(spec, two_runs());
  CHECK(read_file(run / "meta.yaml") == before);
  experiment_in(folder / "mlruns");
}

TEST_CASE("an experiment that MLflow made itself is used") {
  const store::TestFolder folder;
  fs::create_directories(folder / "mlruns/7");
  store::write_file(folder / "mlruns/7/meta.yaml", "experiment_id: '7'\nname: mine\n");
  ExperimentSpec spec;
  spec.name = "mine";
  spec.directory = folder.path();
  spec.mlflow = folder / "mlruns";
  make_mlflow_runs(spec, two_runs());
  CHECK(fs::exists(folder / "mlruns/7/mine-0badcafe/meta.yaml"));
}

TEST_CASE("nothing is made without a folder, and what is in its way is named") {
  const store::TestFolder folder;
  ExperimentSpec spec;
  spec.name = "mine";
  spec.directory = folder.path();
  make_mlflow_runs(spec, two_runs());
  spec.mlflow = "http://localhost:5000";
  make_mlflow_runs(spec, two_runs());
  CHECK(fs::is_empty(folder.path()));
  store::write_file(folder / "mlruns", "a file");
  spec.mlflow = "mlruns";
  CHECK_THROWS_WITH_AS(make_mlflow_runs(spec, two_runs()), doctest::Contains("MLflow's folder 'mlruns'"), InputError);
}

}  // namespace
}  // namespace godwit::experiment
