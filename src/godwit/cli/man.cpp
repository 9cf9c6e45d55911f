// Man pages in roff (man(7)), made from the command line's own catalogue. A hidden command: packaging calls it.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "godwit/base/error.h"
#include "godwit/base/text.h"
#include "godwit/base/version.h"
#include "godwit/cli/catalogue.h"
#include "godwit/cli/command.h"

namespace godwit::cli {
namespace {

std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

std::string header(const std::string& title) {
  return fmt::format(".TH {} 1 \"\" \"godwit {}\" \"User Commands\"\n", title, kVersion);
}

std::string options_section(const CommandInfo& command) {
  std::string out = ".SH OPTIONS\n";
  for (const OptionInfo& option : command.options) {
    out += fmt::format(".TP\n\\fB{}\\fR", roff(join(option.names, ", ")));
    if (!option.value.empty() && !option.positional) out += " " + roff(option.value);
    out += "\n" + roff(option.description) + "\n";
  }
  return out;
}

std::string synopsis(const CommandInfo& command) {
  std::string out = fmt::format("\\fBgodwit {}\\fR", roff(command.name));
  for (const OptionInfo& option : command.options)
    if (option.positional) out += fmt::format(" [\\fI{}\\fR]", roff(option.names[0]));
  return out + " [\\fIOPTION\\fR]...\n";
}

std::string command_page(const CommandInfo& command) {
  return header("GODWIT\\-" + roff(command.name)) +
         fmt::format(".SH NAME\ngodwit\\-{} \\- {}\n.SH SYNOPSIS\n", roff(command.name), roff(command.summary)) +
         synopsis(command) + options_section(command) +
         fmt::format(".SH EXAMPLE\n.nf\n{}\n.fi\n", roff(command.footer)) +
         ".SH EXIT STATUS\n0 success, 1 the workflow failed, 2 bad input or usage, 130 interrupted.\n"
         ".SH SEE ALSO\n.BR godwit (1)\n";
}

std::string main_page(const std::vector<CommandInfo>& commands, const std::string& description) {
  std::string out =
      header("GODWIT") + fmt::format(
                             ".SH NAME\ngodwit \\- experiments whose training runs migrate between sites\n"
                             ".SH SYNOPSIS\n\\fBgodwit\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n"
                             ".SH DESCRIPTION\n{}\n.SH COMMANDS\n",
                             roff(description));
  for (const CommandInfo& command : commands)
    out += fmt::format(".TP\n\\fB{}\\fR\n{}. See \\fBgodwit\\-{}\\fR(1).\n", roff(command.name), roff(command.summary),
                       roff(command.name));
  return out + ".SH EXIT STATUS\n0 success, 1 the workflow failed, 2 bad input or usage, 130 interrupted.\n";
}

void write_page(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw SystemError("cannot write " + path.string(), errno);
}

int write_pages(const CLI::App& root, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const std::vector<CommandInfo> commands = catalogue(root);
  write_page(folder / "godwit.1", main_page(commands, root.get_description()));
  for (const CommandInfo& command : commands)
    write_page(folder / fmt::format("godwit-{}.1", command.name), command_page(command));
  return kSuccess;
}

}  // namespace

void add_man(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "man", "Write the man pages into a folder", "godwit man share/man/man1");
  command->group("");
  auto folder = std::make_shared<std::string>();
  command->add_option("folder", *folder, "Where the pages go")->required()->type_name("DIR");
  command->callback([&root, &action, folder] { action = [&root, folder] { return write_pages(root, *folder); }; });
}

}  // namespace godwit::cli
