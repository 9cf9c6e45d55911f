#include "godwit/cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "godwit/base/error.h"
#include "godwit/base/printable.h"
#include "godwit/base/text.h"
#include "godwit/base/version.h"
#include "godwit/cli/catalogue.h"
#include "godwit/cli/command.h"

namespace godwit::cli {

CLI::App* add_command(CLI::App& root, const std::string& name, const std::string& summary, const std::string& example) {
  CLI::App* command = root.add_subcommand(name, summary);
  command->footer("Example:\n  " + example);
  return command;
}

namespace {

// Whether the error is about what the person named (a file that cannot be read, a folder that cannot be written), and
// not about the machine.
bool is_about_input(int code) {
  switch (code) {
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EEXIST:
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return true;
    default:
      return false;
  }
}

int report(const std::string& message, const std::string& hint, int code) {
  fmt::print(stderr, "error: {}\n", printable_lines(message));
  if (!hint.empty()) fmt::print(stderr, "  {}\n", printable_lines(hint));
  return code;
}

int run_action(const Action& action) {
  try {
    const int code = action();
    // What could not be printed was not said: a full disk or a closed pipe is no success.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return report(std::string("cannot write to standard output: ") + std::strerror(errno), "", kFailed);
    return code;
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());  // Diagnostic::render() has made it printable
    return kBadInput;
  } catch (const SystemError& error) {
    return report(error.what(), error.hint(), is_about_input(error.code()) ? kBadInput : kFailed);
  } catch (const Error& error) {
    return report(error.what(), error.hint(), kFailed);
  } catch (const std::filesystem::filesystem_error& error) {
    const int code = error.code().value();
    return report(fmt::format("cannot use {}: {}", error.path1().string(), std::strerror(code)), "",
                  is_about_input(code) ? kBadInput : kFailed);
  } catch (const std::exception& error) {
    return report(error.what(), "", kFailed);
  }
}

// A word on the command line that is no command or option of ours, with the one that was probably meant.
std::string explain_unknown(const CLI::App& root, int argc, char** argv) {
  const std::vector<CommandInfo> commands = catalogue(root);
  std::vector<std::string> names;
  for (const CommandInfo& command : commands) names.push_back(command.name);
  const std::string first = argv[1];
  const auto command =
      std::find_if(commands.begin(), commands.end(), [&](const CommandInfo& info) { return info.name == first; });
  if (command == commands.end())
    return first.starts_with("-") ? fmt::format("there is no option '{}' before the command", first)
                                  : fmt::format("there is no command '{}'\n  {}", first, did_you_mean(first, names));
  std::vector<std::string> options;
  for (const OptionInfo& option : command->options)
    if (!option.positional) options.insert(options.end(), option.names.begin(), option.names.end());
  for (int i = 2; i < argc; ++i) {
    const std::string word = std::string(split(argv[i], '=').front());
    if (word.starts_with("--") && std::find(options.begin(), options.end(), word) == options.end())
      return fmt::format("godwit {} has no option '{}'\n  {}", first, word, did_you_mean(word, options));
  }
  return {};
}

int report_usage(const CLI::App& root, int argc, char** argv, const CLI::ParseError& error) {
  std::string message = explain_unknown(root, argc, argv);
  if (message.empty()) message = error.what();
  if (message.ends_with("\n  ")) message.resize(message.size() - 3);  // nothing near
  const bool in_command = root.get_subcommands().size() == 1;
  fmt::print(stderr, "error: {}\n  See 'godwit {}--help'.\n", printable_lines(message),
             in_command ? root.get_subcommands().front()->get_name() + " " : "");
  return kBadInput;
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App root("Godwit runs machine-learning experiments whose training runs migrate between computing sites.",
                "godwit");
  root.require_subcommand(1);
  root.set_version_flag("--version", fmt::format("godwit {}", kVersion), "Print the version");
  Action action;
  // In the order of --help: from the first to the last that a person needs.
  add_init(root, action);
  add_plan(root, action);
  add_rehearse(root, action);
  add_dag(root, action);
  add_run(root, action);
  add_status(root, action);
  add_logs(root, action);
  add_why(root, action);
  add_debug(root, action);
  add_stop(root, action);
  add_retry(root, action);
  add_pause(root, action);
  add_promote(root, action);
  add_prune(root, action);
  add_compare(root, action);
  add_schema(root, action);
  add_completion(root, action);
  add_man(root, action);
  add_reference(root, action);
  add_version(root, action);
  add_supervise(root, action);

  if (argc == 1) {
    fmt::print("{}", root.help());
    return kBadInput;
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return root.exit(asked);
  } catch (const CLI::ParseError& error) {
    return report_usage(root, argc, argv, error);
  }
  return run_action(action);
}

}  // namespace godwit::cli
