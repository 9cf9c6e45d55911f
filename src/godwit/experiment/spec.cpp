#include "godwit/experiment/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "godwit/base/difference.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/experiment/count.h"
#include "godwit/experiment/keys.h"
#include "godwit/experiment/secrets.h"
#include "godwit/sites/schema.h"
#include "godwit/submit/paths.h"
#include "godwit/submit/quoting.h"

namespace godwit::experiment {
namespace {

// "x2 up to 128GB", "1.5x up to 64000".
std::optional<dag::Escalation> parse_escalation(std::string_view text) {
  const std::vector<std::string_view> words = split_words(text);
  if (words.size() < 4 || lower(words[1]) != "up" || lower(words[2]) != "to") return std::nullopt;
  std::string factor = lower(words[0]);
  if (factor.starts_with('x'))
    factor.erase(0, 1);
  else if (factor.ends_with('x'))
    factor.pop_back();
  else
    return std::nullopt;
  dag::Escalation escalation;
  const auto [end, error] = std::from_chars(factor.data(), factor.data() + factor.size(), escalation.factor);
  if (error != std::errc() || end != factor.data() + factor.size() || !(escalation.factor > 1)) return std::nullopt;
  const auto limit = parse_memory_mb(text.substr(static_cast<std::size_t>(words[3].data() - text.data())));
  if (!limit || *limit == 0) return std::nullopt;
  escalation.limit_mb = static_cast<std::uint64_t>(*limit);
  return escalation;
}

// A path that stays below the sandbox and needs no quoting in any of the submit language's lists.
bool plain_relative_path(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.ends_with('/')) return false;
  if (path.find_first_of(" \t\r\n,;=\"'$\\") != std::string_view::npos) return false;
  const std::vector<std::string_view> parts = split(path, '/');
  return std::none_of(parts.begin(), parts.end(),
                      [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}

bool legal_node_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

class SpecReader {
 public:
  SpecReader(yaml::Node root, const std::string& path, Diagnostics& diagnostics)
      : root_(std::move(root)), fields_(root_, diagnostics, "the experiment", true), diagnostics_(diagnostics) {
    const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
    spec_.file = absolute;
    spec_.directory = absolute.parent_path();
    spec_.position = {path, 1, 1};
    spec_.source = to_json(root_);
  }

  ExperimentSpec read() {
    if (!root_.is_mapping()) return std::move(spec_);
    read_identity();
    spec_.train = read_template(fields_, "the experiment");
    read_sweep();
    read_sites();
    read_placement();
    read_evaluation();
    read_comparison();
    read_scripts();
    read_services();
    read_retry();
    read_priority();
    read_max_jobs();
    read_checkpoint();
    if (const yaml::Node* node = fields_.get("rehearse")) spec_.rehearsal = read_rehearsal(*node, diagnostics_);
    read_stopping();
    read_keeping();
    read_trackers();
    read_secret_names();
    schema::declare(experiment_keys(), fields_);
    fields_.finish();
    return std::move(spec_);
  }

 private:
  void error(const Position& position, std::string message, std::string text = {}, std::string hint = {}) {
    diagnostics_.error(position, std::move(message), std::move(text), std::move(hint));
  }

  void missing(yaml::Fields& fields, std::string_view key, std::string_view what, std::string hint = {}) {
    error(fields.position(key), fmt::format("{} needs '{}'", what, key), {}, std::move(hint));
  }

  void read_identity() {
    const bool given = fields_.get("name") != nullptr;
    const auto name = given ? fields_.text("name") : std::nullopt;
    spec_.name = name.value_or("");
    // It goes into file names, files for DAGMan and onto terminals.
    if (std::any_of(spec_.name.begin(), spec_.name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
      diagnostics_.error(fields_.position("name"), "the name has a control character", {}, "leave it out");
    if (!given || (name && trim(*name).empty()))
      missing(fields_, "name", "the experiment", "write a line such as 'name: pretraining'");
    spec_.seed = fields_.text("seed").value_or("0");
  }

  static SubmitText submit_text(const yaml::Node& node) {
    SubmitText out{node.text, node.position, 0};
    if (node.block && node.position.column > 0) out.indent = node.position.column - 1;
    return out;
  }

  std::optional<SubmitText> read_submit_text(const yaml::Node& node, std::string_view what) {
    if (node.is_scalar() && !trim(node.text).empty()) return submit_text(node);
    error(node.position, fmt::format("{} must be the text of a submit description, not {}", what,
                                     node.is_scalar() ? "empty text" : node.kind_name()));
    return std::nullopt;
  }

  TemplateSpec read_template(yaml::Fields& fields, std::string_view owner) {
    TemplateSpec out;
    if (const yaml::Node* node = fields.get("submit_template")) {
      if (auto text = read_submit_text(*node, "'submit_template'")) out.common = std::move(*text);
    } else {
      missing(fields, "submit_template", owner, "write the submit description of a job under 'submit_template: |'");
    }
    if (const yaml::Node* node = fields.get("submit_templates")) {
      yaml::Fields check(*node, diagnostics_, "'submit_templates'");
      for (const yaml::Entry& entry : node->entries)
        if (auto text = read_submit_text(entry.value, "the template of '" + entry.key + "'"))
          out.at_site.emplace_back(entry.key, std::move(*text));
    }
    return out;
  }

  void read_sweep() {
    spec_.epochs = count(fields_, "epochs", 1);
    spec_.epochs_per_job = count(fields_, "epochs_per_job", 1);
    spec_.replicates = count(fields_, "replicates", 1).value_or(1);
    for (const auto& [key, into] :
         {std::pair{"vars", &spec_.vars}, {"include", &spec_.include}, {"exclude", &spec_.exclude}})
      if (const yaml::Node* node = fields_.get(key)) *into = *node;
    for (const char* key : {"epochs", "epochs_per_job"})
      if (fields_.has(key) && spec_.vars.find(key) != nullptr)
        error(fields_.position(key), fmt::format("'{}' is in vars too", key), {}, "leave one of them out");
  }

  Reference reference(std::string_view key) { return {fields_.text(key).value_or(""), fields_.position(key)}; }

  void read_sites() {
    if (const yaml::Node* node = fields_.get("sites")) {
      const bool names = node->is_scalar() ||
                         (node->is_sequence() && std::any_of(node->items.begin(), node->items.end(),
                                                             [](const yaml::Node& item) { return item.is_scalar(); }));
      if (names)
        read_site_names(*node);
      else
        spec_.inline_sites = sites::read(*node, node->position.file, diagnostics_);
    }
    if (const yaml::Node* node = fields_.get("resource_defaults")) read_resource_defaults(*node);
  }

  void read_site_names(const yaml::Node& node) {
    if (node.is_scalar()) spec_.site_names.push_back({node.text, node.position});
    for (const yaml::Node& item : node.items) {
      if (!item.is_scalar()) {
        error(item.position, "'sites' is a list of names here, so it must hold texts, not " + item.kind_name());
        continue;
      }
      const auto twice = [&](const Reference& other) { return other.name == item.text; };
      if (std::any_of(spec_.site_names.begin(), spec_.site_names.end(), twice))
        error(item.position, "this site is here twice", item.text);
      else
        spec_.site_names.push_back({item.text, item.position});
    }
  }

  // Reads them as a site's fields; what is none is an attribute.
  void read_resource_defaults(const yaml::Node& node) {
    if (!node.is_mapping()) {
      error(node.position, "'resource_defaults' must be a mapping (key: value), not " + node.kind_name());
      return;
    }
    yaml::Node fields = node;
    yaml::Node attributes = node;
    const auto is_field = [](const yaml::Entry& entry) {
      const schema::Keys& keys = sites::site_keys();
      return entry.key != "attributes" &&
             std::any_of(keys.begin(), keys.end(), [&](const schema::Key& key) { return key.name == entry.key; });
    };
    std::erase_if(fields.entries, [&](const yaml::Entry& entry) { return !is_field(entry); });
    std::erase_if(attributes.entries, is_field);
    fields.entries.push_back({"attributes", attributes.position, std::move(attributes)});
    yaml::Node catalogue;
    catalogue.kind = yaml::Kind::mapping;
    catalogue.entries.push_back({"resource_defaults", node.position, std::move(fields)});
    spec_.resource_defaults = std::move(sites::read(catalogue, node.position.file, diagnostics_).sites.front());
    spec_.resource_defaults.name.clear();
  }

  void read_placement() {
    if (const yaml::Node* node = fields_.get("placement")) {
      if (node->is_scalar()) {
        read_rule(*node);
      } else {
        yaml::Fields placement(*node, diagnostics_, "'placement'");
        if (const yaml::Node* policy = placement.get("policy"))
          read_rule(*policy);
        else if (node->is_mapping())
          missing(placement, "policy", "'placement'");
        if (const auto site = placement.text("site")) spec_.fixed_site = {*site, placement.position("site")};
        schema::declare(placement_keys(), placement);
        placement.finish();
      }
    }
    if (spec_.fixed_site && spec_.placement != placement::Rule::fixed)
      error(spec_.fixed_site->position, "only the policy 'fixed' takes a site", spec_.fixed_site->name,
            "to add control runs at one site, write 'baseline: " + spec_.fixed_site->name + "'");
    if (const auto site = fields_.text("baseline")) spec_.baseline = reference("baseline");
  }

  void read_rule(const yaml::Node& node) {
    const std::vector<std::string>& names = placement::rule_names();
    const auto found = std::find(names.begin(), names.end(), node.text);
    if (node.is_scalar() && found != names.end()) {
      spec_.placement = static_cast<placement::Rule>(found - names.begin());
      return;
    }
    std::string hint = did_you_mean(node.text, names);
    if (node.text == "baseline") hint = "control runs come from the experiment's key 'baseline: SITE'";
    error(node.position, "no such placement policy", node.text, hint.empty() ? "known: " + join(names, ", ") : hint);
  }

  void read_evaluation() {
    const yaml::Node* node = fields_.get("evaluation");
    if (node == nullptr) return;
    yaml::Fields evaluation(*node, diagnostics_, "'evaluation'");
    if (!node->is_mapping()) return;
    spec_.evaluation.emplace();
    spec_.evaluation->submit = read_template(evaluation, "'evaluation'");
    spec_.evaluation->position = evaluation.position("every");
    spec_.evaluation->every = count(evaluation, "every", 1).value_or(1);
    schema::declare(evaluation_keys(), evaluation);
    evaluation.finish();
  }

  void read_comparison() {
    const yaml::Node* node = fields_.get("compare");
    if (node == nullptr) return;
    spec_.compare = read_compare(*node, diagnostics_);
    if (!spec_.compare) return;
    if (!spec_.baseline)
      error(spec_.compare->position, "'compare' has nothing to compare with: there is no baseline", {},
            "name the site that each run is repeated at: 'baseline: SITE'");
    require_reported({spec_.compare->metric, Goal::lowest}, spec_.compare->metric_position);
  }

  std::optional<dag::Script> read_script(yaml::Fields& scripts, std::string_view key) {
    const yaml::Node* node = scripts.get(key);
    if (node == nullptr) return std::nullopt;
    std::vector<std::string> words = scripts.texts(key);
    if (node->is_scalar()) {
      try {
        words = submit::split_arguments(node->text);
      } catch (const InputError& fault) {
        error(node->position, fault.diagnostics().front().message, node->text, fault.diagnostics().front().hint);
        return std::nullopt;
      }
    }
    if (words.empty() || words.front().empty()) {
      error(node->position, fmt::format("'{}' names no program", key));
      return std::nullopt;
    }
    dag::Script script{words.front(), {}};
    script.arguments.assign(words.begin() + 1, words.end());
    return script;
  }

  void read_scripts() {
    const yaml::Node* node = fields_.get("scripts");
    if (node == nullptr) return;
    yaml::Fields scripts(*node, diagnostics_, "'scripts'");
    spec_.scripts.position = node->position;
    spec_.scripts.pre = read_script(scripts, "pre");
    spec_.scripts.post = read_script(scripts, "post");
    spec_.scripts.hold = read_script(scripts, "hold");
    schema::declare(scripts_keys(), scripts);
    scripts.finish();
  }

  void read_services() {
    const yaml::Node* node = fields_.get("services");
    if (node == nullptr) return;
    yaml::Fields check(*node, diagnostics_, "'services'");
    for (const yaml::Entry& entry : node->entries) {
      const std::string what = "service '" + entry.key + "'";
      if (!legal_node_name(entry.key))
        error(entry.position, "a service's name is made of letters, digits, '_' and '-'", entry.key);
      std::optional<SubmitText> submit;
      if (entry.value.is_scalar()) {
        submit = read_submit_text(entry.value, what);
      } else {
        yaml::Fields service(entry.value, diagnostics_, what);
        if (const yaml::Node* text = service.get("submit_template"))
          submit = read_submit_text(*text, "'submit_template'");
        else if (entry.value.is_mapping())
          missing(service, "submit_template", what);
        schema::declare(service_keys(), service);
        service.finish();
      }
      if (submit) spec_.services.push_back({entry.key, entry.position, std::move(*submit)});
    }
  }

  void read_retry() {
    const yaml::Node* node = fields_.get("retry");
    if (node == nullptr) return;
    if (node->is_scalar()) {
      spec_.retry.count = count(fields_, "retry", 0).value_or(0);
      return;
    }
    yaml::Fields retry(*node, diagnostics_, "'retry'");
    if (node->is_mapping() && !retry.has("count")) missing(retry, "count", "'retry'");
    spec_.retry.count = count(retry, "count", 0).value_or(0);
    if (const auto code = retry.integer("unless_exit", 0, 255)) spec_.retry.unless_exit = static_cast<int>(*code);
    if (const auto text = retry.text("request_memory")) {
      spec_.retry.memory = parse_escalation(*text);
      if (!spec_.retry.memory)
        error(retry.position("request_memory"), "'request_memory' must say by how much it grows, and up to where",
              *text, "write 'x2 up to 128GB'");
    }
    schema::declare(retry_keys(), retry);
    retry.finish();
  }

  void read_priority() {
    const yaml::Node* node = fields_.get("priority");
    if (node == nullptr) return;
    const std::vector<std::string>& words = priority_words();
    if (node->is_scalar() && node->text == words[0]) return;
    spec_.priority.later_epochs_first = false;
    if (node->is_scalar() && node->text == words[1]) return;
    std::int32_t value = 0;
    const char* end = node->text.data() + node->text.size();
    if (node->is_scalar() && std::from_chars(node->text.data(), end, value).ptr == end)
      spec_.priority.value = value;
    else
      error(node->position, "'priority' must be " + join(words, ", ") + " or a whole number", node->text,
            did_you_mean(node->text, words));
  }

  void read_max_jobs() {
    const yaml::Node* node = fields_.get("max_jobs");
    if (node == nullptr) return;
    if (!node->is_mapping()) {
      spec_.max_jobs.total = count(fields_, "max_jobs", 1);
      return;
    }
    yaml::Fields limits(*node, diagnostics_, "'max_jobs'");
    for (const yaml::Entry& entry : node->entries) {
      const auto most = count(limits, entry.key, 1);
      if (!most) continue;
      if (entry.key == "total")
        spec_.max_jobs.total = most;
      else
        spec_.max_jobs.per_site.push_back({{entry.key, entry.position}, *most});
    }
  }

  // A file's name below the sandbox.
  // The usual one where none is written, or a wrong one, which is complained of.
  std::string read_path(yaml::Fields& fields, std::string_view key, const std::string& usual = {}) {
    const auto text = fields.text(key);
    if (!text || plain_relative_path(*text)) return text.value_or(usual);
    error(fields.position(key), fmt::format("'{}' must be a file's path below the job's folder", key), *text,
          "without '..', blanks, quotes or any of , ; = $");
    return usual;
  }

  void read_checkpoint() {
    if (const yaml::Node* node = fields_.get("checkpoint")) {
      if (node->is_scalar()) {
        spec_.checkpoint.path = read_path(fields_, "checkpoint");
      } else {
        yaml::Fields checkpoint(*node, diagnostics_, "'checkpoint'");
        if (node->is_mapping() && !checkpoint.has("path")) missing(checkpoint, "path", "'checkpoint'");
        spec_.checkpoint.path = read_path(checkpoint, "path");
        spec_.checkpoint.best = read_path(checkpoint, "best");
        if (const auto size = checkpoint.disk_kb("size"))
          spec_.checkpoint.size_bytes = static_cast<std::uint64_t>(*size) * 1024;
        schema::declare(checkpoint_keys(), checkpoint);
        checkpoint.finish();
      }
    }
    read_metrics();
    spec_.keep_sandboxes = count(fields_, "keep_sandboxes", 0).value_or(spec_.keep_sandboxes);
  }

  void read_metrics() {
    const yaml::Node* node = fields_.get("metrics");
    if (node == nullptr) return;
    spec_.names_metrics = true;
    if (node->is_scalar()) {
      spec_.metrics = read_path(fields_, "metrics", spec_.metrics);
      spec_.metrics_table = spec_.metrics.ends_with(".csv");
      return;
    }
    yaml::Fields metrics(*node, diagnostics_, "'metrics'");
    if (node->is_mapping() && !metrics.has("file")) missing(metrics, "file", "'metrics'");
    spec_.metrics = read_path(metrics, "file", spec_.metrics);
    const std::string format = metrics.text("format").value_or(spec_.metrics.ends_with(".csv") ? "csv" : "jsonl");
    spec_.metrics_table = format == "csv";
    if (format != "csv" && format != "jsonl")
      error(metrics.position("format"), "no such format", format, "known: " + join(metrics_formats(), ", "));
    if (const auto first = metrics.integer("first_epoch", 0, 1)) {
      spec_.metrics_first_epoch = static_cast<std::uint32_t>(*first);
      if (!spec_.metrics_table)
        error(metrics.position("first_epoch"), "only tables may count their epochs from 0", {},
              "a line's \"epoch\" counts from 1");
    }
    schema::declare(metrics_keys(), metrics);
    metrics.finish();
  }

  void read_trackers() {
    const auto text = fields_.text("mlflow");
    if (!text) return;
    spec_.mlflow = *text;
    const bool url = submit::is_url(*text);
    if (text->empty() || (url && text->find_first_of(" \t\"';$") != std::string::npos))
      error(fields_.position("mlflow"), "'mlflow' must be a folder or the tracking URI of a server", *text,
            "write 'mlflow: mlruns' for a folder beside the experiment");
    else if (text->starts_with("file:"))
      error(fields_.position("mlflow"), "'mlflow' takes a folder as a path", *text,
            "leave the 'file:' out: 'mlflow: mlruns'");
    else if (!url && submit::has_parent_step(*text))
      error(fields_.position("mlflow"), "the folder is outside the experiment's", *text, "name it from the root");
  }

  void read_secret_names() {
    const yaml::Node* node = fields_.get("secrets");
    if (node == nullptr) return;
    if (node->is_mapping()) {
      // Its values are not shown: they are secrets.
      error(node->position, "'secrets' holds names, not values", {},
            "write 'secrets: [WANDB_API_KEY]' and export the value before 'godwit run'");
      return;
    }
    if (node->is_scalar()) read_secret_name(*node);
    for (const yaml::Node& item : node->items) read_secret_name(item);
  }

  void read_secret_name(const yaml::Node& node) {
    const std::string& name = node.text;
    if (!node.is_scalar())
      return error(node.position, "'secrets' is a list of names, so it must hold texts, not " + node.kind_name());
    if (const std::size_t equals = name.find('='); equals != std::string::npos)
      return error(node.position, "'secrets' holds names, not values", name.substr(0, equals),
                   "export the value before 'godwit run', and take it out of this file");
    if (!legal_variable_name(name))
      return error(node.position, "no name of an environment variable", name, "letters, digits and '_'");
    if (name.starts_with("GODWIT_"))
      return error(node.position, "Godwit sets this variable itself", name, "choose another name");
    const auto same = [&](const Reference& other) { return other.name == name; };
    if (std::any_of(spec_.secrets.begin(), spec_.secrets.end(), same))
      return error(node.position, "this secret is here twice", name);
    spec_.secrets.push_back({name, node.position});
  }

  // Its metric, or the one that `compare` declares.
  void settle_metric(dag::Metric& metric, const Position& position, std::string_view key) {
    if (metric.name.empty()) {
      if (const auto declared = declared_metric())
        metric = *declared;
      else
        error(position, fmt::format("'{}' needs 'metric'", key), {},
              "the one that decides, such as 'metric: val_loss'");
    }
    require_reported(metric, position);
  }

  void read_stopping() {
    if (const yaml::Node* node = fields_.get("early_stop"); node != nullptr) {
      spec_.early_stop = read_early_stop(*node, diagnostics_);
      if (spec_.early_stop)
        settle_metric(spec_.early_stop->rule.metric, spec_.early_stop->metric_position, "early_stop");
    }
    if (const yaml::Node* node = fields_.get("asha"); node != nullptr) {
      spec_.asha = read_asha(*node, diagnostics_);
      if (spec_.asha) settle_metric(spec_.asha->rule.metric, spec_.asha->metric_position, "asha");
    }
  }

  void read_keeping() {
    const yaml::Node* node = fields_.get("keep");
    if (node == nullptr) return;
    spec_.keep = read_keep(*node, diagnostics_);
    if (!spec_.keep) return;
    if (spec_.checkpoint.path.empty())
      error(spec_.keep->position, "'keep' has nothing to keep: there is no checkpoint", {},
            "name the file that carries a run on: 'checkpoint: model.bin'");
    dag::KeepRule& rule = spec_.keep->rule;
    if (rule.metric) require_reported(*rule.metric, spec_.keep->metric_position);
    // What has been stopped is looked at by its best.
    if (!spec_.keep->says_best && !rule.metric && (spec_.early_stop || spec_.asha)) rule.best = 1;
    if (rule.best == 0 || rule.metric) return;
    rule.metric = declared_metric();
    if (!rule.metric && spec_.early_stop) rule.metric = spec_.early_stop->rule.metric;
    if (!rule.metric && spec_.asha) rule.metric = spec_.asha->rule.metric;
    if (!rule.metric)
      error(spec_.keep->best_position, "'best' needs a metric, and the experiment names none", {},
            "such as 'keep: {best: 1, metric: val_loss}'");
  }

  void require_reported(const dag::Metric& metric, const Position& position) {
    if (metric.of_evaluation() && !spec_.evaluation)
      error(position, "nothing reports this metric: there is no 'evaluation'", metric.name,
            "a training job's metric has no 'eval.' before its name");
  }

  // The metric that the experiment goes by where a rule names none.
  std::optional<dag::Metric> declared_metric() const {
    if (!spec_.compare) return std::nullopt;
    dag::Metric metric{spec_.compare->metric, Goal::lowest};
    metric.goal = spec_.compare->better.empty()    ? guess_goal(metric.own_name())
                  : spec_.compare->better == "low" ? Goal::lowest
                                                   : Goal::highest;
    return metric;
  }

  yaml::Node root_;
  yaml::Fields fields_;
  Diagnostics& diagnostics_;
  ExperimentSpec spec_;
};

}  // namespace

const SubmitText& TemplateSpec::at(const std::string& site) const {
  for (const auto& [name, text] : at_site)
    if (name == site) return text;
  return common;
}

dag::Rules rules_of(const ExperimentSpec& spec) {
  dag::Rules rules;
  rules.checkpoint = spec.checkpoint.path;
  if (spec.rehearses) return rules;
  rules.metrics_return = spec.names_metrics;
  if (spec.keep) rules.keep = spec.keep->rule;
  if (spec.early_stop) rules.early_stop = spec.early_stop->rule;
  if (spec.asha) rules.asha = spec.asha->rule;
  return rules;
}

ExperimentSpec load_spec(const std::string& path, Diagnostics& diagnostics) {
  return SpecReader(yaml::load(path), path, diagnostics).read();
}

}  // namespace godwit::experiment
