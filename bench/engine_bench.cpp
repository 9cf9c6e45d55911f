// Empty nodes through the engine with the journal on: what one node costs beside the job it would run.
//
//   engine_bench NODES [WIDTH]   layers of WIDTH nodes (default 1000), each node the child of one in the layer above
//
// Prints one line of JSON: nodes, seconds, nodes per second, peak memory in MB, journal size in bytes.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "godwit/engine/engine.h"
#include "godwit/journal/journal.h"

namespace godwit {
namespace {

// Empty nodes need none; it is asked for nothing.
class NoExecutor final : public jobs::JobExecutor {
 public:
  std::string name() const override { return "none"; }
  void submit(std::span<const jobs::Attempt>) override {}
  std::vector<jobs::Found> find(std::span<const jobs::AttemptKey> keys) override {
    return std::vector<jobs::Found>(keys.size(), jobs::Found::unknown);
  }
  void attach(std::span<const jobs::Attempt>) override {}
  void cancel(std::span<const jobs::AttemptKey>, bool) override {}
  void poll(jobs::StatusSink&) override {}
  bool settled() const override { return true; }
  int wake_fd() const override { return -1; }
  void release(std::span<const jobs::AttemptKey>) override {}
};

class NoObserver final : public engine::Observer {
 public:
  void on_event(const journal::Event&) override {}
  void on_turn(const engine::Snapshot&) override {}
};

dag::Graph layers(std::uint32_t nodes, std::uint32_t width) {
  dag::Graph graph;
  graph.name = "empty nodes";
  graph.add_site("here");
  graph.add_template({"none", {nullptr}});
  graph.reserve(nodes, nodes);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const dag::NodeId node = graph.add_node(fmt::format("n{}", i), dag::NodeKind::noop, 0, 0);
    if (i >= width) graph.add_edge(node - width, node);
  }
  graph.freeze();
  return graph;
}

int bench(std::uint32_t nodes, std::uint32_t width) {
  const dag::Graph graph = layers(nodes, width);
  char folder[] = "/tmp/godwit-engine-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::string path = std::string(folder) + "/journal.db";

  const auto begin = std::chrono::steady_clock::now();
  engine::RunEnd end;
  {
    const auto journal = journal::Journal::open(path);
    NoExecutor executor;
    NoObserver observer;
    engine::Engine engine(graph,
                          {*journal,
                           {{&executor, 2}},
                           executor,
                           system_clock(),
                           observer,
                           [](const auto&) {},
                           [] { return ~std::uint64_t{0}; },
                           [](dag::NodeId) { return std::string(); }},
                          {});
    end = engine.run();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  fmt::print(
      "{{\"nodes\":{},\"seconds\":{:.3f},\"nodes_per_second\":{:.0f},\"peak_memory_mb\":{},\"journal_bytes\":{}}}\n",
      nodes, seconds, nodes / seconds, use.ru_maxrss / 1024, std::filesystem::file_size(path));
  std::filesystem::remove_all(folder);
  return end == engine::RunEnd::succeeded ? 0 : 1;
}

}  // namespace
}  // namespace godwit

int main(int argc, char** argv) {
  const auto nodes = static_cast<std::uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000);
  const auto width = static_cast<std::uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1000);
  if (nodes == 0 || width == 0) {
    fmt::print(stderr, "usage: engine_bench NODES [WIDTH]\n");
    return 2;
  }
  return godwit::bench(nodes, width);
}
