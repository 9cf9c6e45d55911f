#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <string>

#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/submit/description.h"
#include "godwit/submit/macro.h"
#include "godwit/submit/paths.h"
#include "godwit/submit/quoting.h"

namespace godwit::submit {
namespace {

std::optional<std::string> built_in(std::string_view name, const ResolveContext& context) {
  if (name == "job" || name == "node") return context.node;
  if (name == "cluster" || name == "clusterid") return std::to_string(context.cluster);
  if (name == "retry") return std::to_string(context.attempt > 0 ? context.attempt - 1 : 0);
  if (name == "godwit_attempt") return std::to_string(context.attempt);
  if (name == "godwit_directory_url") return url_path(context.directory);
  for (const std::string_view zero :
       {"process", "procid", "dagmanjobid", "failed_count", "dag_status", "step", "row", "itemindex"})
    if (name == zero) return "0";
  return std::nullopt;
}

Lookup with_built_ins(const Lookup& variables, const ResolveContext& context) {
  return [&variables, &context](std::string_view name) -> std::optional<std::string> {
    if (variables)
      if (auto value = variables(name)) return value;
    return built_in(name, context);
  };
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

class Resolver {
 public:
  Resolver(const Description& description, const Lookup& variables, const ResolveContext& context,
           Diagnostics& diagnostics)
      : description_(description),
        context_(context),
        values_(evaluate(description, variables)),
        diagnostics_(diagnostics) {}

  jobs::JobSpec run() {
    spec_.name = context_.node;
    directory();
    sandbox();
    executable();
    arguments();
    environment();
    streams();
    if (spec_.sandbox) {
      inputs();
      outputs();
    }
    checkpoint();
    resources();
    times();
    return std::move(spec_);
  }

 private:
  // --- values and their faults ----------------------------------------------------------------------------------

  Position place(std::string_view key) const {
    const Statement* statement = description_.last_written(key);
    return statement ? statement->value_position : Position{};
  }

  // The value as the person wrote it where something was added to it since; else `value`.
  std::string as_written(std::string_view key, std::string value) const {
    const Statement* statement = description_.last_written(key);
    return statement == nullptr || statement->written.empty() ? std::move(value) : statement->written;
  }

  void fault(std::string_view key, const InputError& error, std::string text) {
    Diagnostic diagnostic = placed(error, place(key), std::move(text));
    diagnostic.message = std::string(key) + ": " + diagnostic.message;
    diagnostics_.add(std::move(diagnostic));
  }

  void fault(std::string_view key, std::string message, std::string text = {}, std::string hint = {}) {
    diagnostics_.error(place(key), std::string(key) + ": " + std::move(message), std::move(text), std::move(hint));
  }

  // The expanded, trimmed value; nullopt where the key is absent, empty or faulty.
  std::optional<std::string> text(std::string_view key) {
    try {
      auto value = values_.get(key);
      if (!value || trim(*value).empty()) return std::nullopt;
      if (value->find('\0') == std::string::npos) return std::string(trim(*value));
      fault(key, "the value holds a zero byte");
    } catch (const InputError& error) {
      fault(key, error, values_.raw(key).value_or(""));
    }
    return std::nullopt;
  }

  // The first of a command's names that is there.
  std::optional<std::string> text(std::string_view key, std::string_view alias) {
    return values_.has(key) ? text(key) : text(alias);
  }

  bool boolean(std::string_view key, bool otherwise) {
    const auto value = text(key);
    if (!value) return otherwise;
    for (const std::string_view word : {"true", "yes", "t", "1"})
      if (equal_ignoring_case(*value, word)) return true;
    for (const std::string_view word : {"false", "no", "f", "0"})
      if (equal_ignoring_case(*value, word)) return false;
    fault(key, "neither true nor false", *value);
    return otherwise;
  }

  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most) {
    const auto value = text(key);
    if (!value) return std::nullopt;
    const auto number = parse_integer(*value);
    if (number && *number >= least && *number <= most) return number;
    fault(key, "not a whole number from " + std::to_string(least) + " to " + std::to_string(most), *value);
    return std::nullopt;
  }

  template <typename Parse>
  std::optional<std::int64_t> quantity(std::string_view key, Parse parse, const char* expected) {
    const auto value = text(key);
    if (!value) return std::nullopt;
    if (const auto number = parse(*value)) return number;
    fault(key, std::string("not ") + expected, *value);
    return std::nullopt;
  }

  // --- what runs ------------------------------------------------------------------------------------------------

  void directory() {
    std::filesystem::path path = context_.directory;
    if (const auto initial = text("initialdir", "initial_dir")) path /= *initial;
    spec_.directory = path.lexically_normal().string();
    if (spec_.directory.size() > 1 && spec_.directory.ends_with('/')) spec_.directory.pop_back();
  }

  void sandbox() {
    if (const auto value = text("should_transfer_files")) {
      spec_.sandbox = !equal_ignoring_case(*value, "no");
      if (spec_.sandbox && !equal_ignoring_case(*value, "yes") && !equal_ignoring_case(*value, "if_needed"))
        fault("should_transfer_files", "neither YES, NO nor IF_NEEDED", *value);
    }
    if (const auto value = text("when_to_transfer_output")) {
      const auto is_value = [&](std::string_view when) { return equal_ignoring_case(*value, when); };
      if (!is_value("on_exit") && !is_value("on_exit_or_evict") && !is_value("on_success"))
        fault("when_to_transfer_output", "neither ON_EXIT, ON_EXIT_OR_EVICT nor ON_SUCCESS", *value);
    }
  }

  void executable() {
    const auto value = text("executable");
    if (value) {
      spec_.executable = file_url_path(*value).value_or(*value);
    } else if (context_.incomplete) {
      return;
    } else if (!values_.has("executable")) {
      const Position where = description_.statements().empty() ? Position{} : description_.statements()[0].position;
      diagnostics_.error(where, "the description names no executable", {}, "add 'executable = program'");
    } else if (!diagnostics_.has_errors()) {
      fault("executable", "the name is empty", values_.raw("executable").value_or(""));
    }
    spec_.transfer_executable = boolean("transfer_executable", true) && spec_.sandbox;
  }

  void arguments() {
    const auto value = text("arguments", "args");
    if (!value) return;
    try {
      spec_.arguments = split_arguments(*value);
    } catch (const InputError& error) {
      fault("arguments", error, *value);
    }
  }

  void environment() {
    inherit();
    if (const auto names = text("+GodwitSecrets")) spec_.secrets = file_list(string_literal(*names));
    const std::string_view key = values_.has("environment") ? "environment" : "env";
    const auto value = text(key);
    if (!value) return;
    try {
      for (auto& setting : split_environment(*value)) set_variable(std::move(setting));
    } catch (const InputError& error) {
      fault(key, error, as_written(key, *value));
    }
  }

  // The last of several values counts, as on HTCondor.
  void set_variable(std::pair<std::string, std::string> setting) {
    const auto same = [&](const auto& other) { return other.first == setting.first; };
    const auto found = std::find_if(spec_.environment.begin(), spec_.environment.end(), same);
    if (found != spec_.environment.end())
      found->second = std::move(setting.second);
    else
      spec_.environment.push_back(std::move(setting));
  }

  // getenv: true, false, or the names (with * for any text) that the job gets.
  void inherit() {
    const auto value = text("getenv");
    if (!value) return;
    if (equal_ignoring_case(*value, "true") || equal_ignoring_case(*value, "yes")) return;
    spec_.inherit_environment = false;
    if (equal_ignoring_case(*value, "false") || equal_ignoring_case(*value, "no")) return;
    std::string names = *value;
    std::replace(names.begin(), names.end(), ',', ' ');
    std::vector<std::string> patterns;
    for (const std::string_view pattern : split_words(names)) patterns.emplace_back(pattern);
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view setting(*entry);
      const std::size_t equals = setting.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string name(setting.substr(0, equals));
      const auto wants = [&](const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; };
      if (std::any_of(patterns.begin(), patterns.end(), wants))
        spec_.environment.emplace_back(name, setting.substr(equals + 1));
    }
  }

