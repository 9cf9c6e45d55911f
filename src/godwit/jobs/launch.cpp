#include "godwit/jobs/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "godwit/jobs/setup.h"
#include "godwit/jobs/staging.h"

namespace godwit::jobs {
std::string_view name_of(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

Environment own_environment() {
  Environment out;
  for (char** entry = environ; *entry != nullptr; ++entry) out.emplace_back(*entry);
  return out;
}

wire::Launch launch_of(const Attempt& attempt, const std::string& directory, std::string program,
                       const std::vector<std::string>& site_setup) {
  const JobSpec& spec = *attempt.spec;
  wire::Launch launch;
  launch.key = attempt.key.text();
  launch.site = attempt.site;
  launch.slotted = false;
  launch.directory = directory;
  launch.arguments = {program};
  launch.arguments.insert(launch.arguments.end(), spec.arguments.begin(), spec.arguments.end());
  launch.program = std::move(program);
  prepend_checked_setup(spec.setup.empty() ? site_setup : spec.setup, spec.sandbox ? directory : "", launch);
  for (const auto& [name, value] : spec.environment) launch.environment.push_back(fmt::format("{}={}", name, value));
  launch.environment.push_back("GODWIT_SITE=" + attempt.site);
  launch.environment.push_back("GODWIT_SANDBOX=" + launch.directory);
  launch.inherit_environment = spec.inherit_environment;
  launch.secrets = spec.secrets;
  launch.stdin_path = host_path(spec, spec.stdin_path);
  launch.stdout_path = host_path(spec, spec.stdout_path);
  launch.stderr_path = host_path(spec, spec.stderr_path);
  launch.append_output = attempt.key.attempt > 1;
  launch.cpus = spec.resources.cpus;
  launch.gpus = spec.resources.gpus;
  launch.memory_mb = spec.resources.memory_mb;
  launch.time_limit_s = spec.time_limit_s.value_or(0);
  launch.grace_s = spec.grace_s;
  return launch;
}

Environment environment_of(const wire::Launch& launch, const ClientEnvironment& client, const Environment& more) {
  Environment own = launch.environment;
  const auto sets = [&own](std::string_view name) {
    return std::any_of(own.begin(), own.end(), [&](const std::string& mine) { return name_of(mine) == name; });
  };
  for (const std::string& secret : client.secrets) {
    const std::string_view name = name_of(secret);
    const bool wanted = std::find(launch.secrets.begin(), launch.secrets.end(), name) != launch.secrets.end();
    if (wanted && !sets(name)) own.push_back(secret);
  }
  own.insert(own.end(), more.begin(), more.end());
  if (!launch.inherit_environment) return own;
  Environment all;
  all.reserve(client.inherited.size() + own.size());
  for (const std::string& entry : client.inherited)
    if (!sets(name_of(entry))) all.push_back(entry);
  std::move(own.begin(), own.end(), std::back_inserter(all));
  return all;
}

}  // namespace godwit::jobs
