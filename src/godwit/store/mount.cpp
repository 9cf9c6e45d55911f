#include "godwit/store/mount.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "godwit/base/error.h"

namespace godwit::store {
namespace {

// statfs(2), linux/magic.h and the file systems' own headers.
constexpr std::array<unsigned long, 18> kNetworkMagics = {
    0x6969,      // NFS
    0x517B,      // SMB
    0xFF534D42,  // CIFS
    0xFE534D42,  // SMB 2
    0x0BD00BD0,  // Lustre
    0x47504653,  // GPFS
    0x19830326,  // BeeGFS
    0x00C36400,  // Ceph
    0xAAD7AAEA,  // PanFS
    0x20030528,  // OrangeFS
    0x01161970,  // GFS2
    0x7461636F,  // OCFS2
    0x5346414F,  // AFS
    0x6B414653,  // kAFS
    0x73757245,  // Coda
    0x01021997,  // 9P
    0x65735546,  // FUSE: sshfs, s3fs, GlusterFS and many more
    0x786F4256,  // VirtualBox's shared folders
};

}  // namespace

bool is_network_magic(unsigned long magic) {
  return std::find(kNetworkMagics.begin(), kNetworkMagics.end(), magic) != kNetworkMagics.end();
}

bool on_network_file_system(const std::string& path) {
  struct statfs status{};
  if (::statfs(path.c_str(), &status) != 0) throw SystemError("cannot look at the file system of " + path, errno);
  // f_type is signed on some architectures: the magic is its lower 32 bits.
  return is_network_magic(static_cast<unsigned long>(status.f_type) & 0xFFFFFFFFul);
}

}  // namespace godwit::store