  void streams() {
    spec_.stdin_path = stream("input", "stdin");
    spec_.stdout_path = stream("output", "stdout");
    spec_.stderr_path = stream("error", "stderr");
  }

  std::string stream(std::string_view key, std::string_view alias) {
    const auto value = text(key, alias);
    if (!value || *value == "/dev/null") return {};
    if (!check_host_target(values_.has(key) ? key : alias, *value)) return {};
    return (std::filesystem::path(spec_.directory) / *value).lexically_normal().string();
  }

  // A path on the submitting side that the description makes the job write or read: absolute, or below the directory.
  bool check_host_target(std::string_view key, const std::string& path) {
    if (!has_parent_step(path)) return true;
    fault(key, "the path leaves its folder by '..'", path, "name the folder from the root, or set 'initialdir'");
    return false;
  }

  // --- files ----------------------------------------------------------------------------------------------------

  std::vector<std::string> list(std::string_view key) {
    const auto value = text(key);
    return value ? file_list(*value) : std::vector<std::string>{};
  }

  std::optional<std::string> inside_sandbox(std::string_view key, const std::string& path) {
    auto name = sandbox_name(path);
    if (!name) fault(key, "not a name inside the job's own folder", path, "no '..', and not from the root");
    return name;
  }

  void inputs() {
    preserve_ = boolean("preserve_relative_paths", false);
    for (const std::string& entry : list("transfer_input_files")) input(entry);
  }

