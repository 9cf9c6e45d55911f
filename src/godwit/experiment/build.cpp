#include "godwit/experiment/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace godwit::experiment {
namespace {

// Numbers as interned text, made once.
class NumberTexts {
 public:
  explicit NumberTexts(Interner& strings) : strings_(strings) {}
  Interner::Id operator()(std::uint32_t number) {
    if (number >= kKept) return strings_.intern(fmt::format_int(number).c_str());
    if (ids_.size() <= number) ids_.resize(number + 1, kNone);
    if (ids_[number] == kNone) ids_[number] = strings_.intern(fmt::format_int(number).c_str());
    return ids_[number];
  }

 private:
  static constexpr std::uint32_t kKept = 1u << 20;
  static constexpr Interner::Id kNone = std::numeric_limits<Interner::Id>::max();
  Interner& strings_;
  std::vector<Interner::Id> ids_;
};

// The sweep's strings under their ids in the graph.
class Translated {
 public:
  Translated(const Interner& from, Interner& to) : from_(from), to_(to), ids_(from.size(), kNone) {}
  Interner::Id operator()(Interner::Id id) {
    if (ids_.size() <= id) ids_.resize(from_.size(), kNone);
    if (ids_[id] == kNone) ids_[id] = to_.intern(from_.view(id));
    return ids_[id];
  }

 private:
  static constexpr Interner::Id kNone = std::numeric_limits<Interner::Id>::max();
  const Interner& from_;
  Interner& to_;
  std::vector<Interner::Id> ids_;
};

class Builder {
 public:
  Builder(const ExperimentSpec& spec, const SiteChoice& choice, const sweep::Sweep& sweep, const RunList& runs)
      : spec_(spec),
        choice_(choice),
        sweep_(sweep),
        runs_(runs),
        policy_(placement::make_policy(choice.placement)),
        numbers_(graph_.strings()),
        translated_(sweep.strings(), graph_.strings()) {}

  dag::Graph build(Templates templates) {
    graph_.name = spec_.name;
    graph_.directory = spec_.directory;
    graph_.rules = rules_of(spec_);
    for (const sites::Site& site : choice_.sites) graph_.add_site(site.name);
    add_templates(std::move(templates));
    intern_names();
    set_limits();
    graph_.reserve(runs_.jobs() + service_templates_.size(), 2 * runs_.jobs());
    for (const PlannedRun& planned : runs_.runs()) add_run(planned);
    if (spec_.rehearses && evaluate_template_) add_golden();
    for (const dag::TemplateId id : service_templates_)
      graph_.add_node(graph_.templates()[id].name, dag::NodeKind::service, id, service_site(choice_));
    graph_.freeze();
    return std::move(graph_);
  }

 private:
  void add_templates(Templates templates) {
    train_template_ = graph_.add_template(std::move(templates.train));
    if (templates.evaluate) evaluate_template_ = graph_.add_template(std::move(*templates.evaluate));
    for (dag::Template& service : templates.services)
      service_templates_.push_back(graph_.add_template(std::move(service)));
  }

  void intern_names() {
    const auto key = [&](std::string_view name) { return graph_.strings().intern(name); };
    keys_ = {key("epoch"),           key("first_epoch"), key("last_epoch"),   key("run_uuid"),
             key("random_seed"),     key("run_number"),  key("ResourceName"), key("continue_from_checkpoint"),
             key("checkpoint_epoch")};
    true_ = key("true");
    for (const sites::Site& site : choice_.sites) site_names_.push_back(key(site.name));
    for (const std::string& name : sweep_.names()) variable_keys_.push_back(key(name));
    own_run_number_ = !sweep_.variables().index_of("run_number");
    split_variables();
  }

  // What is the same in all runs goes into one block around the runs' blocks.
  void split_variables() {
    std::vector<dag::Var> common;
    const auto constant = [&](std::string_view name, std::optional<std::uint32_t> value) {
      if (value && !sweep_.variables().index_of(name))
        common.push_back({graph_.strings().intern(name), numbers_(*value)});
    };
    constant("epochs", spec_.epochs);
    constant("epochs_per_job", spec_.epochs_per_job);
    for (std::size_t i = 0; i < variable_keys_.size(); ++i) {
      if (runs_.same_in_all(i))
        common.push_back({variable_keys_[i], translated_(runs_.value_id(runs_.runs().front(), i))});
      else
        varying_.push_back(i);
    }
    common_vars_ = common.empty() ? dag::kNoVars : graph_.add_vars(dag::kNoVars, common);
  }

