// What a person (or a program) sees while an experiment runs: a live line on a terminal, plain lines elsewhere, JSON
// lines, or nothing.
#pragma once

#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "godwit/cli/terminal.h"
#include "godwit/dag/graph.h"
#include "godwit/engine/engine.h"

namespace godwit::cli {

class Progress final : public engine::Observer {
 public:
  enum class Mode : std::uint8_t { live, plain, json, quiet };

  // `hints`: say which command tells more.
  Progress(const dag::Graph& graph, Mode mode, Terminal terminal, bool hints = true);
  ~Progress() override;

  void on_event(const journal::Event& event) override;
  void on_turn(const engine::Snapshot& snapshot) override;

 private:
  struct NodeNews {
    std::string metrics;  // "val_loss 2.31"
    double wall_s = 0;
  };

  void node_done(const journal::Event& event);
  void line(const std::string& text, Style style = Style::plain);
  void draw(const engine::Snapshot& snapshot);
  void clear_live_line();
  bool talkative() const;
  std::string headline(const engine::Snapshot& snapshot) const;
  std::string where(dag::NodeId node);

  const dag::Graph& graph_;
  Mode mode_;
  Terminal terminal_;
  bool hints_;
  Micros started_;
  Micros last_drawn_ = 0;
  bool live_line_shown_ = false;
  std::string last_paused_;
  bool said_stopping_ = false;
  std::unordered_map<std::string, NodeNews> news_;
  std::vector<std::string> last_site_;  // per run
};

}  // namespace godwit::cli