  void input(const std::string& entry) {
    jobs::InputFile file;
    const auto local = file_url_path(entry);
    file.source = local.value_or(entry);
    if (is_url(entry) && !local) {
      file.name = url_file_name(entry);
    } else {
      file.contents_only = file.source.size() > 1 && file.source.ends_with('/');
      while (file.source.size() > 1 && file.source.ends_with('/')) file.source.pop_back();
      if (!file.contents_only)
        file.name = preserve_ && !file.source.starts_with('/') ? file.source : std::string(last_component(file.source));
    }
    if (file.contents_only) {
      spec_.inputs.push_back(std::move(file));
    } else if (const auto name = inside_sandbox("transfer_input_files", file.name)) {
      file.name = *name;
      spec_.inputs.push_back(std::move(file));
    }
  }

  // "name = target; name = target", in double quotes or not.
  std::map<std::string, std::string> remaps(std::string_view key) {
    std::map<std::string, std::string> remaps;
    const auto value = text(key);
    if (!value) return remaps;
    if (value->size() < 2 || !value->starts_with('"') || !value->ends_with('"')) {
      fault(key, "double quotes around the whole value are missing", as_written(key, *value));
      return remaps;
    }
    for (const std::string& part : split_remaps(string_literal(*value))) {
      const std::size_t equals = part.find('=');
      const std::string name(trim(std::string_view(part).substr(0, equals)));
      const std::string target(equals == std::string::npos ? "" : trim(std::string_view(part).substr(equals + 1)));
      if (name.empty() || target.empty()) {
        fault(key, "not of the form 'name = target'", part);
        continue;
      }
      const auto inside = inside_sandbox(key, name);
      if (inside && (is_url(target) || check_host_target(key, target)))
        remaps.insert_or_assign(*inside, file_url_path(target).value_or(target));
    }
    return remaps;
  }

