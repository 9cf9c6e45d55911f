#include "godwit/journal/log_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "godwit/base/text.h"

namespace godwit::journal {
namespace {

namespace fs = std::filesystem;

// What is read of a file's end.
constexpr std::uintmax_t kTailBytes = 64u << 10;

std::string absolute(const std::string& base, std::string_view path) {
  return path.empty() ? std::string() : (fs::path(base) / path).lexically_normal().string();
}

std::string usual_path(const View& view, const Attempt& attempt, std::string_view suffix) {
  const Node& node = view.nodes()[attempt.node];
  if (node.run == kNone || view.text(attempt.phase) != "job") return {};
  return usual_log(view.runs()[node.run].uuid, view.name_of(attempt.node), attempt.number, suffix);
}

std::string tail(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (!file || error) return {};
  const std::uintmax_t begin = size > kTailBytes ? size - kTailBytes : 0;
  file.seekg(static_cast<std::streamoff>(begin));
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// Of what a progress bar wrote over itself, the last.
std::string_view after_returns(std::string_view line) {
  const std::size_t end = line.find_last_not_of("\r \t");
  line = end == std::string_view::npos ? std::string_view() : line.substr(0, end + 1);
  const std::size_t last_return = line.rfind('\r');
  return last_return == std::string_view::npos ? line : line.substr(last_return + 1);
}

}  // namespace

std::string checkpoint_folder(std::string_view run_uuid, std::uint32_t last_epoch) {
  return fmt::format("runs/{}/checkpoints/{}", run_uuid, last_epoch);
}

std::string checkpoint_path(const View& view) {
  const Json* json = &view.source();
  for (const char* key : {"experiment", "checkpoint", "path"}) {
    if (!json->is_object() || !json->contains(key)) break;
    json = &(*json)[key];
  }
  return json->is_string() ? json->get<std::string>() : std::string();
}

std::string usual_log(std::string_view run_uuid, std::string_view node, std::uint32_t attempt,
                      std::string_view suffix) {
  return fmt::format("runs/{}/logs/{}.{}.{}", run_uuid, node, attempt, suffix);
}

LogFiles log_files(const View& view, const StateDir& state, const Attempt& attempt) {
  const std::string& directory = view.dag().directory;
  const std::string base = !directory.empty() && fs::is_directory(directory) ? directory : state.folder();
  const auto place = [&](TextId told, std::string_view suffix) {
    return absolute(base, told != 0 ? std::string(view.text(told)) : usual_path(view, attempt, suffix));
  };
  return {place(attempt.stdout_path, "out"), place(attempt.stderr_path, "err")};
}

std::vector<std::string> last_lines(const std::string& path, std::size_t most_lines, std::size_t most_bytes) {
  const std::string text = tail(path);
  std::vector<std::string> lines;
  const std::vector<std::string_view> all = split(text, '\n');
  for (auto line = all.rbegin(); line != all.rend() && lines.size() < most_lines; ++line)
    if (const std::string_view kept = after_returns(*line); !trim(kept).empty())
      lines.emplace_back(kept.substr(0, most_bytes));
  std::reverse(lines.begin(), lines.end());
  return lines;
}

}  // namespace godwit::journal
