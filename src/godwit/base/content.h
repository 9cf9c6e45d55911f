// What a folder holds, in two numbers, so that it can be recognised later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "godwit/base/hash.h"

namespace godwit {

struct Content {
  std::uint64_t bytes = 0;  // of all files together
  Hash128 digest;           // of the files' names below the folder, sizes and contents
  friend bool operator==(const Content&, const Content&) = default;
};

// Reads every regular file below the folder to its last byte. Nothing: there is no such folder, there is no file in it,
// or one cannot be read.
std::optional<Content> content_of(const std::filesystem::path& folder);

// What became of it, for a sentence: "nothing there that can be read", "12 B instead of 4.1 MB", "other content of the
// same size".
std::string difference_of(const std::optional<Content>& now, const Content& before);

}  // namespace godwit
