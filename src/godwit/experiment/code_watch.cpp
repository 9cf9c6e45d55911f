#include "godwit/experiment/code_watch.h"

#include <sys/stat.h>

#include <filesystem>

#include "godwit/experiment/code.h"

namespace godwit::experiment {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFew = 64;
constexpr std::chrono::milliseconds kPause{200};

void add(const fs::path& path, std::vector<std::uint64_t>& signature) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) return;
  signature.push_back(about.st_ino);
  signature.push_back(static_cast<std::uint64_t>(about.st_size));
  signature.push_back(static_cast<std::uint64_t>(about.st_mtim.tv_sec));
  signature.push_back(static_cast<std::uint64_t>(about.st_mtim.tv_nsec));
}

}  // namespace

CodeWatch::CodeWatch(const std::set<std::string>& paths, const std::string& directory, const Json& code)
    : directory_(directory) {
  std::map<std::string, const Json*> by_name;
  for (const Json& entry : code) by_name.emplace(entry.at("file").get<std::string>(), &entry);
  for (const std::string& path : paths) {
    const std::string below = directory + "/";
    const auto known = by_name.find(path.starts_with(below) ? path.substr(below.size()) : path);
    if (known == by_name.end()) continue;
    // Without a signature it is read once when it is first looked at.
    watched_.push_back({path, *known->second, {}});
  }
}

CodeWatch::Signature CodeWatch::signature_of(const std::string& path) {
  Signature out;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error))
      add(at->path(), out);
  } else {
    add(path, out);
  }
  return out;
}

std::optional<std::string> CodeWatch::altered() {
  const auto now = std::chrono::steady_clock::now();
  if (files_ <= kFew || now - looked_ >= kPause) {
    looked_ = now;
    files_ = 0;
    for (Watched& one : watched_) {
      Signature signature = signature_of(one.path);
      files_ += signature.size();
      if (!one.signature.empty() && signature == one.signature) continue;
      const Json current = code_of({one.path}, directory_);
      one.altered = current.empty() || current.front() != one.recorded;
      one.signature = std::move(signature);
    }
  }
  for (const Watched& one : watched_)
    if (one.altered) return one.recorded.at("file").get<std::string>();
  return std::nullopt;
}

}  // namespace godwit::experiment
