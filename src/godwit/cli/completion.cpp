#include <fmt/format.h>

#include <memory>

#include "godwit/base/error.h"
#include "godwit/base/text.h"
#include "godwit/cli/catalogue.h"
#include "godwit/cli/checked.h"
#include "godwit/cli/command.h"

namespace godwit::cli {
namespace {

std::vector<std::string> option_names(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options)
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// Inside '…' of a shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> names;
  std::string cases;
  for (const CommandInfo& command : commands) {
    names.push_back(command.name);
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, join(option_names(command), " "));
  }
  return fmt::format(R"(# bash completion of godwit: source <(godwit completion bash)
_godwit() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help" -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _godwit godwit
)",
                     join(names, " "), cases);
}

std::string zsh(const std::vector<CommandInfo>& commands) {
  std::string list, cases;
  for (const CommandInfo& command : commands) {
    list += fmt::format("    {}\n", shell_quoted(command.name + ":" + command.summary));
    cases += fmt::format("    {}) compadd -- {}; _files ;;\n", command.name, join(option_names(command), " "));
  }
  return fmt::format(R"(#compdef godwit
# zsh completion of godwit: put it as _godwit into a folder of $fpath
_godwit() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
{}  esac
}}
_godwit "$@"
)",
                     list, cases);
}

std::string fish(const std::vector<CommandInfo>& commands) {
  std::string out = "# fish completion of godwit: godwit completion fish | source\n";
  for (const CommandInfo& command : commands) {
    out += fmt::format("complete -c godwit -n __fish_use_subcommand -a {} -d {}\n", command.name,
                       shell_quoted(command.summary));
    for (const OptionInfo& option : command.options)
      for (const std::string& name : option.names)
        if (!option.positional)
          out += fmt::format("complete -c godwit -n '__fish_seen_subcommand_from {}' {} {} -d {}{}\n", command.name,
                             name.starts_with("--") ? "-l" : "-s", name.substr(name.find_first_not_of('-')),
                             shell_quoted(option.description), option.value.empty() ? "" : " -r");
  }
  return out;
}

int print_completion(const CLI::App& root, const std::string& shell) {
  const std::vector<CommandInfo> commands = catalogue(root);
  fmt::print("{}", shell == "bash" ? bash(commands) : shell == "zsh" ? zsh(commands) : fish(commands));
  return kSuccess;
}

}  // namespace

void add_completion(CLI::App& root, Action& action) {
  CLI::App* command =
      add_command(root, "completion", "Print a shell's completion script", "source <(godwit completion bash)");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("SHELL")
      ->check(one_of({"bash", "zsh", "fish"}));
  command->callback([&root, &action, shell] { action = [&root, shell] { return print_completion(root, *shell); }; });
}

}  // namespace godwit::cli
