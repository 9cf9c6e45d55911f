#include "godwit/dag/write.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "godwit/base/error.h"
#include "godwit/base/text.h"
#include "godwit/dag/early_stop_script.h"
#include "godwit/dag/output_file.h"
#include "godwit/dag/portable.h"

namespace godwit::dag {
namespace {

bool has_space(std::string_view text) {
  return text.find_first_of(" \t\n\r\v\f") != std::string_view::npos;
}

bool is_reserved(std::string_view name) {
  constexpr std::array<std::string_view, 3> kReserved = {"PARENT", "CHILD", "ALL_NODES"};
  return std::any_of(kReserved.begin(), kReserved.end(),
                     [&](std::string_view word) { return equal_ignoring_case(word, name); });
}

void check_node_name(std::string_view name) {
  if (name.empty() || name.find_first_of(" \t\n\r\v\f+") != std::string_view::npos || is_reserved(name))
    throw InputError("DAGMan cannot have a node named '" + std::string(name) + "'",
                     "no white space, no '+', and not PARENT, CHILD or ALL_NODES");
}

// VARS of a node, fast where nodes share an enclosing block: its text is made once and kept while it repeats.
class VarsWriter {
 public:
  VarsWriter(const Graph& graph, OutputFile& out)
      : graph_(graph),
        out_(out),
        kinds_(graph.strings().size(), Kind::unknown),
        checked_keys_(kinds_.size()),
        shared_in_(kinds_.size(), kNoVars) {}

  void put(NodeId node, std::string_view name) {
    const VarsId block = graph_.vars_of(node);
    if (block == kNoVars) return;
    share(graph_.enclosing(block));
    const auto own = graph_.own_vars(block);
    if (own.empty() && shared_text_.empty()) return;
    out_.put("VARS ");
    out_.put(name);
    const bool overrides = shared_ != kNoVars && std::any_of(own.begin(), own.end(), [&](const Var& var) {
                             return shared_in_[var.key] == shared_;
                           });
    if (overrides) {
      graph_.each_visible_var(block, [&](const Var& var) { put_var(var, out_); });
    } else {
      out_.put(shared_text_);
      for (const Var& var : own) put_var(var, out_);
    }
    out_.put('\n');
  }

 private:
  enum class Kind : std::uint8_t { unknown, plain, escaped };

  struct ToString {
    std::string& text;
    void put(std::string_view more) { text += more; }
    void put(char c) { text += c; }
  };

  void share(VarsId block) {
    if (block == shared_) return;
    shared_ = block;
    shared_text_.clear();
    if (block == kNoVars) return;
    ToString sink{shared_text_};
    graph_.each_visible_var(block, [&](const Var& var) {
      shared_in_[var.key] = block;
      put_var(var, sink);
    });
  }

  template <typename Sink>
  void put_var(const Var& var, Sink& sink) {
    const std::string_view key = graph_.strings().view(var.key), value = graph_.strings().view(var.value);
    if (!checked_keys_[var.key]) check_key(var.key, key);
    if (kinds_[var.value] == Kind::unknown) kinds_[var.value] = kind_of(key, value);
    sink.put(' ');
    sink.put(key);
    sink.put("=\"");
    if (kinds_[var.value] == Kind::plain)
      sink.put(value);
    else
      for (const char c : value) {
        if (c == '"' || c == '\\') sink.put('\\');
        sink.put(c);
      }
    sink.put('"');
  }

  void check_key(Interner::Id id, std::string_view key) {
    const std::string_view name = key.starts_with('+') ? key.substr(1) : key;
    const bool letters = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    });
    if (!letters || lower(name).starts_with("queue"))
      throw InputError("DAGMan cannot have a variable named '" + std::string(key) + "'",
                       "names have letters, digits and '_', and do not begin with 'queue'");
    checked_keys_[id] = true;
  }

  static Kind kind_of(std::string_view key, std::string_view value) {
    if (value.find_first_of(std::string_view("\n\r\0", 3)) != std::string_view::npos)
      throw InputError("the value of '" + std::string(key) + "' has several lines; VARS cannot say that",
                       "put the text into a file and transfer it");
    return value.find_first_of("\"\\") == std::string_view::npos ? Kind::plain : Kind::escaped;
  }

