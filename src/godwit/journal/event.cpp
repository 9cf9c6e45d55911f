#include "godwit/journal/event.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace godwit::journal {
namespace {

constexpr std::pair<Kind, std::string_view> kNames[] = {
    {Kind::dag, "dag"},
    {Kind::site, "site"},
    {Kind::run, "run"},
    {Kind::nodes, "nodes"},
    {Kind::source, "source"},
    {Kind::code, "code"},
    {Kind::declared, "declared"},
    {Kind::engine_started, "engine_started"},
    {Kind::engine_stopped, "engine_stopped"},
    {Kind::paused, "paused"},
    {Kind::unpaused, "unpaused"},
    {Kind::request, "request"},
    {Kind::warning, "warning"},
    {Kind::run_paused, "run_paused"},
    {Kind::run_promoted, "run_promoted"},
    {Kind::run_pruned, "run_pruned"},
    {Kind::placed, "placed"},
    {Kind::submitting, "submitting"},
    {Kind::queued, "queued"},
    {Kind::active, "active"},
    {Kind::epoch, "epoch"},
    {Kind::attempt_ended, "attempt_ended"},
    {Kind::escalated, "escalated"},
    {Kind::checkpoint, "checkpoint"},
    {Kind::checkpoint_dropped, "checkpoint_dropped"},
    {Kind::node_done, "node_done"},
    {Kind::node_failed, "node_failed"},
    {Kind::node_futile, "node_futile"},
    {Kind::node_reset, "node_reset"},
    {Kind::taken_over, "taken_over"},
    {Kind::node_pruned, "node_pruned"},
    {Kind::dag_ended, "dag_ended"},
};

}  // namespace

std::string_view to_string(Kind kind) {
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& name) { return name.first == kind; });
  return found == std::end(kNames) ? std::string_view("unknown") : found->second;
}

std::optional<Kind> kind_from(std::string_view text) {
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& name) { return name.second == text; });
  if (found == std::end(kNames)) return std::nullopt;
  return found->first;
}

}  // namespace godwit::journal
