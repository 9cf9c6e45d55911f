#include "godwit/experiment/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "godwit/experiment/keys.h"
#include "godwit/experiment/starter.h"
#include "godwit/experiment/summary.h"

namespace godwit::experiment {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/godwit-plan-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  Folder& write(const std::string& name, const std::string& text) {
    std::ofstream(path_ / name) << text;
    return *this;
  }
  Planned plan(const std::string& sites_file = "") const { return load_and_plan({path_, sites_file, kDefaultLimit}); }

 private:
  fs::path path_;
};

const std::string kTrue = "submit_template: |\n  executable = /bin/true\n  transfer_executable = false\n";
const std::string kThreeSites = "a: {cpus: 1}\nb: {cpus: 1}\nc: {cpus: 1}\n";

Planned plan_of(const std::string& experiment, const std::string& sites = "") {
  Folder folder;
  folder.write("experiment.yaml", "name: test\n" + kTrue + experiment);
  if (!sites.empty()) folder.write("sites.yaml", sites);
  return folder.plan();
}

std::string var(const Planned& planned, const std::string& node, const std::string& key) {
  const auto id = planned.graph.find(node);
  if (!id) return "(no node)";
  return std::string(planned.graph.var(*id, key).value_or("(none)"));
}

std::vector<std::string> node_names(const Planned& planned) {
  std::vector<std::string> out;
  for (dag::NodeId node = 0; node < planned.graph.size(); ++node) out.emplace_back(planned.graph.name_of(node));
  return out;
}

std::vector<std::string> uuids(const Planned& planned) {
  std::vector<std::string> out;
  for (const dag::Run& run : planned.graph.runs()) out.push_back(run.uuid);
  return out;
}

using Texts = std::vector<std::string>;

TEST_CASE("a run is cut into jobs of so many epochs, the last one shorter") {
  const Planned planned = plan_of("epochs: 7\nepochs_per_job: 3\nvars: {alpha: 0.5}\n");
  CHECK(node_names(planned) == Texts{"run0-train_epoch0", "run0-train_epoch1", "run0-train_epoch2"});
  const char* expected[][3] = {{"1", "3", "(none)"}, {"4", "6", "3"}, {"7", "7", "6"}};
  for (std::size_t job = 0; job < 3; ++job) {
    const std::string node = "run0-train_epoch" + std::to_string(job);
    CAPTURE(node);
    CHECK(var(planned, node, "first_epoch") == expected[job][0]);
    CHECK(var(planned, node, "last_epoch") == expected[job][1]);
    CHECK(var(planned, node, "epoch") == expected[job][1]);
    CHECK(var(planned, node, "checkpoint_epoch") == expected[job][2]);
    CHECK(var(planned, node, "continue_from_checkpoint") == (job == 0 ? "(none)" : "true"));
    CHECK(var(planned, node, "alpha") == "0.5");
    CHECK(var(planned, node, "epochs") == "7");
    CHECK(var(planned, node, "ResourceName") == "default");
  }
}

TEST_CASE("without epochs, a run is one job") {
  CHECK(node_names(plan_of("vars: {alpha: [1, 2]}\n")) == Texts{"run0-train_epoch0", "run1-train_epoch0"});
}

TEST_CASE("epochs may differ between runs") {
  const Planned planned = plan_of("vars: {epochs: [1, 3]}\n");
  CHECK(node_names(planned) ==
        Texts{"run0-train_epoch0", "run1-train_epoch0", "run1-train_epoch1", "run1-train_epoch2"});
}

TEST_CASE("an evaluation stands beside each so-manyth job, with the slides' edges") {
  const Planned planned = plan_of(
      "epochs: 5\nevaluation:\n  every: 2\n  submit_template: |\n    executable = /bin/true\n"
      "    transfer_executable = false\n");
  CHECK(node_names(planned) == Texts{"run0-train_epoch0", "run0-train_epoch1", "run0-eval_epoch2", "run0-train_epoch2",
                                     "run0-train_epoch3", "run0-eval_epoch4", "run0-train_epoch4"});
  const dag::NodeId evaluation = *planned.graph.find("run0-eval_epoch2");
  REQUIRE(planned.graph.parents(evaluation).size() == 1);
  CHECK(planned.graph.name_of(planned.graph.parents(evaluation)[0]) == "run0-train_epoch1");
  CHECK(planned.graph.children(evaluation).empty());
  CHECK(var(planned, "run0-eval_epoch2", "epoch") == "2");
  CHECK(var(planned, "run0-eval_epoch2", "checkpoint_epoch") == "2");
}

