#include "godwit/cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "godwit/base/error.h"
#include "godwit/base/printable.h"
#include "godwit/base/text.h"
#include "godwit/base/version.h"
#include "godwit/cli/catalogue.h"
#include "godwit/cli/command.h"

namespace godwit::cli {

namespace {

// What nobody would understand as a value: --yes=banana.
void refuse_values_of_flags(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
}

}  // namespace

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

int cannot_print(int code) {
  return report(std::string("cannot write to standard output: ") + std::strerror(code), "", kFailed);
}

// What could not be printed was not said: a full disk or a closed pipe is no success.
int unless_unsaid(int code) {
  if (std::fflush(stdout) != 0) return cannot_print(errno);
  return std::ferror(stdout) == 0 ? code : report("not all could be written to standard output", "", kFailed);
}

int run_action(const Action& action) {
  try {
    return unless_unsaid(action());
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
  } catch (const std::system_error& error) {
    // By fmt::print, to a full disk.
    if (std::ferror(stdout) != 0) return cannot_print(error.code().value());
    return report(error.what(), "", kFailed);
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
  std::vector<std::string> options, flags;
  for (const OptionInfo& option : command->options) {
    if (option.positional) continue;
    options.insert(options.end(), option.names.begin(), option.names.end());
    if (option.value.empty()) flags.insert(flags.end(), option.names.begin(), option.names.end());
  }
  for (int i = 2; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view argument = argv[i];
    const std::string word(argument.substr(0, argument.find('=')));
    const bool is_option = word.starts_with("--") || (word.size() == 2 && word[0] == '-' && std::isalpha(word[1]) != 0);
    if (is_option && std::find(options.begin(), options.end(), word) == options.end())
      return fmt::format("godwit {} has no option '{}'\n  {}", first, word, did_you_mean(word, options));
    if (argument.size() > word.size() && std::find(flags.begin(), flags.end(), word) != flags.end())
      return fmt::format("{} takes no value, not '{}'\n  say {} for yes, nothing for no", word,
                         argument.substr(word.size() + 1), word);
  }
  return {};
}

// What CLI11 says, where it is clear.
std::string in_our_words(const CLI::ParseError& error) {
  std::string message = error.what();
  // "--limit: 1 required N missing"
  const std::size_t colon = message.find(": 1 required ");
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ArgumentMismatch) || colon == std::string::npos ||
      !message.ends_with(" missing"))
    return message;
  const std::size_t begin = colon + std::string_view(": 1 required ").size();
  const std::string_view what = std::string_view(message).substr(begin, message.size() - begin - 8);
  return fmt::format("{} needs a value: {} {}", message.substr(0, colon), message.substr(0, colon), what);
}

int report_usage(const CLI::App& root, int argc, char** argv, const CLI::ParseError& error) {
  std::string message = explain_unknown(root, argc, argv);
  if (message.empty()) message = in_our_words(error);
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
  add_take_over(root, action);
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
  for (CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) refuse_values_of_flags(*command);

  if (argc == 1) {
    fmt::print("{}", root.help());
    return unless_unsaid(kBadInput);
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    const int code = root.exit(asked);
    return std::cout.flush() ? code : cannot_print(ENOSPC);
  } catch (const CLI::ParseError& error) {
    return report_usage(root, argc, argv, error);
  }
  return run_action(action);
}

}  // namespace godwit::cli
