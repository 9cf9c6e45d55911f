// What the command line offers, as data: shell completions and man pages are made from it, so they cannot disagree
// with --help.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace godwit::cli {

struct OptionInfo {
  std::vector<std::string> names;  // "--json", "-o"; a positional has one without dashes
  std::string value;               // "FILE"; empty for a flag
  std::string description;
  bool positional = false;
};

struct CommandInfo {
  std::string name;
  std::string summary;
  std::string footer;  // its example
  std::vector<OptionInfo> options;
};

// The commands that --help lists, in its order.
std::vector<CommandInfo> catalogue(const CLI::App& root);

}  // namespace godwit::cli
