// The reference pages of docs/ in Markdown, made from the command line's catalogue and the files' schemas, so that they
// cannot disagree with the program. A hidden command; a test compares the pages with it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/text.h"
#include "godwit/cli/catalogue.h"
#include "godwit/cli/checked.h"
#include "godwit/cli/command.h"
#include "godwit/experiment/keys.h"
#include "godwit/sites/schema.h"

namespace godwit::cli {
namespace {

constexpr const char* kMade = "<!-- Made by `godwit reference {}`; change the program, not this page. -->\n";

// In a cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
  return out;
}

std::string option_row(const OptionInfo& option) {
  std::string name = "`" + join(option.names, "`, `") + "`";
  if (!option.value.empty() && !option.positional) name += " " + option.value;
  return fmt::format("| {} | {} |\n", cell(name), cell(option.description));
}

std::string commands_page(const CLI::App& root) {
  std::string out = "# Commands\n\n" + fmt::format(fmt::runtime(kMade), "commands") +
                    "\nExit codes of all: 0 success, 1 the workflow failed, 2 bad input or usage, 130 interrupted.\n";
  for (const CommandInfo& command : catalogue(root)) {
    out +=
        fmt::format("\n## godwit {}\n\n{}.\n\n| argument | meaning |\n| --- | --- |\n", command.name, command.summary);
    for (const OptionInfo& option : command.options) out += option_row(option);
    const std::string_view example = command.footer;
    out += fmt::format("\n```sh\n{}\n```\n", trim(example.substr(std::string_view("Example:").size())));
  }
  return out;
}

// "text", "whole number ≥ 1", "list of text": what a value is, in words.
std::string type_text(const Json& schema) {
  if (const auto choices = schema.find("enum"); choices != schema.end()) {
    std::vector<std::string> words;
    for (const Json& word : *choices) words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
    return join(words, ", ");
  }
  if (const auto any = schema.find("anyOf"); any != schema.end()) {
    std::vector<std::string> kinds;
    for (const Json& one : *any)
      if (std::string kind = type_text(one); std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
        kinds.push_back(std::move(kind));
    return join(kinds, " or ");
  }
  const Json type = schema.value("type", Json("any"));
  if (type.is_array()) return "text";
  if (type == "integer")
    return schema.contains("minimum") ? fmt::format("whole number ≥ {}", schema["minimum"].dump()) : "whole number";
  if (type == "array") return "list of " + (schema.contains("items") ? type_text(schema["items"]) : "any");
  if (type == "object") return "mapping";
  if (type == "boolean") return "true or false";
  return type == "string" ? "text" : type.get<std::string>();
}

const Json* mapping_in(const Json& schema) {
  if (schema.contains("properties") && schema.value("type", Json()) == "object") return &schema["properties"];
  if (const auto any = schema.find("anyOf"); any != schema.end())
    for (const Json& one : *any)
      if (const Json* found = mapping_in(one)) return found;
  if (const auto values = schema.find("additionalProperties"); values != schema.end() && values->is_object())
    return mapping_in(*values);
  return nullptr;
}

void add_keys(std::string& out, const Json& keys, const std::string& title) {
  out += fmt::format("\n## {}\n\n| key | value | meaning |\n| --- | --- | --- |\n", title);
  for (const auto& [name, schema] : keys.items())
    out += fmt::format("| `{}` | {} | {} |\n", name, cell(type_text(schema)), cell(schema.value("description", "")));
  for (const auto& [name, schema] : keys.items())
    if (const Json* inner = mapping_in(schema)) add_keys(out, *inner, title + ": `" + name + "`");
}

std::string files_page() {
  std::string out =
      "# Files\n\n" + fmt::format(fmt::runtime(kMade), "files") +
      "\nThe same as JSON Schema, for editors: `godwit schema experiment`, `godwit schema sites`. Keys that "
      "begin with\n`x-` are yours.\n";
  const Json experiment = experiment::file_schema(), sites = sites::file_schema();
  if (const Json* keys = mapping_in(experiment)) add_keys(out, *keys, "experiment.yaml");
  if (const Json* keys = mapping_in(sites)) add_keys(out, *keys, "sites.yaml");
  return out;
}

int print_page(const CLI::App& root, const std::string& page) {
  fmt::print("{}", page == "commands" ? commands_page(root) : files_page());
  return kSuccess;
}

}  // namespace

void add_reference(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "reference", "Print a reference page in Markdown", "godwit reference commands");
  command->group("");
  auto page = std::make_shared<std::string>();
  command->add_option("page", *page, "commands or files")->required()->check(one_of({"commands", "files"}));
  command->callback([&root, &action, page] { action = [&root, page] { return print_page(root, *page); }; });
}

}  // namespace godwit::cli
