// An experiment that is planned as a change of what it was.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "godwit/experiment/ids.h"
#include "godwit/experiment/plan.h"

namespace godwit::experiment {
namespace {

namespace fs = std::filesystem;

Planned plan_of(const std::string& experiment, const dag::Earlier* earlier = nullptr) {
  char name[] = "/tmp/godwit-edit-XXXXXX";
  const fs::path folder = mkdtemp(name);
  std::ofstream(folder / "experiment.yaml")
      << "name: test\nsubmit_template: |\n  executable = /bin/true\n  transfer_executable = false\n"
      << experiment;
  std::ofstream(folder / "sites.yaml") << "a: {cpus: 1}\nb: {cpus: 1}\nc: {cpus: 1}\n";
  Planned planned = load_and_plan({folder, "", kDefaultLimit, earlier});
  fs::remove_all(folder);
  return planned;
}

// What a journal would tell after `begun` jobs of every run have begun and but the last of them is done.
dag::Earlier earlier_of(const Planned& planned, std::uint32_t begun) {
  dag::Earlier earlier;
  for (const dag::Run& run : planned.graph.runs()) {
    earlier.runs[run.uuid] = {run.number, run.seed, run.baseline, {}};
    earlier.next_number = std::max(earlier.next_number, run.number + 1);
  }
  for (dag::NodeId node = 0; node < planned.graph.size(); ++node) {
    if (planned.graph.kind(node) != dag::NodeKind::train) continue;
    auto& jobs = earlier.runs[planned.graph.runs()[planned.graph.run_of(node)].uuid].begun;
    if (jobs.size() == begun) continue;
    const auto epoch = [&](const char* key) {
      return static_cast<std::uint32_t>(std::atoi(std::string(*planned.graph.var(node, key)).c_str()));
    };
    jobs.push_back({epoch("first_epoch"), epoch("last_epoch"), planned.graph.sites()[planned.graph.planned_site(node)],
                    jobs.size() + 1 < begun});
  }
  return earlier;
}

// "0 alpha=0.1 1-3@a 4-5@b": the runs with the epochs and sites of their training jobs.
std::vector<std::string> story(const Planned& planned) {
  std::vector<std::string> out;
  for (const dag::Run& run : planned.graph.runs()) {
    std::string text = std::to_string(run.number);
    for (const auto& [name, value] : run.values) text += " " + name + "=" + value;
    out.push_back(text);
  }
  for (dag::NodeId node = 0; node < planned.graph.size(); ++node)
    if (planned.graph.kind(node) == dag::NodeKind::train)
      out[planned.graph.run_of(node)] += " " + std::string(*planned.graph.var(node, "first_epoch")) + "-" +
                                         std::string(*planned.graph.var(node, "last_epoch")) + "@" +
                                         planned.graph.sites()[planned.graph.planned_site(node)];
  return out;
}

using Texts = std::vector<std::string>;
const std::string kFixed = "placement: {policy: fixed, site: a}\n";

TEST_CASE("an experiment that was not edited is planned as it was, however far it is") {
  const std::string text = "epochs: 7\nepochs_per_job: 2\nreplicates: 2\nbaseline: b\nvars: {alpha: [1, 2, 3]}\n";
  const Planned first = plan_of(text);
  for (const std::uint32_t begun : {0u, 1u, 2u, 4u}) {
    const dag::Earlier earlier = earlier_of(first, begun);
    CHECK(story(plan_of(text, &earlier)) == story(first));
  }
}

TEST_CASE("a value inserted in the middle changes no other run: not its number, id, seed or path") {
  const Planned first = plan_of("epochs: 4\nepochs_per_job: 1\nbaseline: b\nvars: {alpha: [1, 3]}\n");
  const dag::Earlier earlier = earlier_of(first, 2);
  const Planned second = plan_of("epochs: 4\nepochs_per_job: 1\nbaseline: b\nvars: {alpha: [1, 2, 3]}\n", &earlier);
  const Texts before = story(first), after = story(second);
  REQUIRE(after.size() == 6);
  CHECK(Texts(after.begin(), after.begin() + 4) == before);
  CHECK(after[4].starts_with("4 alpha=2 "));
  CHECK(after[5].starts_with("5 alpha=2 "));
  for (std::size_t run = 0; run < 4; ++run) {
    CHECK(second.graph.runs()[run].uuid == first.graph.runs()[run].uuid);
    CHECK(second.graph.runs()[run].seed == first.graph.runs()[run].seed);
    CHECK(second.graph.runs()[run].pair == first.graph.runs()[run].pair);
  }
  CHECK(second.graph.runs()[5].pair == second.graph.runs()[4].uuid);
}

TEST_CASE("what has begun keeps its epochs; what has not is cut anew") {
  const Planned first = plan_of(kFixed + "epochs: 7\nepochs_per_job: 3\n");
  const auto after = [&](std::uint32_t begun, const std::string& edit) {
    const dag::Earlier earlier = earlier_of(first, begun);
    return story(plan_of(kFixed + edit, &earlier)).front();
  };
  CHECK(story(first).front() == "0 1-3@a 4-6@a 7-7@a");
  CHECK(after(3, "epochs: 10\nepochs_per_job: 3\n") == "0 1-3@a 4-6@a 7-7@a 8-10@a");
  CHECK(after(1, "epochs: 10\nepochs_per_job: 3\n") == "0 1-3@a 4-6@a 7-9@a 10-10@a");
  CHECK(after(1, "epochs: 7\nepochs_per_job: 2\n") == "0 1-3@a 4-5@a 6-7@a");
  // Fewer epochs: what is done stays, what only began beyond the end goes.
  CHECK(after(3, "epochs: 2\nepochs_per_job: 3\n") == "0 1-3@a 4-6@a");
  CHECK(after(2, "epochs: 5\nepochs_per_job: 3\n") == "0 1-3@a 4-6@a");
  CHECK(after(1, "epochs: 2\nepochs_per_job: 1\n") == "0 1-3@a");
}

TEST_CASE("what has begun stays at its site, as long as that takes part") {
  const std::string text = "epochs: 2\nepochs_per_job: 1\n";
  const Planned first = plan_of(text + "placement: {policy: fixed, site: a}\n");
  const dag::Earlier earlier = earlier_of(first, 1);
  CHECK(story(plan_of(text + "sites: [a, b]\nplacement: {policy: fixed, site: b}\n", &earlier)).front() ==
        "0 1-1@b 2-2@b");
  CHECK(story(plan_of(text + "baseline: a\nplacement: {policy: fixed, site: b}\n", &earlier)).front() ==
        "0 1-1@a 2-2@b");
}

TEST_CASE("a number is never given again, and a run that comes back has its own") {
  const Planned first = plan_of(kFixed + "vars: {alpha: [1, 2]}\n");
  dag::Earlier earlier = earlier_of(first, 1);
  const Planned second = plan_of(kFixed + "vars: {alpha: [3, 1]}\n", &earlier);
  CHECK(story(second) == Texts{"0 alpha=1 1-1@a", "2 alpha=3 1-1@a"});
  for (const auto& [uuid, run] : earlier_of(second, 1).runs) earlier.runs[uuid] = run;
  earlier.next_number = 3;
  CHECK(story(plan_of(kFixed + "vars: {alpha: [4, 3, 2]}\n", &earlier)) ==
        Texts{"1 alpha=2 1-1@a", "2 alpha=3 1-1@a", "3 alpha=4 1-1@a"});
}

TEST_CASE("ids of runs stay though a new run would have had them first") {
  const std::vector<Hash128> digests{{0x1234567800000001, 1}, {0x1234567800000002, 1}};
  const std::vector<std::string> alone = run_uuids(std::span(digests).subspan(1)).uuids;
  CHECK(run_uuids(digests).uuids[1] != alone[0]);
  const auto holder = [&](std::size_t index, const std::string& uuid) {
    return uuid != alone[0] ? Holder::nobody : index == 1 ? Holder::this_run : Holder::another_run;
  };
  const std::vector<std::string> both = run_uuids(digests, holder).uuids;
  CHECK(both[1] == alone[0]);
  CHECK(both[0] != alone[0]);
  // And what a run that is gone had is not given to another.
  const auto gone = [&](std::size_t, const std::string& uuid) {
    return uuid == alone[0] ? Holder::another_run : Holder::nobody;
  };
  CHECK(run_uuids(digests, gone).uuids[0] != alone[0]);
}

}  // namespace
}  // namespace godwit::experiment
