#include "godwit/journal/pause_note.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "godwit/base/clock.h"
#include "godwit/base/error.h"
#include "godwit/base/file.h"
#include "godwit/base/json.h"

namespace godwit::journal {
namespace {

constexpr std::size_t kSize = 1024;

}  // namespace

void write_pause_note(const std::string& path, const std::string& text) {
  std::string content;
  if (!text.empty()) {
    constexpr std::size_t kMost = kSize / 2;  // escaping makes it longer
    content = dump({{"time", system_clock().now()}, {"text", text.substr(0, kMost)}});
  }
  content.resize(kSize, ' ');
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = ::pwrite(file, content.data(), content.size(), 0);
  ::close(file);
}

std::optional<Message> read_pause_note(const std::string& path) {
  std::string content;
  try {
    content = read_file(path, 2 * kSize);
  } catch (const Error&) {
    return std::nullopt;  // an engine of an earlier version leaves none
  }
  const Json json = Json::parse(content, nullptr, false);
  if (!json.is_object() || !json.contains("time") || !json.contains("text")) return std::nullopt;
  return Message{json["time"].get<Micros>(), json["text"].get<std::string>()};
}

}  // namespace godwit::journal