  const Graph& graph_;
  OutputFile& out_;
  std::vector<Kind> kinds_;         // by value
  std::vector<bool> checked_keys_;  // by key
  std::vector<VarsId> shared_in_;   // by key: the last shared block that had it
  VarsId shared_ = kNoVars;
  std::string shared_text_;
};

// What the nodes of one AttributesId say: lines "word name rest".
struct AttributeLine {
  std::string before;  // "RETRY "
  std::string after;   // " 3 UNLESS-EXIT 2\n"
};

constexpr std::string_view kScriptPre = "SCRIPT PRE ";

void add_script(std::vector<AttributeLine>& lines, const char* when, const std::optional<Script>& script) {
  if (!script) return;
  std::string rest = ' ' + script->executable;
  bool sayable = !script->executable.empty() && !has_space(script->executable);
  for (const std::string& argument : script->arguments) {
    rest += ' ' + argument;
    sayable = sayable && !argument.empty() && !has_space(argument);
  }
  if (!sayable)
    throw InputError("DAGMan cannot say this script's command line:" + rest,
                     "neither the program nor an argument may be empty or hold white space; wrap it in a script");
  lines.push_back({std::string("SCRIPT ") + when + ' ', rest + '\n'});
}

std::vector<AttributeLine> lines_of(const Attributes& attributes) {
  std::vector<AttributeLine> lines;
  add_script(lines, "PRE", attributes.pre);
  add_script(lines, "POST", attributes.post);
  add_script(lines, "HOLD", attributes.hold);
  if (attributes.retries > 0) {
    std::string rest = ' ' + std::to_string(attributes.retries);
    if (attributes.unless_exit) rest += " UNLESS-EXIT " + std::to_string(*attributes.unless_exit);
    lines.push_back({"RETRY ", rest + '\n'});
  }
  if (attributes.priority != 0) lines.push_back({"PRIORITY ", ' ' + std::to_string(attributes.priority) + '\n'});
  if (!attributes.category.empty()) {
    if (has_space(attributes.category))
      throw InputError("DAGMan cannot have a category named '" + attributes.category + "'", "no white space");
    lines.push_back({"CATEGORY ", ' ' + attributes.category + '\n'});
  }
  return lines;
}

class Writer {
 public:
  Writer(const Graph& graph, const std::filesystem::path& dir, const WriteOptions& options)
      : graph_(graph), dir_(dir), options_(options), out_(dir / (file_stem(graph) + ".dag")) {
    place_directory();
    number_descriptions();
  }

  Written run() {
    if (graph_.rules.asha)
      throw InputError("DAGMan cannot halve: it neither pauses runs nor promotes them ('asha')",
                       "'godwit run' does; or leave 'asha' out");
    prepare_rules();
    header();
    descriptions();
    nodes();
    for (const Edge& edge : graph_.edges()) {
      out_.put("PARENT ");
      out_.put(graph_.name_of(edge.parent));
      out_.put(" CHILD ");
      out_.put(graph_.name_of(edge.child));
      out_.put('\n');
    }
    limits();
    written_.bytes += out_.bytes();
    out_.finish();
    written_.dag_file = dir_ / (file_stem(graph_) + ".dag");
    return std::move(written_);
  }

 private:
  // A template at a site, as the file names it.
  struct Named {
    std::string name;
    const submit::Description* description = nullptr;
    bool used = false;
  };

  Named& named(NodeId node) { return descriptions_[graph_.template_of(node) * sites_ + graph_.planned_site(node)]; }

