#include "godwit/dag/write.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>

#include "godwit/base/error.h"

namespace godwit::dag {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "godwit-dag-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string content(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

std::shared_ptr<const submit::Description> description(std::string_view text) {
  Diagnostics diagnostics;
  auto read = std::make_shared<const submit::Description>(submit::Description::parse(text, {}, diagnostics));
  diagnostics.throw_if_errors();
  return read;
}

Var var(Graph& graph, std::string_view key, std::string_view value) {
  return {graph.strings().intern(key), graph.strings().intern(value)};
}

// Two jobs of one run at two sites, with everything that a node can have.
Graph example() {
  Graph graph;
  graph.name = "Global Pretraining";
  const SiteId here = graph.add_site("here"), there = graph.add_site("there");
  const TemplateId train =
      graph.add_template({"pretrain",
                          {description("executable = a\nif defined c\n  x = 1\nendif\nqueue"),
                           description("executable = b\noutput = $(JOB).$(godwit_attempt).out\nqueue 1")}});
  graph.add_template({"unused", {description("executable = c"), nullptr}});
  const TemplateId watch = graph.add_template({"watch", {description("executable = w"), nullptr}});
  const VarsId run =
      graph.add_vars(kNoVars, std::vector{var(graph, "run_uuid", "d35b3ea9"), var(graph, "alpha", "1e-4"),
                                          var(graph, "text", "say \"hi\" \\ bye")});
  Attributes attributes;
  attributes.retries = 3;
  attributes.unless_exit = 2;
  attributes.priority = -5;
  attributes.category = "gpu";
  attributes.pre = Script{"check.sh", {"$JOB", "x"}};
  attributes.post = Script{"done.sh", {}};
  attributes.hold = Script{"hold.sh", {}};
  const AttributesId all = graph.add_attributes(attributes);
  const NodeId first = graph.add_node("run0-train_epoch0", NodeKind::train, train, here, 0,
                                      graph.add_vars(run, std::vector{var(graph, "epoch", "5")}));
  const NodeId second =
      graph.add_node("run0-train_epoch1", NodeKind::train, train, there, all,
                     graph.add_vars(run, std::vector{var(graph, "epoch", "10"), var(graph, "alpha", "2e-4")}));
  const NodeId third = graph.add_node("end", NodeKind::noop, 0, here);
  graph.add_node("watcher", NodeKind::service, watch, here);
  graph.add_edge(first, second);
  graph.add_edge(second, third);
  graph.set_category_limit("gpu", 4);
  graph.freeze();
  return graph;
}

constexpr std::string_view kExample = R"(# DAGMan input file: condor_submit_dag Global_Pretraining.dag
# Global Pretraining
# by a test

SUBMIT-DESCRIPTION here_pretrain {
  executable = a
  if defined c
    x = 1
  endif
}

SUBMIT-DESCRIPTION there_pretrain {
  godwit_attempt = $(RETRY)
  executable = b
  output = $(JOB).$(godwit_attempt).out
}

SUBMIT-DESCRIPTION here_watch {
  executable = w
}

JOB run0-train_epoch0 here_pretrain
VARS run0-train_epoch0 run_uuid="d35b3ea9" alpha="1e-4" text="say \"hi\" \\ bye" epoch="5"
JOB run0-train_epoch1 there_pretrain
VARS run0-train_epoch1 run_uuid="d35b3ea9" text="say \"hi\" \\ bye" epoch="10" alpha="2e-4"
SCRIPT PRE run0-train_epoch1 check.sh $JOB x
SCRIPT POST run0-train_epoch1 done.sh
SCRIPT HOLD run0-train_epoch1 hold.sh
RETRY run0-train_epoch1 3 UNLESS-EXIT 2
PRIORITY run0-train_epoch1 -5
CATEGORY run0-train_epoch1 gpu
JOB end noop.sub NOOP
SERVICE watcher here_watch

PARENT run0-train_epoch0 CHILD run0-train_epoch1
PARENT run0-train_epoch1 CHILD end
MAXJOBS gpu 4
NODE_STATUS_FILE Global_Pretraining.status 60
)";

WriteOptions by_a_test() {
  WriteOptions options;
  options.comment = "by a test";
  return options;
}

std::string fault(const Graph& graph) {
  const TemporaryFolder folder;
  std::string message = "no fault";
  try {
    write(graph, folder.path());
  } catch (const InputError& error) {
    message = error.diagnostics().at(0).message;
  }
  CHECK(files_in(folder.path()) == (message == "no fault" ? 1 : 0));
  return message;
}

TEST_CASE("a graph becomes a DAGMan file, the same bytes every time") {
  const TemporaryFolder folder;
  const Graph graph = example();
  const Written written = write(graph, folder.path() / "new" / "folder", by_a_test());
  CHECK(written.dag_file == folder.path() / "new" / "folder" / "Global_Pretraining.dag");
  CHECK(content(written.dag_file) == kExample);
  CHECK(written.bytes == kExample.size());
  CHECK(written.notes.empty());
  write(graph, folder.path() / "new" / "folder", by_a_test());
  CHECK(content(written.dag_file) == kExample);
  CHECK(files_in(folder.path() / "new" / "folder") == 1);
}