  // Splits at ';'; a backslash before it keeps it.
  static std::vector<std::string> split_remaps(std::string_view value) {
    std::vector<std::string> parts{""};
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] == ';')
        parts.emplace_back();
      else if (value[i] == '\\' && i + 1 < value.size() && (value[i + 1] == ';' || value[i + 1] == '='))
        parts.back() += value[++i];
      else
        parts.back() += value[i];
    }
    std::erase_if(parts, [](const std::string& part) { return trim(part).empty(); });
    return parts;
  }

  void outputs() {
    for (const auto& [name, target] : remaps("+GodwitKeep")) spec_.outputs.push_back({name, target, false, true});
    const auto targets = remaps("transfer_output_remaps");
    const auto optional = names_of_attribute("+GodwitOptionalOutputs");
    for (const std::string& entry : list("transfer_output_files")) {
      const auto name = inside_sandbox("transfer_output_files", entry);
      if (name) output(*name, targets, std::find(optional.begin(), optional.end(), *name) == optional.end());
    }
    if (values_.has("transfer_output_files")) return;
    for (const auto& [name, target] : targets) spec_.outputs.push_back({name, target, false, false});
  }

  void output(const std::string& name, const std::map<std::string, std::string>& targets, bool required) {
    const std::string base(last_component(name));
    auto remap = targets.find(name);
    if (remap == targets.end()) remap = targets.find(base);
    const std::string target = remap != targets.end() ? remap->second : preserve_ ? name : base;
    const auto same = [&](const jobs::OutputFile& file) { return file.name == name; };
    if (std::none_of(spec_.outputs.begin(), spec_.outputs.end(), same))
      spec_.outputs.push_back({name, target, required, false});
  }

  std::vector<std::string> names_of_attribute(std::string_view key) {
    std::vector<std::string> names;
    const auto value = text(key);
    if (!value) return names;
    for (const std::string& entry : file_list(string_literal(*value)))
      if (auto name = inside_sandbox(key, entry)) names.push_back(std::move(*name));
    return names;
  }

  void checkpoint() {
    for (const std::string& entry : list("transfer_checkpoint_files"))
      if (auto name = inside_sandbox("transfer_checkpoint_files", entry))
        spec_.checkpoint_files.push_back(std::move(*name));
    if (const auto code = integer("checkpoint_exit_code", 0, 255)) spec_.checkpoint_exit_code = static_cast<int>(*code);
    const auto metrics = names_of_attribute("+GodwitMetrics");
    if (!metrics.empty()) spec_.metrics_file = metrics.front();
    spec_.metrics_table = string_literal(text("+GodwitMetricsFormat").value_or("")) == "csv";
    if (const auto first = integer("+GodwitMetricsFirstEpoch", 0, 1)) spec_.metrics_first_epoch = *first;
  }

  // --- what it asks for -----------------------------------------------------------------------------------------

  void resources() {
    constexpr std::int64_t kMostUnits = 1'000'000;
    if (const auto cpus = integer("request_cpus", 1, kMostUnits))
      spec_.resources.cpus = static_cast<std::uint32_t>(*cpus);
    if (const auto gpus = integer("request_gpus", 0, kMostUnits))
      spec_.resources.gpus = static_cast<std::uint32_t>(*gpus);
    constexpr auto kExpected = "an amount; write for example 128GB";
    if (const auto mb = quantity("request_memory", parse_memory_mb, kExpected))
      spec_.resources.memory_mb = static_cast<std::uint64_t>(*mb);
    if (const auto kb = quantity("request_disk", parse_disk_kb, kExpected))
      spec_.resources.disk_kb = static_cast<std::uint64_t>(*kb);
  }

  void times() {
    constexpr auto kExpected = "a time; write seconds, or for example 90m";
    for (const std::string_view key : {"allowed_job_duration", "allowed_execute_duration"})
      if (const auto seconds = quantity(key, parse_duration_s, kExpected))
        spec_.time_limit_s = std::min(spec_.time_limit_s.value_or(*seconds), *seconds);
    if (const auto seconds = quantity("job_max_vacate_time", parse_duration_s, kExpected)) spec_.grace_s = *seconds;
  }

  const Description& description_;
  const ResolveContext& context_;
  Evaluated values_;
  Diagnostics& diagnostics_;
  jobs::JobSpec spec_;
  bool preserve_ = false;
};

}  // namespace

jobs::JobSpec resolve(const Description& description, const Lookup& variables, const ResolveContext& context) {
  Diagnostics diagnostics;
  jobs::JobSpec spec = resolve(description, variables, context, diagnostics);
  diagnostics.throw_if_errors();
  return spec;
}

jobs::JobSpec resolve(const Description& description, const Lookup& variables, const ResolveContext& context,
                      Diagnostics& diagnostics) {
  const Lookup lookup = with_built_ins(variables, context);
  return Resolver(description, lookup, context, diagnostics).run();
}

}  // namespace godwit::submit
