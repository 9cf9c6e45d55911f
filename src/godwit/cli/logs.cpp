#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "godwit/base/clock.h"
#include "godwit/base/error.h"
#include "godwit/base/json.h"
#include "godwit/base/units.h"
#include "godwit/cli/checked.h"
#include "godwit/cli/command.h"
#include "godwit/cli/opened.h"
#include "godwit/cli/terminal.h"
#include "godwit/journal/log_files.h"

namespace godwit::cli {
namespace {

namespace fs = std::filesystem;
using journal::Attempt;
using journal::NodeIndex;

constexpr Micros kLookInterval = 300'000;
constexpr std::uint64_t kMostAttempts = 1'000'000;

struct Options {
  std::string node;
  std::string file;
  std::uint32_t attempt = 0;  // 0: the last
  bool errors = false;
  bool output = false;
  bool follow = false;
  bool json = false;
};

// One of an attempt's streams, as far as it has been printed.
struct Stream {
  std::string name;
  std::string path;
  std::uintmax_t printed = 0;
};

NodeIndex node_named(const Opened& opened, const std::string& name) {
  if (const auto node = opened.view.find_node(name)) return *node;
  no_such_node(opened.view, name, false);
}

// The job of the attempt that was asked for, or where there is none (its PRE script failed) what there is of it.
const Attempt& attempt_of(const Opened& opened, NodeIndex node, std::uint32_t number) {
  const journal::View& view = opened.view;
  const std::vector<journal::AttemptIndex> attempts = view.attempts_of(node);
  if (attempts.empty())
    throw InputError(fmt::format("{} has not been started, so it has written nothing", view.name_of(node)),
                     fmt::format("why: godwit why {}", view.name_of(node)));
  const std::uint32_t wanted = number != 0 ? number : view.attempts()[attempts.back()].number;
  const Attempt* found = nullptr;
  for (const journal::AttemptIndex index : attempts) {
    const Attempt& attempt = view.attempts()[index];
    if (attempt.number == wanted && (found == nullptr || view.text(attempt.phase) == "job")) found = &attempt;
  }
  if (found != nullptr) return *found;
  throw InputError(fmt::format("{} has no attempt {}", view.name_of(node), number),
                   fmt::format("it has had {}", format_count(view.attempts()[attempts.back()].number, "attempt")));
}

std::vector<Stream> streams_of(const Opened& opened, const Attempt& attempt, const Options& options) {
  const journal::LogFiles files = journal::log_files(opened.view, opened.state, attempt);
  const bool both = options.errors == options.output;
  std::vector<Stream> streams;
  if (both || options.output) streams.push_back({"stdout", files.out});
  if ((both && files.err != files.out) || options.errors) streams.push_back({"stderr", files.err});
  return streams;
}

// What is new in the stream's file goes to standard output; true where something was.
bool print_new(Stream& stream, bool heading, const Terminal& terminal) {
  std::ifstream file(stream.path, std::ios::binary);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(stream.path, error);
  if (!file || error || size <= stream.printed) return false;
  if (heading) fmt::print("{}\n", styled(fmt::format("--- {}: {}", stream.name, stream.path), Style::faint, terminal));
  file.seekg(static_cast<std::streamoff>(stream.printed));
  char block[1 << 16];
  while (file.read(block, sizeof block) || file.gcount() > 0) {
    std::fwrite(block, 1, static_cast<std::size_t>(file.gcount()), stdout);
    stream.printed += static_cast<std::uintmax_t>(file.gcount());
  }
  flush_output();
  return true;
}

bool has_ended(Opened& opened, NodeIndex node, std::uint32_t number) {
  opened.view.update(*opened.reader);
  return attempt_of(opened, node, number).has_ended();
}

void follow(Opened& opened, NodeIndex node, std::uint32_t number, std::vector<Stream>& streams,
            const Terminal& terminal) {
  const Stream* last = nullptr;
  for (bool ended = false; !ended;) {
    // Looked at before the files: what was written up to the end is then still printed.
    ended = has_ended(opened, node, number);
    for (Stream& stream : streams)
      if (print_new(stream, streams.size() > 1 && last != &stream, terminal)) last = &stream;
    if (!ended) system_clock().sleep_until(system_clock().monotonic() + kLookInterval);
  }
}

Json to_json(const Opened& opened, const Attempt& attempt, const std::vector<Stream>& streams) {
  Json json{{"node", opened.view.name_of(attempt.node)},
            {"attempt", attempt.number},
            {"phase", opened.view.text(attempt.phase)},
            {"site", opened.view.site_name(attempt.site)},
            {"ended", attempt.has_ended()}};
  for (const Stream& stream : streams)
    json[stream.name] = {{"path", stream.path}, {"exists", !stream.path.empty() && fs::exists(stream.path)}};
  return json;
}

int print_logs(const Options& options) {
  Opened opened = open_journal(options.file);
  const NodeIndex node = node_named(opened, options.node);
  const Attempt attempt = attempt_of(opened, node, options.attempt);
  std::vector<Stream> streams = streams_of(opened, attempt, options);
  if (options.json) {
    fmt::print("{}\n", dump(to_json(opened, attempt, streams)));
    return kSuccess;
  }
  const Terminal terminal = terminal_of(stdout);
  if (options.follow) {
    follow(opened, node, attempt.number, streams, terminal);
    return kSuccess;
  }
  bool any = false;
  for (Stream& stream : streams) any |= print_new(stream, streams.size() > 1, terminal);
  if (any) return kSuccess;
  std::vector<std::string> paths;
  paths.reserve(streams.size());
  for (const Stream& stream : streams)
    paths.push_back(stream.path.empty() ? stream.name + " (kept nowhere)" : stream.path);
  fmt::print(stderr, "attempt {} of {} has written nothing{}: {}\n", attempt.number, options.node,
             attempt.has_ended() ? "" : " yet", fmt::join(paths, ", "));
  return kSuccess;
}

}  // namespace

void add_logs(CLI::App& root, Action& action) {
  CLI::App* command =
      add_command(root, "logs", "Print what a node's job wrote", "godwit logs run0-train_epoch1 --follow");
  auto options = std::make_shared<Options>();
  command->add_option("node", options->node, "The node")->required()->option_text("NODE");
  command->add_option("file", options->file, "The experiment (default: experiment.yaml here)")->option_text("FILE");
  command->add_option("--attempt", options->attempt, "The attempt, from 1 (default: the last)")
      ->check(whole_number(1, kMostAttempts))
      ->option_text("N");
  command->add_flag("--err", options->errors, "Only standard error");
  command->add_flag("--out", options->output, "Only standard output");
  auto* follow = command->add_flag("-f,--follow", options->follow, "Go on printing until the attempt ends");
  command->add_flag("--json", options->json, "Print where the files are, as JSON")->excludes(follow);
  command->callback([&action, options] { action = [options] { return print_logs(*options); }; });
}

}  // namespace godwit::cli
