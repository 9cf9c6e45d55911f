#include "godwit/cli/catalogue.h"

namespace godwit::cli {
namespace {

OptionInfo info_of(const CLI::Option& option) {
  OptionInfo info;
  info.positional = option.get_lnames().empty() && option.get_snames().empty();
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  if (info.positional) info.names.push_back(option.get_single_name());
  if (option.get_items_expected_max() > 0) info.value = option.get_type_name();
  info.description = option.get_description();
  return info;
}

}  // namespace

std::vector<CommandInfo> catalogue(const CLI::App& root) {
  std::vector<CommandInfo> commands;
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;  // hidden
    CommandInfo info{command->get_name(), command->get_description(), command->get_footer(), {}};
    for (const CLI::Option* option : command->get_options()) info.options.push_back(info_of(*option));
    commands.push_back(std::move(info));
  }
  return commands;
}

}  // namespace godwit::cli
