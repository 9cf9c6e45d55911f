#include "godwit/base/ids.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdint>

#include "godwit/base/error.h"
#include "godwit/base/hash.h"

namespace godwit {

std::string new_uuid() {
  Hash128 bits;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) throw SystemError("cannot get random bytes", errno);
  bits.high = (bits.high & ~0xf000ull) | 0x4000ull;
  bits.low = (bits.low & ~(3ull << 62)) | (2ull << 62);
  return hex(bits);
}

}  // namespace godwit
