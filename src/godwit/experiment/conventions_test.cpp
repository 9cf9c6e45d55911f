#include "godwit/experiment/conventions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "godwit/experiment/trackers.h"
#include "godwit/submit/quoting.h"

namespace godwit::experiment {
namespace {

using Variables = std::map<std::string, std::string>;

const Variables kFirst{{"run_uuid", "d35b3ea9"}, {"first_epoch", "1"}, {"last_epoch", "5"}};
const Variables kSecond{{"run_uuid", "d35b3ea9"},
                        {"first_epoch", "6"},
                        {"last_epoch", "10"},
                        {"continue_from_checkpoint", "true"},
                        {"checkpoint_epoch", "5"}};

ExperimentSpec with_checkpoint() {
  ExperimentSpec spec;
  spec.checkpoint = {"model.bin", "best.bin"};
  return spec;
}

jobs::JobSpec job_of(const std::string& text, const ExperimentSpec& spec, const Variables& variables,
                     JobKind kind = JobKind::train) {
  Diagnostics diagnostics;
  submit::Description description = submit::Description::parse("executable = train\n" + text, {}, diagnostics);
  diagnostics.throw_if_errors();
  add_conventions(description, spec, kind);
  // What DAGMan gets is text.
  description = submit::Description::parse(description.text(), {}, diagnostics);
  diagnostics.throw_if_errors();
  const submit::Lookup lookup = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return submit::resolve(description, lookup, {"/experiment", "run0-train_epoch1", 2, 1});
}

std::string environment(const jobs::JobSpec& job, const std::string& name) {
  for (const auto& [key, value] : job.environment)
    if (key == name) return value;
  return "(none)";
}

std::vector<std::string> inputs(const jobs::JobSpec& job) {
  std::vector<std::string> out;
  for (const jobs::InputFile& input : job.inputs) out.push_back(input.source + (input.contents_only ? "/" : ""));
  return out;
}

std::vector<std::string> outputs(const jobs::JobSpec& job) {
  std::vector<std::string> out;
  for (const jobs::OutputFile& file : job.outputs)
    if (!file.always) out.push_back(file.name + " -> " + file.target + (file.required ? "" : " (optional)"));
  return out;
}

using Texts = std::vector<std::string>;

TEST_CASE("a job learns its run, its epochs and its files from the environment") {
  const jobs::JobSpec job = job_of("", with_checkpoint(), kSecond);
  CHECK(environment(job, "GODWIT_RUN") == "d35b3ea9");
  CHECK(environment(job, "GODWIT_FIRST_EPOCH") == "6");
  CHECK(environment(job, "GODWIT_LAST_EPOCH") == "10");
  CHECK(environment(job, "GODWIT_CHECKPOINT") == "model.bin");
  CHECK(environment(job, "GODWIT_METRICS") == "metrics.jsonl");
  CHECK(environment(job_of("", {}, kSecond), "GODWIT_CHECKPOINT") == "(none)");
}

TEST_CASE("the template's own environment is kept, in either quoting and in every branch") {
  const std::pair<const char*, const char*> cases[] = {
      {"environment = \"A=1 B='two words'\"", "two words"},
      {"environment = A=1;B=two words", "two words"},
      {"environment = \"\"", "(none)"},
      {"environment =", "(none)"},
      {"env = \"B=short\"", "short"},
      {"if defined continue_from_checkpoint\n environment = \"B=later\"\nelse\n environment = \"B=first\"\nendif",
       "later"},
      {"if defined nonsense\n environment = \"B=never\"\nendif", "(none)"},
      {"environment = B=1\nenvironment = $(environment);C=2", "1"},
  };
  for (const auto& [text, b] : cases) {
    CAPTURE(text);
    const jobs::JobSpec job = job_of(text, {}, kSecond);
    CHECK(environment(job, "B") == b);
    CHECK(environment(job, "GODWIT_RUN") == "d35b3ea9");
    CHECK(environment(job, "GODWIT_LAST_EPOCH") == "10");
  }
}

TEST_CASE("trackers see all training jobs of a run as one run, and the template's own setting wins") {
  ExperimentSpec spec;
  spec.name = "my first: try";
  spec.mlflow = "ml runs";
  const jobs::JobSpec job = job_of("", spec, kSecond);
  CHECK(environment(job, "WANDB_RUN_ID") == "my-first--try-d35b3ea9");
  CHECK(environment(job, "WANDB_RESUME") == "allow");
  CHECK(environment(job, "WANDB_RUN_GROUP") == "my-first--try");
  CHECK(environment(job, "MLFLOW_RUN_ID") == "my-first--try-d35b3ea9");
  CHECK(environment(job, "MLFLOW_EXPERIMENT_NAME") == "my-first--try");
  CHECK(environment(job, "MLFLOW_TRACKING_URI") == "file:///experiment/ml%20runs");

  const jobs::JobSpec evaluation = job_of("", spec, kSecond, JobKind::evaluate);
  CHECK(environment(evaluation, "WANDB_RUN_ID") == "(none)");
  CHECK(environment(evaluation, "MLFLOW_RUN_ID") == "(none)");
  CHECK(environment(evaluation, "WANDB_RUN_GROUP") == "my-first--try");

  spec.mlflow = "https://mlflow.example.org/a";  // a server chooses its runs' ids
  CHECK(environment(job_of("", spec, kSecond), "MLFLOW_TRACKING_URI") == "https://mlflow.example.org/a");
  CHECK(environment(job_of("", spec, kSecond), "MLFLOW_RUN_ID") == "(none)");
  CHECK(environment(job_of("", {}, kSecond), "MLFLOW_TRACKING_URI") == "(none)");

  for (const char* own : {"environment = \"WANDB_RUN_GROUP='of mine' WANDB_RESUME=never\"",
                          "environment = WANDB_RUN_GROUP=of mine;WANDB_RESUME=never"}) {
    const jobs::JobSpec changed = job_of(own, spec, kSecond);
    CHECK(environment(changed, "WANDB_RUN_GROUP") == "of mine");
    CHECK(environment(changed, "WANDB_RESUME") == "never");
    CHECK(environment(changed, "WANDB_RUN_ID") == "my-first--try-d35b3ea9");
  }
}

TEST_CASE("an experiment's name becomes one that trackers take") {
  CHECK(tracker_name("first") == "first");
  CHECK(tracker_name("a/b#c?d%e:f g") == "a-b-c-d-e-f-g");
  CHECK(tracker_name("_x") == "x_x");
  CHECK(tracker_name(std::string(200, 'n')).size() == 40);
}

TEST_CASE("the checkpoint comes back under the run and goes on to the next job") {
  const jobs::JobSpec first = job_of("", with_checkpoint(), kFirst);
  CHECK(inputs(first) == Texts{});
  CHECK(outputs(first) == Texts{"model.bin -> runs/d35b3ea9/checkpoints/5/model.bin",
                                "best.bin -> runs/d35b3ea9/checkpoints/5/best.bin (optional)"});
  CHECK(first.checkpoint_files == Texts{"model.bin", "best.bin"});
  CHECK(first.checkpoint_exit_code == 85);
  CHECK(inputs(job_of("", with_checkpoint(), kSecond)) == Texts{"runs/d35b3ea9/checkpoints/5/"});
}

TEST_CASE("the template's own files are kept") {
  const jobs::JobSpec job = job_of(
      "transfer_input_files = data.csv\ntransfer_output_files = log.txt\n"
      "transfer_output_remaps = \"log.txt = logs/$(run_uuid).txt\"",
      with_checkpoint(), kSecond);
  CHECK(inputs(job) == Texts{"data.csv", "runs/d35b3ea9/checkpoints/5/"});
  CHECK(outputs(job) == Texts{"log.txt -> logs/d35b3ea9.txt", "model.bin -> runs/d35b3ea9/checkpoints/10/model.bin",
                              "best.bin -> runs/d35b3ea9/checkpoints/10/best.bin (optional)"});
}

TEST_CASE("an evaluation job starts from the checkpoint of the job beside it and gives none back") {
  Variables variables = kFirst;
  variables["checkpoint_epoch"] = "5";
  const jobs::JobSpec job = job_of("", with_checkpoint(), variables, JobKind::evaluate);
  CHECK(inputs(job) == Texts{"runs/d35b3ea9/checkpoints/5/"});
  CHECK(outputs(job) == Texts{});
  CHECK(environment(job, "GODWIT_CHECKPOINT") == "model.bin");
}

TEST_CASE("metrics are followed under their name, and come back where the experiment names them") {
  ExperimentSpec spec;
  CHECK(job_of("", spec, kFirst).metrics_file == "metrics.jsonl");
  CHECK(outputs(job_of("", spec, kFirst)) == Texts{});
  spec.metrics = "history.jsonl";
  spec.names_metrics = true;
  const jobs::JobSpec job = job_of("", spec, kFirst);
  CHECK(job.metrics_file == "history.jsonl");
  CHECK(outputs(job) == Texts{"history.jsonl -> runs/d35b3ea9/metrics/run0-train_epoch1.2.jsonl (optional)"});
}

TEST_CASE("what W&B wrote offline comes back to the run's folder") {
  const jobs::JobSpec job = job_of("", {}, kFirst);
  REQUIRE(job.outputs.size() == 1);
  CHECK(job.outputs[0].name == "wandb/offline-run-*");
  CHECK(job.outputs[0].target == "runs/d35b3ea9/wandb/");
  CHECK(job.outputs[0].always);
  CHECK_FALSE(job.outputs[0].required);
}

TEST_CASE("logs go to the run's folder unless the template says where") {
  const jobs::JobSpec job = job_of("", {}, kFirst);
  CHECK(job.stdout_path == "/experiment/runs/d35b3ea9/logs/run0-train_epoch1.2.out");
  CHECK(job.stderr_path == "/experiment/runs/d35b3ea9/logs/run0-train_epoch1.2.err");
  CHECK(job_of("output = mine.txt", {}, kFirst).stdout_path == "/experiment/mine.txt");
  CHECK(job_of("stderr = /dev/null", {}, kFirst).stderr_path.empty());
}

}  // namespace
}  // namespace godwit::experiment
