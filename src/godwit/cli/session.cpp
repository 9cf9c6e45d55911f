#include "godwit/cli/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include "godwit/cli/owner.h"
#include "godwit/experiment/secrets.h"
#include "godwit/experiment/trackers.h"
#include "godwit/jobs/local_executor.h"
#include "godwit/sites/machine.h"

namespace godwit::cli {
namespace {

// As many jobs as the site says, or else as the machine holds of its size.
std::uint32_t slots_of(const sites::Site& site, const sites::Machine& machine) {
  if (site.slots != 0) return site.slots;
  std::uint64_t slots = machine.cpus / std::max(1u, site.cpus);
  if (site.mem_mb != 0 && machine.memory_mb != 0) slots = std::min(slots, machine.memory_mb / site.mem_mb);
  if (site.gpus != 0) slots = std::min<std::uint64_t>(slots, machine.gpus / site.gpus);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(slots, 1));
}

Json site_json(const sites::Site& site, std::uint32_t slots) {
  Json json{{"name", site.name}, {"executor", site.executor}, {"slots", slots}};
  if (site.cpus != 0) json["cpus"] = site.cpus;
  if (site.mem_mb != 0) json["memory_mb"] = site.mem_mb;
  if (site.gpus != 0) json["gpus"] = site.gpus;
  return json;
}

engine::Request request_from(const Json& json) {
  engine::Request request;
  using What = engine::Request::What;
  static const std::map<std::string, What> kWhat{
      {"stop", What::stop},     {"stop_now", What::stop_now}, {"retry", What::retry}, {"redo", What::redo},
      {"accept", What::accept}, {"pause", What::pause},       {"prune", What::prune}, {"promote", What::promote}};
  request.what = kWhat.at(json.at("what"));
  if (const auto runs = json.find("runs"); runs != json.end()) request.runs = runs->get<std::vector<std::string>>();
  if (const auto nodes = json.find("nodes"); nodes != json.end())
    request.nodes = nodes->get<std::vector<std::string>>();
  return request;
}

// Jobs leave what they made in the experiment's folder; without leave to write there each of them would fail at its
// end.
void require_room_for_results(const journal::StateDir& state) {
  const std::filesystem::path runs = std::filesystem::path(state.folder()) / "runs";
  const std::string folder = std::filesystem::exists(runs) ? runs.string() : state.folder();
  if (::access(folder.c_str(), W_OK) == 0) return;
  throw InputError(fmt::format("cannot write {}: {}", folder, std::strerror(errno)),
                   "results go there: copy the experiment to a folder where you may write");
}

}  // namespace

journal::StateDir state_of(const experiment::Planned& planned) {
  return journal::StateDir::beside(planned.spec.file);
}

Session::Session(const experiment::Planned& planned, engine::Observer& observer, SessionOptions options)
    : code_watch_(planned.files, planned.spec.directory, options.code) {
  const journal::StateDir state = options.state.value_or(state_of(planned));
  // What only stops jobs starts none.
  experiment::Secrets secrets;
  if (!options.stop_only) secrets = experiment::find_secrets(planned.spec);
  share_with_group(state.folder());
  state.create();
  if (!options.state && !options.stop_only) require_room_for_results(state);
  experiment::make_mlflow_runs(planned.spec, planned.graph);
  journal_ = journal::Journal::open(state.journal());

  const sites::Machine machine = sites::this_machine();
  engine::EngineOptions engine_options{.file = planned.spec.file,
                                       .sites = Json::array(),
                                       .once = options.once,
                                       .stop_only = options.stop_only,
                                       .declared = experiment::declaration_json(planned.spec.compare),
                                       .source = planned.source,
                                       .code = std::move(options.code),
                                       .edit_of = options.edit_of};
  jobs::LocalExecutorOptions local;
  local.state_dir = state.path();
  local.kept_sandboxes = planned.spec.keep_sandboxes;
  std::vector<engine::SitePort> ports;
  for (const sites::Site& site : planned.sites) {
    const std::uint32_t slots = slots_of(site, machine);
    jobs::LocalSite entry;
    entry.name = site.name;
    entry.slots = slots;
    entry.setup = site.setup;
    entry.gpus = site.gpus * slots;
    local.sites.push_back(std::move(entry));
    engine_options.sites.push_back(site_json(site, slots));
    ports.push_back({nullptr, slots});
  }
  local.secrets = std::move(secrets);
  executor_ = jobs::make_local_executor(std::move(local));
  for (engine::SitePort& port : ports) port.executor = executor_.get();

  disk_ = engine::make_disk({state.path(), planned.spec.directory + "/runs"}, state.pause_note());
  checkpoints_ = engine::make_checkpoint_store(planned.spec.directory);

  const auto take_requests = [state](const std::function<bool(const std::vector<engine::Request>&)>& handle) {
    journal::take_requests(state, [&](const journal::Requests& waiting) {
      std::vector<engine::Request> requests;
      requests.reserve(waiting.requests.size());
      for (const Json& json : waiting.requests) requests.push_back(request_from(json));
      return handle(requests);
    });
  };
  engine_ = std::make_unique<engine::Engine>(
      planned.graph,
      engine::Surroundings{*journal_, std::move(ports), *executor_, system_clock(), observer, take_requests, *disk_,
                           *checkpoints_, [&planned](dag::NodeId node) { return planned.placement_reason(node); },
                           [this] { return objection(); }},
      std::move(engine_options));
}

Session::~Session() = default;

std::string Session::objection() {
  const auto altered = code_watch_.altered();
  if (!altered) return {};
  return fmt::format(
      "{} is not what it was when this engine started: no job begins until it is put back; or 'godwit stop', "
      "and 'godwit run' shows what differs and asks",
      *altered);
}

}  // namespace godwit::cli