TEST_CASE("descriptions can be files") {
  const TemporaryFolder folder;
  WriteOptions options;
  options.submit_files = true;
  options.status_interval_s = 0;
  const Written written = write(example(), folder.path(), options);
  const std::string dag = content(written.dag_file);
  CHECK(dag.find("SUBMIT-DESCRIPTION") == std::string::npos);
  CHECK(dag.find("NODE_STATUS_FILE") == std::string::npos);
  CHECK(dag.find("\nJOB run0-train_epoch0 here_pretrain.sub\n") != std::string::npos);
  CHECK(content(folder.path() / "here_pretrain.sub") == "executable = a\nif defined c\n  x = 1\nendif\nqueue\n");
  CHECK(files_in(folder.path()) == 4);
}

TEST_CASE("written elsewhere, the jobs still start in the graph's folder") {
  const TemporaryFolder folder;
  Graph graph = example();
  WriteOptions options;
  SUBCASE("below it: by a relative path") {
    graph.directory = folder.path();
    const Written written = write(graph, folder.path() / "dag", options);
    CHECK(content(written.dag_file).find("\nJOB run0-train_epoch0 here_pretrain DIR ..\n") != std::string::npos);
    CHECK(content(written.dag_file).find("\nJOB end noop.sub DIR .. NOOP\n") != std::string::npos);
    options.submit_files = true;
    CHECK(content(write(graph, folder.path() / "dag", options).dag_file)
              .find("\nJOB run0-train_epoch0 dag/here_pretrain.sub DIR ..\n") != std::string::npos);
  }
  SUBCASE("somewhere else: by the whole path") {
    graph.directory = folder.path() / "experiment";
    const Written written = write(graph, folder.path() / "dag", options);
    CHECK(content(written.dag_file).find(" DIR " + fs::weakly_canonical(graph.directory).string() + "\n") !=
          std::string::npos);
  }
  SUBCASE("in it: nothing to say") {
    graph.directory = folder.path();
    CHECK(content(write(graph, folder.path(), options).dag_file).find(" DIR ") == std::string::npos);
  }
}

TEST_CASE("what DAGMan cannot say is an error, and nothing is left behind") {
  Graph graph;
  const SiteId site = graph.add_site("s");
  const TemplateId t = graph.add_template({"t", {description("executable = x")}});
  SUBCASE("names") {
    for (const char* name : {"a b", "Child", "a+b", ""}) {
      Graph one;
      one.add_site("s");
      one.add_template({"t", {description("executable = x")}});
      one.add_node(name, NodeKind::job, 0, 0);
      one.freeze();
      CHECK(fault(one) == "DAGMan cannot have a node named '" + std::string(name) + "'");
    }
  }
  SUBCASE("values of several lines") {
    graph.add_node("n", NodeKind::job, t, site, 0, graph.add_vars(kNoVars, std::vector{var(graph, "v", "a\nb")}));
    graph.freeze();
    CHECK(fault(graph) == "the value of 'v' has several lines; VARS cannot say that");
  }
  SUBCASE("variables' names") {
    // The same text is fine as a value.
    graph.add_node("n", NodeKind::job, t, site, 0,
                   graph.add_vars(kNoVars, std::vector{var(graph, "v", "a-b"), var(graph, "a-b", "v")}));
    graph.freeze();
    CHECK(fault(graph) == "DAGMan cannot have a variable named 'a-b'");
  }
  SUBCASE("arguments of scripts with spaces") {
    Attributes attributes;
    attributes.pre = Script{"x", {"a b"}};
    graph.add_node("n", NodeKind::job, t, site, graph.add_attributes(attributes));
    graph.freeze();
    CHECK(fault(graph) == "DAGMan cannot say this script's command line: x a b");
  }
  SUBCASE("a node without description") {
    graph.add_node("n", NodeKind::job, t, graph.add_site("other"));
    graph.freeze();
    CHECK(fault(graph) == "node 'n' has no description at its site");
  }
  SUBCASE("but all of this is well") {
    graph.add_node("n", NodeKind::job, t, site);
    graph.freeze();
    CHECK(fault(graph) == "no fault");
  }
}

TEST_CASE("a folder that cannot be made is said") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "in the way";
  CHECK_THROWS_AS(write(example(), folder.path() / "file" / "dag"), SystemError);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a write that fails leaves the older file as it was") {
  const TemporaryFolder folder;
  const Written written = write(example(), folder.path(), by_a_test());
  Graph broken = example();
  broken.add_node("bad name", NodeKind::noop, 0, 0);
  CHECK_THROWS_AS(write(broken, folder.path(), by_a_test()), InputError);
  CHECK(content(written.dag_file) == kExample);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("what DAGMan will not do is noted") {
  const TemporaryFolder folder;
  Graph graph;
  graph.add_site("s");
  graph.add_template({"t", {description("executable = x")}});
  Attributes attributes;
  attributes.memory_escalation = Escalation{2, 131072};
  graph.add_node("n", NodeKind::job, 0, 0, graph.add_attributes(attributes));
  graph.freeze();
  CHECK(write(graph, folder.path()).notes.size() == 1);
}

TEST_CASE("file names come from the graph's name") {
  Graph graph;
  CHECK(file_stem(graph) == "workflow");
  graph.name = "../x y/ä";
  CHECK(file_stem(graph) == ".._x_y___");
  graph.name = "..";
  CHECK(file_stem(graph) == "workflow");
}

}  // namespace
}  // namespace godwit::dag
