#include "godwit/cli/app.h"

#include <fmt/format.h>

#include <cstdio>

#include "godwit/base/error.h"
#include "godwit/cli/command.h"

namespace godwit::cli {

CLI::App* add_command(CLI::App& root, const std::string& name, const std::string& summary, const std::string& example) {
  CLI::App* command = root.add_subcommand(name, summary);
  command->footer("Example:\n  " + example);
  return command;
}

namespace {

int run_action(const Action& action) {
  try {
    return action();
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kBadInput;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    if (!error.hint().empty()) fmt::print(stderr, "  {}\n", error.hint());
    return kFailed;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return kFailed;
  }
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App root("Godwit runs machine-learning experiments whose training runs migrate between computing sites.",
                "godwit");
  root.require_subcommand(1);
  Action action;
  add_run(root, action);
  add_stop(root, action);
  add_retry(root, action);
  add_compare(root, action);
  add_completion(root, action);
  add_dag(root, action);
  add_init(root, action);
  add_man(root, action);
  add_plan(root, action);
  add_schema(root, action);
  add_supervise(root, action);
  add_version(root, action);

  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return root.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "error: {}\n  See 'godwit --help'.\n", error.what());
    return kBadInput;
  }
  return run_action(action);
}

}  // namespace godwit::cli