  void set_limits() {
    limited_.assign(choice_.sites.size(), false);
    for (const SiteLimit& limit : spec_.max_jobs.per_site) {
      graph_.set_category_limit(limit.site.name, limit.most);
      limited_[graph_.add_site(limit.site.name)] = true;
    }
    graph_.max_jobs = spec_.max_jobs.total.value_or(0);
  }

  dag::RunId describe_run(const PlannedRun& planned) {
    dag::Run run;
    run.number = planned.number;
    run.uuid = planned.uuid;
    run.seed = planned.seed;
    run.replicate = planned.replicate;
    run.baseline = planned.baseline;
    if (spec_.baseline) run.pair = runs_.runs()[planned.pair].uuid;
    run.values.reserve(runs_.width());
    for (std::size_t i = 0; i < runs_.width(); ++i)
      run.values.emplace_back(sweep_.names()[i], sweep_.strings().view(runs_.value_id(planned, i)));
    return graph_.add_run(std::move(run));
  }

  dag::VarsId add_run_vars(const PlannedRun& planned) {
    run_vars_.clear();
    run_vars_.push_back({keys_.run_uuid, graph_.strings().intern(planned.uuid)});
    run_vars_.push_back({keys_.random_seed, numbers_(planned.seed)});
    if (own_run_number_) run_vars_.push_back({keys_.run_number, numbers_(planned.number)});
    for (const std::size_t i : varying_)
      run_vars_.push_back({variable_keys_[i], translated_(runs_.value_id(planned, i))});
    return graph_.add_vars(common_vars_, run_vars_);
  }

  void add_run(const PlannedRun& planned) {
    const dag::RunId run = describe_run(planned);
    const dag::VarsId vars = add_run_vars(planned);
    const std::uint32_t jobs = planned.jobs();
    dag::NodeId before = dag::kNoNode;
    for (std::uint32_t job = 0; job < jobs; ++job) {
      const dag::SiteId site = site_of(planned, job, jobs);
      const Epochs epochs = planned.epochs_of(job);
      const dag::NodeId node = add_training(planned.number, job, epochs, site, vars, run);
      if (before != dag::kNoNode) graph_.add_edge(before, node);
      if (evaluate_template_ && (job + 1) % spec_.evaluation->every == 0)
        graph_.add_edge(node, add_evaluation(planned.number, job, epochs, site, vars, run));
      before = node;
    }
  }

  // The first checkpoint of all, evaluated at every site but its own.
  void add_golden() {
    const dag::NodeId first = 0;
    const dag::VarsId vars = graph_.enclosing(graph_.vars_of(first));
    const Epochs epochs = runs_.runs().front().epochs_of(0);
    for (dag::SiteId site = 0; site < graph_.site_count(); ++site) {
      if (site == graph_.planned_site(first)) continue;
      const dag::VarsId own = add_node_vars(vars, epochs, site, epochs.last, false);
      graph_.add_edge(
          first, graph_.add_node(golden_node(graph_.sites()[site]), dag::NodeKind::evaluate, *evaluate_template_, site,
                                 attributes(0, site, false), own, graph_.run_of(first)));
    }
  }

  // Where the policy wants it; but a job that has begun stays at its site, where that is still to be had.
  dag::SiteId site_of(const PlannedRun& planned, std::uint32_t job, std::uint32_t jobs) {
    if (job < planned.kept_jobs)
      for (dag::SiteId site = 0; site < graph_.site_count(); ++site)
        if (graph_.sites()[site] == planned.earlier->begun[job].site) return site;
    const std::uint32_t run = runs_.runs()[planned.pair].number;
    return policy_->choose({.run = run, .job = job, .jobs = jobs, .baseline = planned.baseline}).site;
  }

  // The variables of one node: its epochs, its site, and the checkpoint that it starts from, if any.
  dag::VarsId add_node_vars(dag::VarsId run, Epochs epochs, dag::SiteId site, std::uint32_t checkpoint,
                            bool continues) {
    std::array<dag::Var, 6> vars{{{keys_.epoch, numbers_(epochs.last)},
                                  {keys_.first_epoch, numbers_(epochs.first)},
                                  {keys_.last_epoch, numbers_(epochs.last)},
                                  {keys_.resource_name, site_names_[site]}}};
    std::size_t size = 4;
    if (continues) vars[size++] = {keys_.continue_from_checkpoint, true_};
    if (checkpoint != 0) vars[size++] = {keys_.checkpoint_epoch, numbers_(checkpoint)};
    return graph_.add_vars(run, std::span(vars.data(), size));
  }

