// For tests: what happened to a small experiment, told event by event.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/journal/definition.h"
#include "godwit/journal/journal.h"

namespace godwit::journal {

class Story {
 public:
  std::vector<Event> events;
  Micros now = 1'800'000'000'000'000;

  Story& add(Kind kind, std::string node = {}, std::uint32_t attempt = 0, const Json& json = nullptr) {
    events.push_back({static_cast<std::int64_t>(events.size() + 1), now, kind, std::move(node), attempt,
                      json.is_null() ? std::string() : json.dump()});
    return *this;
  }

  Story& wait(double seconds) {
    now += static_cast<Micros>(seconds * 1e6);
    return *this;
  }

  Story& dag(const std::string& name) {
    return add(Kind::dag, "", 0,
               {{"uuid", "0123456789abcdef0123456789abcdef"},
                {"name", name},
                {"file", "/x/experiment.yaml"},
                {"version", "0.1.0"},
                {"directory", "/x"}});
  }

  // The definition again, of so many nodes, after an edit.
  Story& redefine(const std::string& name, std::size_t nodes, std::uint32_t revision = 1) {
    defined_ = 0;
    return add(
        Kind::dag, "", 0,
        {{"uuid", "0123456789abcdef0123456789abcdef"}, {"name", name}, {"nodes", nodes}, {"revision", revision}});
  }

  Story& site(const std::string& name) {
    return add(Kind::site, "", 0, {{"name", name}, {"executor", "local"}, {"slots", 2}});
  }

  // A run of training jobs of `epochs` epochs each, one per site, in a chain, and its nodes run<n>-train_epoch<j>.
  Story& run(std::uint32_t number, const std::vector<std::string>& sites, std::uint32_t epochs = 5,
             bool baseline = false, const std::string& pair = {}) {
    const std::string uuid = uuid_of(number);
    add(Kind::run, "", 0,
        {{"number", number},
         {"run_uuid", uuid},
         {"seed", 1000 + number},
         {"replicate", 0},
         {"baseline", baseline},
         {"pair", pair.empty() ? uuid : pair},
         {"values", {{"alpha", fmt::format("0.{}", number)}}},
         {"epochs", epochs * sites.size()}});
    std::vector<std::string> names;
    names.reserve(sites.size());
    for (std::size_t j = 0; j < sites.size(); ++j) names.push_back(fmt::format("run{}-train_epoch{}", number, j));
    std::vector<NodeDefinition> nodes;
    std::vector<EdgeDefinition> edges;
    for (std::uint32_t j = 0; j < sites.size(); ++j) {
      nodes.push_back({names[j], "train", uuid, sites[j], j * epochs + 1, (j + 1) * epochs});
      if (j != 0) edges.push_back({defined_ + j - 1, defined_ + j});
    }
    return define(nodes, edges);
  }

  Story& define(const std::vector<NodeDefinition>& nodes, const std::vector<EdgeDefinition>& edges) {
    add(Kind::nodes);
    events.back().json = nodes_json(defined_, nodes, edges);
    defined_ += static_cast<NodeIndex>(nodes.size());
    return *this;
  }

  static std::string uuid_of(std::uint32_t number) { return fmt::format("{:08x}", 0xa0000000u + number); }

  Story& engine(bool resumed = false) {
    return add(Kind::engine_started, "", 0,
               {{"pid", 4711}, {"host", "login1"}, {"version", "0.1.0"}, {"resumed", resumed}});
  }

  Story& place(const std::string& node, const std::string& site) {
    return add(Kind::placed, node, 1, {{"site", site}, {"reason", "fixed"}});
  }

  Story& queue(const std::string& node, std::uint32_t attempt, const std::string& site, const char* phase = "job") {
    add(Kind::submitting, node, attempt, {{"phase", phase}, {"site", site}, {"memory_mb", 1024}});
    return add(Kind::queued, node, attempt, {{"phase", phase}, {"native_id", "77"}});
  }

  Story& start(const std::string& node, std::uint32_t attempt, const std::string& site, const char* phase = "job") {
    queue(node, attempt, site, phase);
    return add(Kind::active, node, attempt, {{"phase", phase}, {"host", "login1"}, {"native_id", "77"}});
  }

  Story& epoch(const std::string& node, std::uint32_t attempt, std::uint32_t epoch, double loss) {
    return add(Kind::epoch, node, attempt, {{"epoch", epoch}, {"val_loss", loss}, {"_offset", 0}});
  }

  // The attempt's end; `more` overrides what the usual end says.
  Story& end(const std::string& node, std::uint32_t attempt, const std::string& outcome,
             const Json& more = Json::object()) {
    Json json = {{"phase", "job"},
                 {"outcome", outcome},
                 {"exit_code", 0},
                 {"signal", 0},
                 {"wall_s", 12.5},
                 {"cpu_s", 11.0},
                 {"peak_memory_kb", 204'800},
                 {"started_us", now - 12'500'000},
                 {"ended_us", now},
                 {"detail", ""},
                 {"retry", "none"}};
    json.update(more);
    return add(Kind::attempt_ended, node, attempt, json);
  }

  Story& succeed(const std::string& node, std::uint32_t attempt = 1) {
    return end(node, attempt, "exited").add(Kind::node_done, node, attempt, Json::object());
  }

  void write(const std::string& path) const {
    const auto journal = Journal::open(path);
    for (const Event& event : events) journal->append(event);
    if (!journal->commit()) throw std::runtime_error("no room for a test's journal");
  }

 private:
  NodeIndex defined_ = 0;
};

}  // namespace godwit::journal
