// What kind of file system a path is on.
#pragma once

#include <string>

namespace godwit::store {

// Whether several machines may have the file system mounted (NFS, SMB, Lustre, GPFS, BeeGFS, Ceph, FUSE …): shared
// memory, which SQLite's write-ahead log needs, does not work across them. Throws SystemError.
bool on_network_file_system(const std::string& path);

// The same from statfs's f_type.
bool is_network_magic(unsigned long magic);

}  // namespace godwit::store
