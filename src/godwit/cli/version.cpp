#include <fmt/format.h>

#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/version.h"
#include "godwit/cli/command.h"

namespace godwit::cli {
namespace {

struct Options {
  bool json = false;
};

int print_version(const Options& options) {
  if (options.json)
    fmt::print("{}\n", dump(Json{{"version", kVersion}}));
  else
    fmt::print("godwit {}\n", kVersion);
  return kSuccess;
}

}  // namespace

void add_version(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "version", "Print the version", "godwit version --json");
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&action, options] { action = [options] { return print_version(*options); }; });
}

}  // namespace godwit::cli