  dag::NodeId add_training(std::uint32_t number, std::uint32_t job, Epochs epochs, dag::SiteId site,
                           dag::VarsId run_vars, dag::RunId run) {
    const dag::VarsId vars = add_node_vars(run_vars, epochs, site, epochs.first - 1, job > 0);
    return graph_.add_node(name(number, "train", job), dag::NodeKind::train, train_template_, site,
                           attributes(job, site, true), vars, run);
  }

  dag::NodeId add_evaluation(std::uint32_t number, std::uint32_t job, Epochs epochs, dag::SiteId site,
                             dag::VarsId run_vars, dag::RunId run) {
    const dag::VarsId vars = add_node_vars(run_vars, epochs, site, epochs.last, false);
    return graph_.add_node(name(number, "eval", job + 1), dag::NodeKind::evaluate, *evaluate_template_, site,
                           attributes(job, site, false), vars, run);
  }

  std::string_view name(std::uint32_t run, std::string_view kind, std::uint32_t index) {
    name_.clear();
    fmt::format_to(std::back_inserter(name_), "run{}-{}_epoch{}", run, kind, index);
    return name_;
  }

  dag::AttributesId attributes(std::uint32_t job, dag::SiteId site, bool train) {
    const std::size_t kind = (std::size_t{site} << 1) | (train ? 1 : 0);
    if (attributes_.size() <= kind) attributes_.resize(kind + 1);
    const std::size_t index = spec_.priority.later_epochs_first ? job : 0;
    std::vector<dag::AttributesId>& ids = attributes_[kind];
    if (ids.size() <= index) ids.resize(index + 1, kNoAttributes);
    if (ids[index] == kNoAttributes) ids[index] = make_attributes(job, site, train);
    return ids[index];
  }

  dag::AttributesId make_attributes(std::uint32_t job, dag::SiteId site, bool train) {
    dag::Attributes out;
    out.retries = spec_.retry.count;
    out.unless_exit = spec_.retry.unless_exit;
    out.memory_escalation = spec_.retry.memory;
    out.priority = spec_.priority.later_epochs_first ? static_cast<std::int32_t>(job) : spec_.priority.value;
    if (limited_[site]) out.category = choice_.sites[site].name;
    if (train) {
      out.pre = spec_.scripts.pre;
      out.post = spec_.scripts.post;
      out.hold = spec_.scripts.hold;
    }
    return graph_.add_attributes(out);
  }

  struct Keys {
    Interner::Id epoch, first_epoch, last_epoch, run_uuid, random_seed, run_number, resource_name,
        continue_from_checkpoint, checkpoint_epoch;
  };
  static constexpr dag::AttributesId kNoAttributes = std::numeric_limits<dag::AttributesId>::max();

  const ExperimentSpec& spec_;
  const SiteChoice& choice_;
  const sweep::Sweep& sweep_;
  const RunList& runs_;
  dag::Graph graph_;
  std::unique_ptr<placement::Policy> policy_;
  NumberTexts numbers_;
  Translated translated_;

  dag::TemplateId train_template_ = 0;
  std::optional<dag::TemplateId> evaluate_template_;
  std::vector<dag::TemplateId> service_templates_;
  Keys keys_{};
  Interner::Id true_ = 0;
  bool own_run_number_ = true;
  std::vector<Interner::Id> site_names_, variable_keys_;
  std::vector<std::size_t> varying_;  // variables that differ between runs
  std::vector<bool> limited_;         // sites with a limit of their own
  dag::VarsId common_vars_ = dag::kNoVars;
  std::vector<std::vector<dag::AttributesId>> attributes_;  // by site and kind, then by job
  std::vector<dag::Var> run_vars_;
  std::string name_;
};

}  // namespace

const std::vector<std::string>& bookkeeping_variables() {
  static const std::vector<std::string> names{
      "epoch",           "first_epoch", "last_epoch",   "run_uuid",
      "random_seed",     "run_number",  "ResourceName", "continue_from_checkpoint",
      "checkpoint_epoch"};
  return names;
}

dag::SiteId service_site(const SiteChoice& choice) {
  return choice.placement.sites.empty() ? 0 : choice.placement.sites.front();
}

dag::Graph build_graph(const ExperimentSpec& spec, const SiteChoice& choice, const sweep::Sweep& sweep,
                       const RunList& runs, Templates templates) {
  return Builder(spec, choice, sweep, runs).build(std::move(templates));
}

}  // namespace godwit::experiment