TEST_CASE("a baseline adds control runs with the values and seeds of their pairs, at one site") {
  const Planned planned = plan_of("epochs: 6\nvars: {alpha: [1, 2]}\nbaseline: b\n", kThreeSites);
  const auto& runs = planned.graph.runs();
  REQUIRE(runs.size() == 4);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK_FALSE(runs[i].baseline);
    CHECK(runs[i + 2].baseline);
    CHECK(runs[i + 2].seed == runs[i].seed);
    CHECK(runs[i + 2].values == runs[i].values);
    CHECK(runs[i + 2].pair == runs[i].pair);
    CHECK(runs[i + 2].uuid != runs[i].uuid);
  }
  const auto paths = site_paths(planned, 4);
  CHECK(std::set(paths[0].begin(), paths[0].begin() + 3).size() == 3);
  CHECK(std::set(paths[2].begin(), paths[2].end()) == std::set<dag::SiteId>{1});
  CHECK(planned.placement_reason(*planned.graph.find("run2-train_epoch0")).starts_with("baseline"));
  CHECK(planned.placement_reason(*planned.graph.find("run0-train_epoch0")).starts_with("shuffle"));
}

TEST_CASE("replicates repeat each combination with other seeds") {
  const Planned planned = plan_of("replicates: 3\nvars: {alpha: [1, 2]}\n");
  CHECK(planned.graph.runs().size() == 6);
  std::set<std::uint32_t> seeds;
  for (const dag::Run& run : planned.graph.runs()) seeds.insert(run.seed);
  CHECK(seeds.size() == 6);
  CHECK(planned.graph.runs()[1].values == planned.graph.runs()[0].values);
}

TEST_CASE("an edited experiment keeps the ids of the runs that it still has") {
  const Texts before = uuids(plan_of("epochs: 3\nvars: {alpha: [1, 2], beta: x}\n"));
  CHECK(uuids(plan_of("epochs: 3\nvars: {alpha: [1, 2], beta: x}\n")) == before);
  CHECK(uuids(plan_of("epochs: 30\nepochs_per_job: 5\nvars: {alpha: [1, 2], beta: x}\n")) == before);
  CHECK(uuids(plan_of("vars: {beta: x, epochs: 4, alpha: [2, 1]}\n")) == Texts{before[1], before[0]});
  CHECK(uuids(plan_of("vars: {alpha: [0, 1, 2], beta: x}\nexclude: alpha == 0\n")) == before);
  CHECK(uuids(plan_of("seed: 7\nvars: {alpha: [1, 2], beta: x}\n")) != before);
  CHECK(uuids(plan_of("vars: {alpha: [1, 2], beta: y}\n")) != before);
}

TEST_CASE("run_number is the run's, unless the user has a variable of that name") {
  CHECK(var(plan_of("vars: {alpha: [5, 6]}\n"), "run1-train_epoch0", "run_number") == "1");
  CHECK(var(plan_of("vars: {run_number: [5, 6]}\n"), "run1-train_epoch0", "run_number") == "6");
}

TEST_CASE("written values keep their text") {
  const Planned planned = plan_of("vars: {a: 1e-4, b: 007, c: no, d: {type: range, stop: 0.4, step: 0.1}}\n");
  CHECK(var(planned, "run3-train_epoch0", "a") == "1e-4");
  CHECK(var(planned, "run3-train_epoch0", "b") == "007");
  CHECK(var(planned, "run3-train_epoch0", "c") == "no");
  CHECK(var(planned, "run3-train_epoch0", "d") == "0.3");
}

TEST_CASE("what few values cover: retries, priorities, categories, scripts") {
  const Planned planned = plan_of(
      "epochs: 3\nretry: {count: 4, unless_exit: 3, request_memory: x2 up to 128GB}\nmax_jobs: {b: 2, total: 7}\n"
      "scripts: {pre: [/bin/echo, a b], post: /bin/echo c d}\n",
      kThreeSites);
  for (dag::NodeId node = 0; node < planned.graph.size(); ++node) {
    const dag::Attributes& attributes = planned.graph.attributes(node);
    CHECK(attributes.retries == 4);
    CHECK(attributes.unless_exit == 3);
    CHECK(attributes.memory_escalation == dag::Escalation{2, 131072});
    CHECK(attributes.priority == static_cast<std::int32_t>(node));
    CHECK(attributes.category == (planned.graph.planned_site(node) == 1 ? "b" : ""));
    CHECK(attributes.pre == dag::Script{"/bin/echo", {"a b"}});
    CHECK(attributes.post == dag::Script{"/bin/echo", {"c", "d"}});
  }
  CHECK(planned.graph.category_limits() == std::vector<std::pair<std::string, std::uint32_t>>{{"b", 2}});
  CHECK(planned.graph.max_jobs == 7);

  CHECK(plan_of("epochs: 2\npriority: none\n").graph.attributes(1).priority == 0);
  CHECK(plan_of("epochs: 2\npriority: -5\n").graph.attributes(1).priority == -5);
}

