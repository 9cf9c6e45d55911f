#include "godwit/experiment/checks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/experiment/suspect_values.h"
#include "godwit/submit/description.h"
#include "godwit/submit/paths.h"

namespace godwit::experiment {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOfAKind = 5;  // missing files named one by one

std::unordered_map<std::string, std::string> variables_of(const dag::Graph& graph, dag::NodeId node) {
  std::unordered_map<std::string, std::string> out;
  graph.each_var(node, [&](std::string_view key, std::string_view value) { out.insert_or_assign(lower(key), value); });
  return out;
}

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':'))
    if (!folder.empty() && access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

// One number that jobs ask for and sites have.
struct Resource {
  std::string_view key;  // in the submit language
  std::uint64_t (*asked)(const jobs::ResourceSpec&);
  std::optional<std::uint64_t> (*offered)(const sites::Site&, const sites::Machine&);  // nullopt: not known
  std::string (*text)(std::uint64_t);
};

std::optional<std::uint64_t> unless_zero(std::uint64_t number) {
  return number == 0 ? std::nullopt : std::optional(number);
}

enum ResourceIndex : std::size_t { kCpus, kMemory, kDisk, kGpus };

const Resource kResources[] = {
    {"request_cpus", [](const jobs::ResourceSpec& r) { return std::uint64_t{r.cpus}; },
     [](const sites::Site& site, const sites::Machine& machine) {
       return unless_zero(site.runnable() ? sites::offer_of(site, machine).cpus : site.cpus);
     },
     [](std::uint64_t n) { return format_count(n, "processor core"); }},
    {"request_memory", [](const jobs::ResourceSpec& r) { return r.memory_mb; },
     [](const sites::Site& site, const sites::Machine& machine) {
       return unless_zero(site.runnable() ? sites::offer_of(site, machine).memory_mb : site.mem_mb);
     },
     [](std::uint64_t mb) { return format_memory_mb(mb); }},
    {"request_disk", [](const jobs::ResourceSpec& r) { return r.disk_kb; },
     [](const sites::Site& site, const sites::Machine&) { return unless_zero(site.disk_kb); },
     [](std::uint64_t kb) { return format_bytes(kb * 1024); }},
    {"request_gpus", [](const jobs::ResourceSpec& r) { return std::uint64_t{r.gpus}; },
     [](const sites::Site& site, const sites::Machine& machine) {
       return site.runnable() ? std::optional<std::uint64_t>(sites::offer_of(site, machine).gpus)
                              : unless_zero(site.gpus);
     },
     [](std::uint64_t n) { return format_count(n, "GPU"); }},
};

class Checker {
 public:
  Checker(const ExperimentSpec& spec, const std::vector<sites::Site>& sites, const sites::Machine& machine,
          const dag::Graph& graph, Diagnostics& diagnostics, std::vector<Diagnostic>& blockers, ValuesKnown values)
      : spec_(spec),
        sites_(sites),
        machine_(machine),
        graph_(graph),
        diagnostics_(diagnostics),
        blockers_(blockers),
        incomplete_(diagnostics.has_errors()),
        values_(values) {
    for (const Diagnostic& diagnostic : diagnostics.all())
      if (diagnostic.severity == Severity::error) pass_over(diagnostic.position);
  }

  Checked check() {
    block_executors();
    for (const dag::NodeId node : nodes_to_check()) check_node(node);
    if (values_ == ValuesKnown::yes)
      for (const SuspectValue& suspect : suspect_values(graph_, kValuesChecked)) check_value(suspect);
    report_impossible_requests();
    report_missing_files();
    check_scripts();
    return {asked(), std::move(files_)};
  }

 private:
  std::vector<jobs::ResourceSpec> asked() const {
    std::vector<jobs::ResourceSpec> out(sites_.size());
    for (dag::SiteId site = 0; site != static_cast<dag::SiteId>(out.size()); ++site) {
      const auto of = [&](std::size_t resource) {
        const auto found = requests_[resource].find(site);
        return found == requests_[resource].end() ? 0 : found->second.asked;
      };
      out[site] = {static_cast<std::uint32_t>(of(kCpus)), static_cast<std::uint32_t>(of(kGpus)), of(kMemory),
                   of(kDisk)};
    }
    return out;
  }

  // --- which nodes ----------------------------------------------------------------------------------------------

  static bool reads_variables(const submit::Description& description) {
    return std::any_of(description.statements().begin(), description.statements().end(),
                       [](const submit::Statement& statement) {
                         const std::string key = lower(statement.key);
                         const bool matters = key == "transfer_input_files" || key == "executable" ||
                                              key == "initialdir" || key.starts_with("request_");
                         return matters && statement.value.find("$(") != std::string::npos;
                       });
  }

  // The first node of each template at each site that begins a run and the first that continues one; and where files
  // or requests depend on variables, the first node of many runs.
  std::vector<dag::NodeId> nodes_to_check() {
    std::set<std::tuple<dag::TemplateId, dag::SiteId, bool>> seen;
    std::vector<dag::NodeId> out;
    std::size_t more = 0;
    for (dag::NodeId node = 0; node < graph_.size(); ++node) {
      const submit::Description* description = graph_.description(node, graph_.planned_site(node));
      if (description == nullptr) continue;
      const bool first = begins(node);
      if (seen.emplace(graph_.template_of(node), graph_.planned_site(node), first).second) {
        out.push_back(node);
      } else if (first && graph_.kind(node) == dag::NodeKind::train && more < kRunsChecked &&
                 reads_variables(*description)) {
        ++more;
        out.push_back(node);
      }
    }
    return out;
  }

  bool begins(dag::NodeId node) const { return graph_.parents(node).empty(); }

  // --- one node -------------------------------------------------------------------------------------------------

  submit::Lookup lookup_of(dag::NodeId node) const {
    return [variables = variables_of(graph_, node)](std::string_view name) -> std::optional<std::string> {
      const auto found = variables.find(std::string(name));
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
  }

  // A value that makes its job's description wrong is the fault, and not what the template says.
  void check_value(const SuspectValue& suspect) {
    const dag::SiteId site = graph_.planned_site(suspect.node);
    const submit::Description* description = graph_.description(suspect.node, site);
    if (description == nullptr) return;
    const submit::Lookup lookup = lookup_of(suspect.node);
    const auto entry = std::find_if(spec_.vars.entries.begin(), spec_.vars.entries.end(),
                                    [&](const yaml::Entry& one) { return one.key == suspect.name; });
    const Position& position = entry == spec_.vars.entries.end() ? spec_.vars.position : entry->value.position;
    const auto fault = [&](const std::string& what, const std::string& hint) {
      add_once({Severity::error, position, fmt::format("a value of {} does not fit: {}", suspect.name, what),
                suspect.value, hint});
    };
    if (const auto macro = undefined_macro_in(suspect, *description, lookup))
      return fault(fmt::format("nothing defines the macro $({})", *macro),
                   fmt::format("write $ENV({0}) for the environment variable, $(DOLLAR)({0}) for the text", *macro));
    try {
      Diagnostics faults;
      submit::resolve(*description, lookup, {spec_.directory, std::string(graph_.name_of(suspect.node)), 1, 1, true},
                      faults);
      for (const Diagnostic& wrong : faults.all())
        if (!said_.contains(wrong.render())) return fault(wrong.message, wrong.hint);
    } catch (const InputError& error) {
      const Diagnostic& wrong = error.diagnostics().front();
      if (!said_.contains(wrong.render())) fault(wrong.message, wrong.hint);
    }
  }

  void check_node(dag::NodeId node) {
    const dag::SiteId site = graph_.planned_site(node);
    const submit::Description& description = *graph_.description(node, site);
    if (values_ == ValuesKnown::no) pass_over_variables(description);
    const submit::Lookup lookup = lookup_of(node);
    try {
      const bool blocked = block_demands(description, lookup, site);
      const submit::ResolveContext context{spec_.directory, std::string(graph_.name_of(node)), 1, 1, incomplete_};
      Diagnostics faults;
      const jobs::JobSpec job = submit::resolve(description, lookup, context, faults);
      for (const Diagnostic& fault : faults.all()) add_once(fault);
      check_requests(job, description, site);
      if (!blocked && sites_[site].runnable()) check_files(node, job, description);
    } catch (const InputError& error) {
      for (Diagnostic diagnostic : error.diagnostics()) add_once(std::move(diagnostic));
    }
  }

  void pass_over(const Position& position) { passed_over_.emplace(position.file, position.line); }
  void pass_over_variables(const submit::Description& description) {
    for (const submit::Statement& statement : description.statements())
      if (statement.value.find("$(") != std::string::npos) pass_over(statement.value_position);
  }
  // Whether a fault there may come of one that was reported already.
  bool is_consequence(const Position& position) const {
    return incomplete_ && passed_over_.contains({position.file, position.line});
  }

  void add_once(Diagnostic diagnostic) {
    if (is_consequence(diagnostic.position)) return;
    if (said_.insert(diagnostic.render()).second) diagnostics_.add(std::move(diagnostic));
  }

  void block(Position position, std::string message, std::string text = {}, std::string hint = {}) {
    Diagnostic diagnostic{Severity::error, std::move(position), std::move(message), std::move(text), std::move(hint)};
    if (said_.insert(diagnostic.render()).second) blockers_.push_back(std::move(diagnostic));
  }

  // --- what this version cannot do ------------------------------------------------------------------------------

  void block_executors() {
    std::vector<bool> used(sites_.size(), false);
    for (dag::NodeId node = 0; node < graph_.size(); ++node) used[graph_.planned_site(node)] = true;
    for (std::size_t i = 0; i < sites_.size(); ++i)
      if (used[i] && !sites_[i].runnable())
        block(sites_[i].position, fmt::format("this version cannot run jobs at '{}' sites", sites_[i].executor),
              sites_[i].name, "'godwit dag' writes files for HTCondor's DAGMan");
  }

  bool block_demands(const submit::Description& description, const submit::Lookup& lookup, dag::SiteId site) {
    if (!sites_[site].runnable() && sites_[site].executor != "annex") return false;
    const std::vector<submit::Demand> demands = submit::demands_beyond_local(description, lookup);
    for (const submit::Demand& demand : demands)
      block(demand.position, "this version cannot carry this out", demand.what);
    return !demands.empty();
  }

  // --- requests -------------------------------------------------------------------------------------------------

  // The most that was asked at a site, and what it offers.
  struct Request {
    std::uint64_t asked = 0;
    std::optional<std::uint64_t> offered;
    Position position;
  };

  void check_requests(const jobs::JobSpec& job, const submit::Description& description, dag::SiteId site) {
    for (std::size_t i = 0; i < std::size(kResources); ++i) {
      const std::uint64_t asked = kResources[i].asked(job.resources);
      Request& request = requests_[i][site];
      if (asked < request.asked) continue;
      const submit::Statement* statement = description.last(kResources[i].key);
      if (statement != nullptr && is_consequence(statement->value_position)) continue;
      request = {asked, kResources[i].offered(sites_[site], machine_),
                 statement != nullptr ? statement->value_position : spec_.train.common.origin};
    }
  }

  // An error where no site that jobs go to can meet a request, or a local one cannot; else a warning: a scheduler may
  // know better than the catalogue.
  void report_impossible_requests() {
    for (std::size_t i = 0; i < std::size(kResources); ++i) {
      const Resource& resource = kResources[i];
      const auto impossible = [](const auto& entry) {
        return entry.second.offered && entry.second.asked > *entry.second.offered;
      };
      const auto& by_site = requests_[i];
      if (std::none_of(by_site.begin(), by_site.end(), impossible)) continue;
      if (std::all_of(by_site.begin(), by_site.end(), impossible)) {
        report_nowhere(resource, by_site);
        continue;
      }
      for (const auto& [site, request] : by_site)
        if (impossible(std::pair{site, request})) report_at_site(resource, site, request);
    }
  }

  void report_nowhere(const Resource& resource, const std::map<dag::SiteId, Request>& by_site) {
    const auto less = [](const auto& a, const auto& b) { return a.second.asked < b.second.asked; };
    const Request& request = std::min_element(by_site.begin(), by_site.end(), less)->second;
    std::uint64_t most = 0;
    for (const auto& [site, other] : by_site) most = std::max(most, *other.offered);
    const std::string message =
        fmt::format("asks {}; no site offers more than {}", resource.text(request.asked), resource.text(most));
    // Where nobody described a site, the experiment may be meant for elsewhere.
    if (by_site.size() == 1 && !sites_[by_site.begin()->first].position.known())
      block(request.position, message, {}, "describe the sites it is for in sites.yaml");
    else
      diagnostics_.error(request.position, message);
  }

  void report_at_site(const Resource& resource, dag::SiteId site, const Request& request) {
    const bool local = sites_[site].runnable();
    diagnostics_.add({local ? Severity::error : Severity::warning,
                      request.position,
                      fmt::format("asks {}; site '{}' offers {}", resource.text(request.asked), sites_[site].name,
                                  resource.text(*request.offered)),
                      {},
                      local ? "ask for less there, by a {resource.…} brace, or leave the site out of 'sites'" : ""});
  }

  // --- files ----------------------------------------------------------------------------------------------------

  // Inputs that the experiment's own jobs make are not there yet: those of nodes that have parents, unless they are
  // named without any variable.
  void check_files(dag::NodeId node, const jobs::JobSpec& job, const submit::Description& description) {
    check_executable(job, description);
    const submit::Statement* statement = description.last_written("transfer_input_files");
    if (statement == nullptr) return;
    std::unordered_set<std::string> constant;
    for (const submit::Statement& s : description.statements())
      if (lower(s.key) == "transfer_input_files")
        for (const std::string& entry : submit::file_list(s.value)) constant.insert(entry);
    for (const jobs::InputFile& input : job.inputs) {
      const bool folder = input.contents_only;
      if (!begins(node) && !constant.contains(input.source) && !constant.contains(input.source + "/")) continue;
      const fs::path path = fs::path(job.directory) / input.source;
      std::error_code none;
      if (folder ? fs::is_directory(path, none) : fs::exists(path, none)) {
        files_.insert(path.lexically_normal());
        continue;
      }
      missing(statement->value_position, folder ? "no such input folder" : "no such input file", input.source);
    }
  }

  void check_executable(const jobs::JobSpec& job, const submit::Description& description) {
    const submit::Statement* statement = description.last("executable");
    if (statement == nullptr || job.executable.empty()) return;
    const bool by_path = !job.transfer_executable && job.executable.find('/') == std::string::npos;
    if (by_path && job.sandbox && on_path(job.executable)) return;
    // Without transfer a relative name is one inside the sandbox: an input may bring it.
    if (!job.transfer_executable && !by_path && !job.executable.starts_with('/')) return;
    std::error_code none;
    const fs::path path = fs::path(job.directory) / job.executable;
    if (!by_path && fs::is_regular_file(path, none)) {
      files_.insert(path.lexically_normal());
      return;
    }
    const bool comes_as_input = std::any_of(job.inputs.begin(), job.inputs.end(), [&](const jobs::InputFile& input) {
      return input.name == job.executable || input.contents_only;
    });
    if (by_path && comes_as_input) return;
    missing(statement->value_position, by_path ? "no such program on the PATH" : "no such executable", job.executable);
  }

  void missing(const Position& position, const std::string& what, const std::string& path) {
    if (!is_consequence(position)) missing_[{position.line, what}].emplace(path, position);
  }

  void report_missing_files() {
    for (const auto& [key, paths] : missing_) {
      std::size_t said = 0;
      for (const auto& [path, position] : paths) {
        if (said++ == kMostOfAKind) {
          diagnostics_.error(position, fmt::format("{}: and {} more", key.second, paths.size() - kMostOfAKind));
          break;
        }
        diagnostics_.error(position, key.second, path, "relative paths start at " + spec_.directory);
      }
    }
  }

  // Its arguments are expanded by DAGMan's rules, which know no variables.
  void check_script_macros(const char* key, const dag::Script& script) {
    for (const std::string& argument : script.arguments)
      if (argument.find("$(") != std::string::npos)
        diagnostics_.error(spec_.scripts.position, fmt::format("the {} script's arguments know no variables", key),
                           argument,
                           "they know $JOB, $RETRY, $MAX_RETRIES, $RETURN, $JOBID: $JOB is run3-train_epoch0");
  }

  void check_scripts() {
    for (const auto& [key, script] :
         {std::pair{"pre", &spec_.scripts.pre}, {"post", &spec_.scripts.post}, {"hold", &spec_.scripts.hold}}) {
      if (!*script) continue;
      check_script_macros(key, **script);
      const std::string& program = (*script)->executable;
      const fs::path path = fs::path(spec_.directory) / program;
      std::error_code none;
      if (fs::is_regular_file(path, none)) {
        files_.insert(path.lexically_normal());
        continue;
      }
      if (program.find('/') == std::string::npos && on_path(program)) continue;
      diagnostics_.error(spec_.scripts.position, fmt::format("no such program for the {} script", key), program,
                         "relative paths start at " + spec_.directory);
    }
  }

  const ExperimentSpec& spec_;
  const std::vector<sites::Site>& sites_;
  const sites::Machine& machine_;
  const dag::Graph& graph_;
  Diagnostics& diagnostics_;
  std::vector<Diagnostic>& blockers_;
  std::set<std::string> files_;
  bool incomplete_;  // there are errors already: statements may be missing
  ValuesKnown values_;
  std::set<std::pair<std::string, std::uint32_t>> passed_over_;
  std::unordered_set<std::string> said_;
  std::map<dag::SiteId, Request> requests_[std::size(kResources)];
  std::map<std::pair<std::uint32_t, std::string>, std::map<std::string, Position>> missing_;
};

}  // namespace

Checked check_jobs(const ExperimentSpec& spec, const std::vector<sites::Site>& sites, const sites::Machine& machine,
                   const dag::Graph& graph, Diagnostics& diagnostics, std::vector<Diagnostic>& blockers,
                   ValuesKnown values) {
  return Checker(spec, sites, machine, graph, diagnostics, blockers, values).check();
}

}  // namespace godwit::experiment
