// For tests: a SQLite VFS whose disk can be full. Every write and every growing of a file then fails with SQLITE_FULL,
// as it does with the usual VFS at ENOSPC.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <map>
#include <string>
#include <utility>

namespace godwit::store {

class FullDiskVfs {
 public:
  // The name to open a database with. Registers the VFS at first use.
  static std::string name() {
    static const int registered = register_vfs();
    return registered == SQLITE_OK ? "full-disk" : "";
  }
  static void set_full(bool full) { is_full = full; }

 private:
  static int register_vfs() {
    static sqlite3_vfs vfs = *sqlite3_vfs_find(nullptr);
    vfs.zName = "full-disk";
    vfs.xOpen = open;
    return sqlite3_vfs_register(&vfs, 0);
  }

  // The base's files with one method replaced, in a copy of each table of methods that the base uses.
  static int open(sqlite3_vfs*, sqlite3_filename path, sqlite3_file* file, int flags, int* out_flags) {
    sqlite3_vfs* base = sqlite3_vfs_find(nullptr);
    const int code = base->xOpen(base, path, file, flags, out_flags);
    if (code != SQLITE_OK || file->pMethods == nullptr) return code;
    static std::map<const sqlite3_io_methods*, sqlite3_io_methods> changed;
    const auto [entry, fresh] = changed.try_emplace(file->pMethods, *file->pMethods);
    if (fresh) base_write = std::exchange(entry->second.xWrite, write);
    file->pMethods = &entry->second;
    return code;
  }

  static int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
    return is_full ? SQLITE_FULL : base_write(file, bytes, count, offset);
  }

  inline static std::atomic<bool> is_full{false};
  inline static int (*base_write)(sqlite3_file*, const void*, int, sqlite3_int64) = nullptr;
};

}  // namespace godwit::store