TEST_CASE("services are nodes of their own, outside the runs") {
  const Planned planned =
      plan_of("services:\n  watch: |\n    executable = /bin/true\n    transfer_executable = false\n");
  const dag::NodeId service = *planned.graph.find("watch");
  CHECK(planned.graph.kind(service) == dag::NodeKind::service);
  CHECK(planned.graph.run_of(service) == dag::kNoRun);
  CHECK(planned.graph.parents(service).empty());
}

TEST_CASE("where sites come from") {
  const auto names = [](const Planned& planned) { return planned.graph.sites(); };
  CHECK(names(plan_of("")) == Texts{"default"});
  CHECK(names(plan_of("sites: [local]\n")) == Texts{"local"});
  CHECK(names(plan_of("", kThreeSites)) == Texts{"a", "b", "c"});
  CHECK(names(plan_of("sites: [c, a]\n", kThreeSites)) == Texts{"c", "a"});
  CHECK(names(plan_of("sites: [c]\nbaseline: local\n", kThreeSites)) == Texts{"c", "local"});
  CHECK(names(plan_of("sites: {x: {cpus: 1}, y: {cpus: 1}}\n", kThreeSites)) == Texts{"x", "y"});
  CHECK(names(plan_of("placement: {policy: fixed, site: b}\n", kThreeSites)) == Texts{"b"});
  CHECK(names(plan_of("placement: fixed\n", kThreeSites)) == Texts{"a"});

  Folder folder;
  folder.write("experiment.yaml", "name: test\n" + kTrue).write("sites.yaml", kThreeSites).write("other.yaml", "z:\n");
  CHECK(names(folder.plan(folder.path() / "other.yaml")) == Texts{"z"});
}

TEST_CASE("sites fill the braces of a template, and may have templates of their own") {
  Folder folder;
  folder
      .write("experiment.yaml",
             "name: test\nsubmit_template: |\n  executable = /bin/true\n  transfer_executable = false\n"
             "  request_memory = {resource.mem}\n  +Rack = \"{resource.rack}\"\n"
             "submit_templates:\n  b: |\n    executable = /bin/false\n    transfer_executable = false\n"
             "resource_defaults: {mem: 2MB, rack: none}\n")
      .write("sites.yaml", "a: {mem: 1MB, attributes: {rack: r1}}\nb: {}\nc: {}\n");
  const Planned planned = folder.plan();
  const auto text = [&](dag::SiteId site) { return planned.graph.templates()[0].at_site[site]->text(); };
  CHECK(text(0).find("request_memory = 1MB") != std::string::npos);
  CHECK(text(0).find("+Rack = \"r1\"") != std::string::npos);
  CHECK(text(1).find("executable = /bin/false") != std::string::npos);
  CHECK(text(2).find("request_memory = 2MB") != std::string::npos);
  CHECK(text(2).find("+Rack = \"none\"") != std::string::npos);
}

TEST_CASE("what this version cannot run is said apart from what is wrong") {
  const Planned planned = plan_of("epochs: 2\n", "far: {executor: slurm}\nnear: {cpus: 1}\n");
  REQUIRE(planned.blockers.size() == 1);
  CHECK(planned.blockers[0].message.find("slurm") != std::string::npos);
  CHECK_THROWS_AS(require_runnable(planned), InputError);
  require_runnable(plan_of("", "near: {cpus: 1}\n"));
}

TEST_CASE("what is allowed but hardly meant gives a warning") {
  const std::string evaluated =
      "evaluation:\n  every: 3\n  submit_template: |\n    executable = /bin/true\n    transfer_executable = false\n";
  struct Case {
    std::string experiment;
    const char* said;  // "" for nothing
  };
  const Case cases[] = {
      {"epochs: 2\ncheckpoint: model.bin\n", ""},
      {"epochs: 2\n", "hand nothing on"},
      {"epochs: 1\n", ""},
      {"epochs: 2\ncheckpoint: m\n" + evaluated, "nothing is evaluated: no run has more than 2 jobs: 'every: 3'"},
      {"epochs: 3\ncheckpoint: m\n" + evaluated, ""},
      {"sites: [local]\nbaseline: local\n", "compares it with itself"},
      {"vars: {p: {type: table, rows: [{x: 1}, {x: 2}, {x: 1}, {x: 1}]}}\n", "2 runs have the same values as another"},
      {"vars: {alpha: [1, 2]}\nbaseline: default\nreplicates: 2\nsites: [default, local]\n", ""},
  };
  for (const Case& c : cases) {
    const Planned planned = plan_of(c.experiment);
    CAPTURE(c.experiment);
    REQUIRE(planned.warnings.size() == (*c.said == '\0' ? 0 : 1));
    if (*c.said != '\0') CHECK(planned.warnings[0].render().find(c.said) != std::string::npos);
  }
}

