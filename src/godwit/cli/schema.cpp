#include <fmt/format.h>

#include <memory>

#include "godwit/base/json.h"
#include "godwit/cli/checked.h"
#include "godwit/cli/command.h"
#include "godwit/experiment/keys.h"
#include "godwit/sites/schema.h"

namespace godwit::cli {
namespace {

struct Options {
  std::string file;
  bool json = false;
};

int print_schema(const Options& options) {
  const Json schema = options.file == "sites" ? sites::file_schema() : experiment::file_schema();
  fmt::print("{}\n", schema.dump(options.json ? -1 : 2));
  return kSuccess;
}

}  // namespace

void add_schema(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "schema", "Print the JSON Schema of experiment.yaml or sites.yaml, for editors",
                                  "godwit schema experiment > experiment.schema.json");
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "Which: experiment or sites")
      ->required()
      ->check(one_of({"experiment", "sites"}));
  command->add_flag("--json", options->json, "On one line");
  command->callback([&action, options] { action = [options] { return print_schema(*options); }; });
}

}  // namespace godwit::cli
