// Files that appear whole or not at all: written beside their place under a temporary name, then renamed into it.
#pragma once

#include <string>
#include <string_view>

namespace godwit::store {

enum class Durability {
  process,  // whole after the process dies at any instant; after a power failure the old content may be back
  machine,  // after a power failure too: file and folder are fsynced
};

// The name that unfinished files begin with; what is found of them after a crash may go.
inline constexpr std::string_view kTemporaryPrefix = ".godwit-tmp-";

// Writes `content` to `path`, replacing what is there. The folder must exist. Throws SystemError (ENOSPC among its
// codes); the old content is then untouched and nothing is left behind.
void write_file(const std::string& path, std::string_view content, Durability durability = Durability::machine);

// Copies one file with its permissions and modification time, replacing what is at `target`. `source` may be a
// symbolic link: what it points to is copied. Throws SystemError.
void copy_file(const std::string& source, const std::string& target, Durability durability = Durability::machine);

// Copies a file or a whole folder, file by file, each atomically; folders are made where missing, and files that
// are at `target` already and not in `source` stay. A symbolic link below `source` that stays within it is kept as
// a link; one that leads out of it is replaced by what it points to. Sockets, FIFOs and devices, and links that
// lead to a folder they are in, throw Error.
void copy_tree(const std::string& source, const std::string& target, Durability durability = Durability::machine);

// Makes what was renamed into or removed from a folder last over a power failure. Throws SystemError.
void sync_folder(const std::string& folder);

}  // namespace godwit::store