TEST_CASE("a scheduler elsewhere may know better than the catalogue: that is a warning") {
  Folder folder;
  folder.write("experiment.yaml", "name: t\nepochs: 2\ncheckpoint: m\n" + kTrue + "  request_cpus = 4\n")
      .write("sites.yaml", "big: {executor: slurm, cpus: 8}\nsmall: {executor: slurm, cpus: 1}\n");
  const Planned asking = folder.plan();
  REQUIRE(asking.warnings.size() == 1);
  CHECK(asking.warnings[0].message == "asks 4 processor cores; site 'small' offers 1 processor core");
}

TEST_CASE("requests beyond a machine that nobody described are no fault of the experiment") {
  Folder folder;
  folder.write("experiment.yaml", "name: t\n" + kTrue + "  request_gpus = 4096\n");
  const Planned planned = folder.plan();
  REQUIRE(planned.blockers.size() == 1);
  CHECK(planned.blockers[0].message.find("asks 4,096 GPUs; no site offers more than") != std::string::npos);
}

TEST_CASE("the starter runs as it is, and is not written over anything") {
  Folder folder;
  const std::string there = folder.path() / "new";
  CHECK(write_starter(there).size() == starter_files().size());
  const Planned planned = load_and_plan({there, "", kDefaultLimit});
  require_runnable(planned);
  CHECK(planned.warnings.empty());
  const Summary summary = summarize(planned);
  CHECK(summary.baseline_runs == summary.runs - summary.baseline_runs);
  CHECK_THROWS_AS(write_starter(there), InputError);
}

TEST_CASE("the schema and the reader know the same keys") {
  const Json schema = file_schema();
  CHECK(schema["properties"].size() == experiment_keys().size());
  for (const schema::Key& key : experiment_keys()) {
    Folder folder;
    folder.write("experiment.yaml", std::string(key.name) + ": {nonsense: {}}\n");
    std::string message;
    try {
      folder.plan();
    } catch (const InputError& error) {
      message = error.what();
    }
    CAPTURE(key.name);
    CAPTURE(message);
    CHECK(message.find("has no such key: '" + std::string(key.name) + "'") == std::string::npos);
  }
}

// "type: range" and so on; a random variable has other keys with each distribution.
Texts kinds_of_variables() {
  Texts kinds;
  Json distributions;
  for (const schema::Key& key : variable_keys())
    if (key.name == "distribution") distributions = key.type["enum"];
  for (const Json& type : variable_keys().front().type["enum"]) kinds.push_back("type: " + type.get<std::string>());
  for (const Json& name : distributions) kinds.push_back("type: random, distribution: " + name.get<std::string>());
  return kinds;
}

TEST_CASE("the schema's keys of variables are keys of some type, and its types exist") {
  const auto message_of = [](const std::string& variable) -> std::string {
    try {
      plan_of("vars:\n  v: {" + variable + "}\n");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const Texts kinds = kinds_of_variables();
  for (const std::string& kind : kinds) {
    const std::string message = message_of(kind + ", nonsense: 1");
    CAPTURE(kind);
    CAPTURE(message);
    CHECK(message.find("no such key: 'nonsense'") != std::string::npos);
  }
  for (const schema::Key& key : variable_keys()) {
    if (key.name == "type" || key.name == "distribution") continue;
    CAPTURE(key.name);
    CHECK(std::any_of(kinds.begin(), kinds.end(), [&](const std::string& kind) {
      const std::string name(key.name);
      return message_of(kind + ", " + name + ": 1").find("no such key: '" + name) == std::string::npos;
    }));
  }
}

TEST_CASE("the same experiment gives the same plan") {
  const std::string text =
      "epochs: 9\nreplicates: 2\nvars: {a: {type: random, distribution: uniform, low: 0, high: 1, "
      "count: 5}}\nbaseline: a\n";
  const Json first = to_json(plan_of(text, kThreeSites), true);
  const Json second = to_json(plan_of(text, kThreeSites), true);
  CHECK(first["nodes"] == second["nodes"]);
  CHECK(first["runs"] == second["runs"]);
}

}  // namespace
}  // namespace godwit::experiment
