#include <fmt/format.h>

#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/text.h"
#include "godwit/cli/checked.h"
#include "godwit/cli/command.h"
#include "godwit/experiment/starter.h"

namespace godwit::cli {
namespace {

struct Options {
  std::string folder;
  bool json = false;
};

int write_starter(const Options& options) {
  const std::vector<std::string> names = experiment::write_starter(options.folder);
  if (options.json) {
    fmt::print("{}\n", dump(Json{{"written", names}}));
    return kSuccess;
  }
  for (const std::string& name : names) fmt::print("wrote {}\n", name);
  const std::string there =
      options.folder.empty() || options.folder == "." ? "" : "cd " + shell_word(options.folder) + " && ";
  fmt::print("\nNext: {}godwit plan, then godwit run\n", there);
  return kSuccess;
}

}  // namespace

void add_init(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "init", "Write a small experiment that runs as it is, to start from",
                                  "godwit init my-experiment && cd my-experiment && godwit run");
  auto options = std::make_shared<Options>();
  command->add_option("DIR", options->folder, "The folder (default: this one)")->check(not_empty());
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&action, options] { action = [options] { return write_starter(*options); }; });
}

}  // namespace godwit::cli
