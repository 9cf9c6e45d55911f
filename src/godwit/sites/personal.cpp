#include "godwit/sites/personal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "godwit/base/yaml.h"

namespace godwit::sites {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void apply(const yaml::Entry& entry, Catalogue& catalogue, Diagnostics& diagnostics) {
  yaml::Fields fields(entry.value, diagnostics, fmt::format("site '{}'", entry.key));
  if (!entry.value.is_mapping()) return;
  const auto allocation = fields.text("allocation"), login_name = fields.text("login_name");
  fields.finish();
  const auto site = std::find_if(catalogue.sites.begin(), catalogue.sites.end(),
                                 [&](const Site& known) { return known.name == entry.key; });
  if (site == catalogue.sites.end()) return;
  if (allocation) site->allocation = *allocation;
  if (login_name) site->login_name = *login_name;
}

}  // namespace

std::string personal_file() {
  std::string folder = variable("XDG_CONFIG_HOME");
  if (folder.empty() && !variable("HOME").empty()) folder = variable("HOME") + "/.config";
  return folder.empty() ? "" : folder + "/godwit/sites.yaml";
}

void apply_personal(const std::string& file, Catalogue& catalogue, Diagnostics& diagnostics) {
  std::error_code error;
  if (file.empty() || !std::filesystem::is_regular_file(file, error)) return;
  try {
    const yaml::Node root = yaml::load(file);
    if (!root.is_mapping()) {
      diagnostics.error(root.position, "this must be a mapping from a site's name to what is yours there", root.text,
                        "write 'delta: {allocation: abc-123, login_name: ada}'");
      return;
    }
    for (const yaml::Entry& entry : root.entries) apply(entry, catalogue, diagnostics);
  } catch (const InputError& fault) {
    for (const Diagnostic& diagnostic : fault.diagnostics()) diagnostics.add(diagnostic);
  } catch (const SystemError& fault) {
    diagnostics.error({}, fault.what());
  }
}

}  // namespace godwit::sites