  void place_directory() {
    if (graph_.directory.empty()) return;
    std::error_code ignored;
    const auto here = std::filesystem::weakly_canonical(dir_, ignored);
    const auto there = std::filesystem::weakly_canonical(graph_.directory, ignored);
    if (here == there) return;
    // Below the experiment a relative path keeps the two movable together.
    const auto from_there = here.lexically_relative(there);
    const bool below = !from_there.empty() && *from_there.begin() != "..";
    const std::string directory = below ? there.lexically_relative(here).string() : there.string();
    if (has_space(directory))
      throw InputError("DAGMan cannot say a folder with white space: '" + directory + "'", "rename the folder");
    job_suffix_ = " DIR " + directory;
    files_from_node_ = below ? from_there.string() + '/' : here.string() + '/';
  }

  void number_descriptions() {
    sites_ = std::max<std::size_t>(graph_.sites().size(), 1);
    descriptions_.resize(graph_.templates().size() * sites_);
    for (std::size_t t = 0; t < graph_.templates().size(); ++t)
      for (std::size_t s = 0; s < graph_.templates()[t].at_site.size() && s < graph_.sites().size(); ++s) {
        Named& entry = descriptions_[t * sites_ + s];
        entry.name = graph_.sites()[s] + '_' + graph_.templates()[t].name;
        entry.description = graph_.templates()[t].at_site[s].get();
      }
    for (NodeId node = 0; node < graph_.size(); ++node) {
      if (graph_.kind(node) == NodeKind::noop) continue;
      const std::size_t index = graph_.template_of(node) * sites_ + graph_.planned_site(node);
      if (index >= descriptions_.size() || descriptions_[index].description == nullptr)
        throw InputError("node '" + std::string(graph_.name_of(node)) + "' has no description at its site");
      descriptions_[index].used = true;
    }
  }

  void header() {
    comment("DAGMan input file: condor_submit_dag " + file_stem(graph_) + ".dag");
    if (!graph_.name.empty()) comment(graph_.name);
    if (!options_.comment.empty())
      for (const std::string_view line : split(options_.comment, '\n')) comment(line);
    out_.put('\n');
  }

  void comment(std::string_view line) {
    out_.put("# ");
    // A line break would end the comment, a backslash at the end would swallow the next line.
    for (const char c : trim(line)) out_.put(c == '\n' || c == '\r' || c == '\\' ? ' ' : c);
    out_.put('\n');
  }

  void descriptions() {
    for (Named& entry : descriptions_) {
      if (!entry.used) continue;
      if (has_space(entry.name))
        throw InputError("DAGMan cannot have a description named '" + entry.name + "'",
                         "site and template names without white space");
      const std::string text = portable_text(*entry.description, graph_.directory);
      if (options_.submit_files) {
        submit_file(entry.name + ".sub", text);
        entry.name = files_from_node_ + entry.name + ".sub";
        continue;
      }
      out_.put("SUBMIT-DESCRIPTION " + entry.name + " {\n");
      for (const std::string_view line : split(text, '\n'))
        if (!line.empty()) out_.put("  " + std::string(line) + '\n');
      out_.put("}\n\n");
    }
  }

  void submit_file(const std::string& name, const std::string& text) {
    OutputFile file(dir_ / name);
    file.put(text);
    file.put("queue\n");
    written_.bytes += file.bytes();
    file.finish();
  }

  void prepare_rules() {
    if (graph_.rules.keep)
      written_.notes.emplace_back("DAGMan deletes no checkpoints; only `godwit run` carries out `keep`");
    if (!graph_.rules.early_stop) return;
    if (std::string why = why_no_early_stop_script(graph_); !why.empty()) {
      written_.notes.push_back(std::move(why));
      return;
    }
    const std::string name = file_stem(graph_) + ".early_stop.sh";
    OutputFile file(dir_ / name);
    file.put(early_stop_script());
    written_.bytes += file.bytes();
    file.finish();
    std::filesystem::permissions(
        dir_ / name,
        std::filesystem::perms::owner_exec | std::filesystem::perms::group_exec | std::filesystem::perms::others_exec,
        std::filesystem::perm_options::add);
    early_stop_ = (files_from_node_.empty() ? "./" : files_from_node_) + name;
  }

