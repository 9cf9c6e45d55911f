// The experiments under tests/data/experiments come to what their facts.json says.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include "godwit/base/file.h"
#include "godwit/base/json.h"
#include "godwit/experiment/plan.h"
#include "godwit/experiment/summary.h"
#include "godwit/submit/description.h"

namespace {

using namespace godwit;
using experiment::Planned;

std::string data(const std::string& name) {
  const char* source = std::getenv("GODWIT_SOURCE");
  return (std::filesystem::path(source == nullptr ? "../.." : source) / "tests/data/experiments" / name).string();
}

Json facts_of(const std::string& name) {
  return Json::parse(read_file(data(name) + "/facts.json"));
}

dag::NodeId node(const Planned& planned, const std::string& name) {
  const auto found = planned.graph.find(name);
  REQUIRE_MESSAGE(found.has_value(), "no node " << name);
  return *found;
}

std::optional<std::string> var(const Planned& planned, const std::string& name, const std::string& key) {
  const auto value = planned.graph.var(node(planned, name), key);
  return value ? std::optional<std::string>(*value) : std::nullopt;
}

// The submit description of a node after its statements have run.
submit::Evaluated evaluated(const Planned& planned, dag::NodeId id) {
  return submit::evaluate(*planned.graph.description(id, planned.graph.planned_site(id)),
                          [&planned, id](std::string_view name) -> std::optional<std::string> {
                            std::optional<std::string> out;
                            planned.graph.each_var(id, [&](std::string_view key, std::string_view value) {
                              std::string lower_case(key);
                              for (char& c : lower_case) c = static_cast<char>(std::tolower(c));
                              if (lower_case == name) out = value;
                            });
                            return out;
                          });
}

TEST_CASE("the slides' experiment") {
  const Planned planned = experiment::load_and_plan({data("global_pretraining"), "", experiment::kDefaultLimit});
  const Json facts = facts_of("global_pretraining");
  const Json plan = experiment::to_json(planned, true);

  for (const char* count : {"training_runs", "training_jobs", "edges_train_to_train"})
    CHECK(plan[count] == facts[count]);
  CHECK(plan["jobs_per_run"]["fewest"] == facts["jobs_per_run"]);
  CHECK(plan["jobs_per_run"]["most"] == facts["jobs_per_run"]);
  CHECK(plan["nodes"].front()["name"] == facts["first_node"]);
  CHECK(plan["nodes"].back()["name"] == facts["last_node"]);

  Json alpha;
  for (const Json& variable : plan["variables"])
    if (variable["name"] == "alpha") alpha = variable["values"];
  CHECK(alpha == facts["alpha"]);

  for (const Json& each : plan["nodes"])
    for (const Json& name : facts["vars_on_every_node"]) CHECK(each["vars"].contains(name.get<std::string>()));
  CHECK(plan["nodes"][0]["vars"]["ResourceName"] == "default");
  CHECK(var(planned, "run0-train_epoch0", "epoch") == facts["epoch_of_run0_train_epoch0"]);
  CHECK(var(planned, "run9-train_epoch5", "epoch") == facts["epoch_of_run9_train_epoch5"]);

  const std::string text = plan["submit"]["train"]["default"];
  CHECK(text.find("{resource") == std::string::npos);
  for (const Json& macro : facts["macros_left_for_VARS"])
    CHECK(text.find(macro.get<std::string>()) != std::string::npos);
  const submit::Evaluated values = evaluated(planned, 0);
  for (const Json& key : facts["braces_filled_in_submit"]) {
    CAPTURE(key);
    CHECK_FALSE(values.get(key.get<std::string>()).value_or("").empty());
  }

  // The definition is right; this machine alone cannot run it.
  CHECK_FALSE(planned.blockers.empty());
  CHECK_THROWS_AS(experiment::require_runnable(planned), InputError);
}

TEST_CASE("the older pair of Experiment.yaml and resources.yaml") {
  const Planned planned = experiment::load_and_plan({data("mldag_style"), "", experiment::kDefaultLimit});
  const Json facts = facts_of("mldag_style");
  const Json plan = experiment::to_json(planned, false);

  for (const char* count : {"training_runs", "training_jobs", "edges_train_to_train"})
    CHECK(plan[count] == facts[count]);
  CHECK(Json(planned.graph.sites()) == facts["sites"]);
  CHECK(std::filesystem::path(planned.sites_file).filename() == "resources.yaml");
  for (const sites::Site& site : planned.sites) CHECK(site.executor == "annex");

  for (std::size_t run = 0; run < 3; ++run)
    CHECK(var(planned, "run" + std::to_string(run) + "-train_epoch7", "run_number") == facts["run_number"][run]);
  CHECK(var(planned, "run0-train_epoch0", "epoch") == facts["epoch_of_run0_train_epoch0"]);
  CHECK(var(planned, "run0-train_epoch29", "epoch") == facts["epoch_of_run0_train_epoch29"]);
  CHECK(var(planned, "run0-train_epoch0", "continue_from_checkpoint").has_value() ==
        facts["first_job_has_continue_from_checkpoint"].get<bool>());
  CHECK(var(planned, "run0-train_epoch1", "continue_from_checkpoint").has_value() ==
        facts["second_job_has_continue_from_checkpoint"].get<bool>());

  CHECK(evaluated(planned, node(planned, "run0-train_epoch0")).get("transfer_input_files") ==
        facts["transfer_input_files_of_first_job"]);
  const auto second = evaluated(planned, node(planned, "run0-train_epoch1")).get("transfer_input_files");
  const std::string uuid = planned.graph.runs()[0].uuid;
  CHECK(second.value_or("").ends_with(", output/training_logs/" + uuid));
}

}  // namespace
