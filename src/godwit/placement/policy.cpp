#include "godwit/placement/policy.h"

#include "godwit/base/error.h"
#include "godwit/placement/shuffle.h"

namespace godwit::placement {
namespace {

class Fixed : public Policy {
 public:
  explicit Fixed(dag::SiteId site) : site_(site) {}
  Choice choose(const NodeContext&) override { return {site_, reason_of(Rule::fixed, false)}; }

 private:
  dag::SiteId site_;
};

class RoundRobin : public Policy {
 public:
  explicit RoundRobin(std::vector<dag::SiteId> sites) : sites_(std::move(sites)) {}
  Choice choose(const NodeContext& node) override {
    const std::size_t turn = (std::size_t{node.run} + node.job) % sites_.size();
    return {sites_[turn], reason_of(Rule::round_robin, false)};
  }

 private:
  std::vector<dag::SiteId> sites_;
};

class ShufflePolicy : public Policy {
 public:
  ShufflePolicy(std::uint64_t seed, std::vector<dag::SiteId> sites)
      : sites_(std::move(sites)), shuffle_(seed, static_cast<std::uint32_t>(sites_.size())) {}
  Choice choose(const NodeContext& node) override {
    return {sites_[shuffle_.site_of(node.run, node.job)], reason_of(Rule::shuffle, false)};
  }

 private:
  std::vector<dag::SiteId> sites_;
  Shuffle shuffle_;
};

// Keeps the control runs at their site and asks another policy for the rest.
class WithBaseline : public Policy {
 public:
  WithBaseline(std::unique_ptr<Policy> others, dag::SiteId site) : others_(std::move(others)), site_(site) {}
  Choice choose(const NodeContext& node) override {
    if (node.baseline) return {site_, reason_of(Rule::fixed, true)};
    return others_->choose(node);
  }

 private:
  std::unique_ptr<Policy> others_;
  dag::SiteId site_;
};

std::unique_ptr<Policy> make_migrating(const Options& options) {
  switch (options.rule) {
    case Rule::fixed:
      return std::make_unique<Fixed>(options.fixed_site);
    case Rule::round_robin:
      return std::make_unique<RoundRobin>(options.sites);
    case Rule::shuffle:
      return std::make_unique<ShufflePolicy>(options.seed, options.sites);
  }
  throw Error("no such placement rule");
}

}  // namespace

const std::vector<std::string>& rule_names() {
  static const std::vector<std::string> names{"fixed", "round_robin", "shuffle"};
  return names;
}

std::string_view to_string(Rule rule) {
  return rule_names()[static_cast<std::size_t>(rule)];
}

std::string_view reason_of(Rule rule, bool baseline) {
  if (baseline) return "baseline: control runs stay at one site";
  switch (rule) {
    case Rule::fixed:
      return "fixed: every job at one site";
    case Rule::round_robin:
      return "round_robin: one site after another, each run beginning one further";
    case Rule::shuffle:
      return "shuffle: each run visits every site once before any repeats";
  }
  throw Error("no such placement rule");
}

std::unique_ptr<Policy> make_policy(const Options& options) {
  return std::make_unique<WithBaseline>(make_migrating(options), options.baseline_site);
}

}  // namespace godwit::placement
