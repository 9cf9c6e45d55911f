#include "godwit/engine/edit.h"

#include <doctest/doctest.h>

#include "godwit/engine/definition.h"
#include "godwit/journal/story.h"

namespace godwit::engine {
namespace {

using journal::Story;

// The graph of Story::run()s: a chain of training jobs of `epochs` epochs, one per site.
struct Chains {
  dag::Graph graph;

  void run(std::uint32_t number, const std::vector<std::string>& sites, std::uint32_t epochs = 5,
           const std::string& alpha = {}) {
    if (graph.templates().empty()) graph.add_template({"train", {}});
    dag::Run run;
    run.number = number;
    run.uuid = Story::uuid_of(number);
    run.seed = 1000 + number;
    run.values = {{"alpha", alpha.empty() ? fmt::format("0.{}", number) : alpha}};
    const dag::RunId id = graph.add_run(run);
    dag::NodeId before = dag::kNoNode;
    for (std::uint32_t j = 0; j < sites.size(); ++j) {
      const auto text = [&](std::uint32_t value) { return graph.strings().intern(std::to_string(value)); };
      const dag::Var vars[] = {{graph.strings().intern("first_epoch"), text(j * epochs + 1)},
                               {graph.strings().intern("last_epoch"), text((j + 1) * epochs)}};
      const dag::NodeId node = graph.add_node(fmt::format("run{}-train_epoch{}", number, j), dag::NodeKind::train, 0,
                                              graph.add_site(sites[j]), 0, graph.add_vars(dag::kNoVars, vars), id);
      if (before != dag::kNoNode) graph.add_edge(before, node);
      before = node;
    }
  }
};

journal::View view_of(const Story& story) {
  journal::View view;
  for (const journal::Event& event : story.events) view.apply(event);
  return view;
}

const Json kSource{{"experiment", {{"epochs", "10"}, {"submit_template", "a\nb\n"}}}};
const Json kCode = Json::array({{{"file", "train.py"}, {"bytes", 10}, {"digest", "aa"}}});

// Run 0 is half done, run 1 has its first job running, run 2 has failed.
Story three_runs() {
  Story story;
  story.dag("sweep").add(journal::Kind::source, "", 0, kSource).add(journal::Kind::code, "", 0, kCode[0]);
  for (const std::uint32_t number : {0u, 1u, 2u}) story.run(number, {"delta", "expanse"});
  story.engine().place("run0-train_epoch0", "delta").queue("run0-train_epoch0", 1, "delta");
  story.start("run0-train_epoch0", 1, "delta").succeed("run0-train_epoch0");
  story.place("run1-train_epoch0", "delta")
      .queue("run1-train_epoch0", 1, "delta")
      .start("run1-train_epoch0", 1, "delta");
  story.place("run2-train_epoch0", "delta")
      .queue("run2-train_epoch0", 1, "delta")
      .start("run2-train_epoch0", 1, "delta");
  story.add(journal::Kind::node_failed, "run2-train_epoch0", 1, {{"reason", "exit code 3"}});
  return story;
}

// "0 extended: 15 epochs instead of 10".
std::vector<std::string> told(const Edit& edit) {
  std::vector<std::string> out;
  for (const RunEdit& run : edit.runs)
    out.push_back(fmt::format("{} {}{}{}", run.number, to_string(run.fate), run.why.empty() ? "" : ": ", run.why));
  return out;
}

Edit edit_to(Chains& after, const Json& source = kSource, const Json& code = kCode) {
  after.graph.freeze();
  return compare_definitions(view_of(three_runs()), after.graph, source, code);
}

using Texts = std::vector<std::string>;

TEST_CASE("what becomes of each run, and why") {
  Chains after;
  after.run(0, {"delta", "expanse", "delta"});
  after.run(1, {"delta", "anvil"});
  after.run(3, {"delta", "expanse"});
  const Edit edit = edit_to(after);
  CHECK(told(edit) == Texts{"0 extended: 15 epochs instead of 10", "1 changed: 1 job at another site (expanse → anvil)",
                            "2 orphaned: alpha = 0.2 is gone", "3 new: alpha = 0.3 is new"});
  CHECK(edit.jobs_to_run == 6);
  CHECK(edit.failed == 0);
  CHECK(edit.leaving == 0);
  CHECK(edit.runs[0].epochs_done == 5);
}

TEST_CASE("running jobs of runs that go are counted, and failed ones that stay") {
  Chains after;
  after.run(0, {"delta", "expanse"});
  after.run(2, {"delta", "expanse"});
  const Edit edit = edit_to(after);
  CHECK(told(edit) == Texts{"0 kept", "1 orphaned: alpha = 0.1 is gone", "2 kept"});
  CHECK(edit.leaving == 1);
  CHECK(edit.failed == 1);
}

TEST_CASE("a changed template or file changes the runs that have jobs to come") {
  Chains after;
  for (const std::uint32_t number : {0u, 1u, 2u}) after.run(number, {"delta", "expanse"});
  Json source = kSource, code = kCode;
  source["experiment"]["submit_template"] = "a\nc\n";
  code[0]["digest"] = "bb";
  code.push_back({{"file", "more.py"}, {"bytes", 2000}, {"digest", "cc"}});
  const Edit edit = edit_to(after, source, code);
  CHECK(told(edit) == Texts{"0 changed: 1 job to come uses the changed submit_template, more.py, train.py",
                            "1 changed: 2 jobs to come use the changed submit_template, more.py, train.py",
                            "2 changed: 2 jobs to come use the changed submit_template, more.py, train.py"});
  REQUIRE(edit.definition.size() == 1);
  CHECK(edit.definition[0].lines == Texts{"- b", "+ c"});
  REQUIRE(edit.code.size() == 2);
  CHECK(edit.code[0].before.empty());
  CHECK(edit.code[1].path == "train.py");
}

TEST_CASE("what is an edit, and what is none") {
  Chains same;
  for (const std::uint32_t number : {0u, 1u, 2u}) same.run(number, {"delta", "expanse"});
  same.graph.freeze();
  Story story;
  story.add(journal::Kind::dag, "", 0, {{"uuid", "0"}, {"digest", digest(same.graph)}});
  story.add(journal::Kind::code, "", 0, kCode[0]);
  const journal::View view = view_of(story);
  CHECK_FALSE(is_edit(view, same.graph, kCode));
  CHECK(is_edit(view, same.graph, Json::array()));
  Chains other;
  other.run(0, {"delta"});
  other.graph.freeze();
  CHECK(is_edit(view, other.graph, kCode));
  // A journal of before files were noted says nothing of them.
  Story old;
  old.add(journal::Kind::dag, "", 0, {{"uuid", "0"}, {"digest", digest(same.graph)}});
  CHECK_FALSE(is_edit(view_of(old), same.graph, kCode));
}

TEST_CASE("what has begun, for a planner to keep") {
  const dag::Earlier earlier = earlier_plan(view_of(three_runs()));
  CHECK(earlier.next_number == 3);
  const dag::EarlierRun* run = earlier.find(Story::uuid_of(0));
  REQUIRE(run != nullptr);
  CHECK(run->seed == 1000);
  REQUIRE(run->begun.size() == 1);
  CHECK(run->begun[0].last_epoch == 5);
  CHECK(run->begun[0].site == "delta");
  CHECK(run->begun[0].done);
  CHECK_FALSE(earlier.find(Story::uuid_of(1))->begun[0].done);
  CHECK(earlier.find("00000000") == nullptr);
}

}  // namespace
}  // namespace godwit::engine