  // A node has one PRE script: its own follows the one that may skip it.
  void early_stop(NodeId node, std::string_view name) {
    out_.put("SCRIPT PRE ");
    out_.put(name);
    out_.put(' ' + early_stop_ + early_stop_arguments(graph_, node));
    if (const auto& own = graph_.attributes(node).pre) {
      out_.put(' ' + own->executable);
      for (const std::string& argument : own->arguments) out_.put(' ' + argument);
    }
    out_.put("\nPRE_SKIP ");
    out_.put(name);
    out_.put(' ' + std::to_string(kSkipExitCode) + '\n');
  }

  void nodes() {
    std::vector<std::vector<AttributeLine>> lines;
    for (const Attributes& attributes : graph_.all_attributes()) lines.push_back(lines_of(attributes));
    std::vector<bool> attributes_used(lines.size());
    VarsWriter vars(graph_, out_);
    for (NodeId node = 0; node < graph_.size(); ++node) {
      const std::string_view name = graph_.name_of(node);
      check_node_name(name);
      job(node, name);
      vars.put(node, name);
      attributes_used[graph_.attributes_id(node)] = true;
      const bool may_stop = !early_stop_.empty() && graph_.run_of(node) != kNoRun;
      if (may_stop) early_stop(node, name);
      for (const AttributeLine& line : lines[graph_.attributes_id(node)]) {
        if (may_stop && line.before == kScriptPre) continue;
        out_.put(line.before);
        out_.put(name);
        out_.put(line.after);
      }
    }
    out_.put('\n');
    note_what_is_lost(attributes_used);
  }

  void job(NodeId node, std::string_view name) {
    out_.put(graph_.kind(node) == NodeKind::service ? "SERVICE " : "JOB ");
    out_.put(name);
    out_.put(' ');
    if (graph_.kind(node) == NodeKind::noop)
      out_.put("noop.sub");
    else
      out_.put(named(node).name);
    out_.put(job_suffix_);
    out_.put(graph_.kind(node) == NodeKind::noop ? " NOOP\n" : "\n");
  }

  void note_what_is_lost(const std::vector<bool>& attributes_used) {
    for (std::size_t i = 0; i < attributes_used.size(); ++i)
      if (attributes_used[i] && graph_.all_attributes()[i].memory_escalation) {
        written_.notes.emplace_back(
            "after an out-of-memory DAGMan retries with the same request_memory; only `godwit run` raises it");
        return;
      }
  }

  // DAGMan takes the limit on all jobs from its configuration alone.
  void config_file() {
    const std::string name = file_stem(graph_) + ".config";
    OutputFile file(dir_ / name);
    file.put("DAGMAN_MAX_JOBS_SUBMITTED = " + std::to_string(graph_.max_jobs) + '\n');
    written_.bytes += file.bytes();
    file.finish();
    out_.put("CONFIG " + name + '\n');
  }

  void limits() {
    if (graph_.max_jobs != 0) config_file();
    for (const auto& [category, limit] : graph_.category_limits())
      out_.put("MAXJOBS " + category + ' ' + std::to_string(limit) + '\n');
    if (options_.status_interval_s > 0)
      out_.put("NODE_STATUS_FILE " + file_stem(graph_) + ".status " + std::to_string(options_.status_interval_s) +
               '\n');
  }

  const Graph& graph_;
  const std::filesystem::path& dir_;
  const WriteOptions& options_;
  OutputFile out_;
  Written written_;
  std::size_t sites_ = 1;
  std::vector<Named> descriptions_;  // template-major
  std::string job_suffix_;           // " DIR …" where nodes run elsewhere than the .dag lies
  std::string early_stop_;           // the script that may skip a node, from there; empty: none
  std::string files_from_node_;      // from there to the files beside the .dag
};

}  // namespace

std::string file_stem(const Graph& graph) {
  std::string stem = graph.name;
  for (char& c : stem) {
    const bool keep =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    if (!keep) c = '_';
  }
  if (stem.find_first_not_of('.') == std::string::npos) return "workflow";
  return stem;
}

Written write(const Graph& graph, const std::filesystem::path& dir, const WriteOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) throw SystemError("cannot make the folder " + dir.string(), error.value());
  return Writer(graph, dir, options).run();
}

}  // namespace godwit::dag
