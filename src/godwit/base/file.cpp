#include "godwit/base/file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "godwit/base/error.h"
#include "godwit/base/units.h"

namespace godwit {

std::string read_file(const std::string& path, std::size_t most_bytes) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  // A pipe would keep us waiting, a device never end.
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) throw SystemError("cannot read " + path, errno);
  if (S_ISDIR(status.st_mode)) throw SystemError("cannot read " + path, EISDIR);
  if (!S_ISREG(status.st_mode)) throw InputError({Severity::error, {path}, "this is not a regular file", {}, {}});
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  if (!file) throw SystemError("cannot read " + path, errno);
  std::string bytes;
  char block[1 << 16];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, file.get())) > 0;) {
    if (bytes.size() + got > most_bytes)
      throw InputError({Severity::error, {path}, "the file is larger than " + format_bytes(most_bytes), {}, {}});
    bytes.append(block, got);
  }
  if (std::ferror(file.get()) != 0) throw SystemError("cannot read " + path, errno);
  return bytes;
}

}  // namespace godwit
