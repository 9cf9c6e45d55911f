#include "godwit/store/checked_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "godwit/base/error.h"
#include "godwit/base/hash.h"

namespace godwit::store {
namespace {

constexpr std::string_view kMagic{"GODWLOG1", 8};
constexpr std::uint64_t kReserveStep = 256u << 10;

template <typename Int>
void put(std::string& out, Int value) {
  for (std::size_t i = 0; i < sizeof(Int); ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

template <typename Int>
Int get(const char* bytes) {
  Int value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i)
    value |= static_cast<Int>(static_cast<Int>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  return value;
}

std::uint64_t checksum(std::string_view payload, std::uint64_t offset) {
  return hash64(payload, offset);
}

// Reads up to `size` bytes; fewer only at the end of the file.
std::size_t read_at(int fd, char* to, std::size_t size, std::uint64_t offset, const std::string& path) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(fd, to + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw SystemError("read: " + path, errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

// Writes all of it or throws.
void write_at(int fd, std::string_view bytes, std::uint64_t offset, const std::string& path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw SystemError("write: " + path, errno);
    done += static_cast<std::size_t>(n);
  }
}

struct Found {
  enum class What { record, end, broken } what;
  std::uint64_t next = 0;  // behind the record; for a broken one: where its length says that it ends
};

Found record_at(int fd, std::uint64_t offset, const std::string& path, std::string& payload) {
  std::array<char, kRecordOverhead> head{};
  const std::size_t got = read_at(fd, head.data(), head.size(), offset, path);
  const bool all_zero = std::all_of(head.begin(), head.end(), [](char c) { return c == 0; });
  if (got == 0 || all_zero) return {Found::What::end, offset};
  if (got < head.size()) return {Found::What::broken, offset};
  const auto length = get<std::uint32_t>(head.data());
  if (length == 0 || length > kMaxRecordBytes) return {Found::What::broken, offset};
  payload.resize(length);
  const std::uint64_t next = offset + kRecordOverhead + length;
  if (read_at(fd, payload.data(), length, offset + kRecordOverhead, path) < length) return {Found::What::broken, next};
  if (checksum(payload, offset) != get<std::uint64_t>(head.data() + 4)) return {Found::What::broken, next};
  return {Found::What::record, next};
}

FileDescriptor open_file(const std::string& path, int flags) {
  FileDescriptor fd(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (!fd.is_open()) throw SystemError("open: " + path, errno);
  return fd;
}

std::uint64_t size_of(int fd, const std::string& path) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) throw SystemError("stat: " + path, errno);
  return static_cast<std::uint64_t>(info.st_size);
}

void check_magic(int fd, const std::string& path) {
  std::array<char, kMagic.size()> magic{};
  const std::size_t got = read_at(fd, magic.data(), magic.size(), 0, path);
  if (std::string_view(magic.data(), got) != kMagic) throw Error("not a log of Godwit's: " + path);
}

}  // namespace

CheckedLogReader::CheckedLogReader(const std::string& path, std::uint64_t offset)
    : fd_(open_file(path, O_RDONLY)), path_(path), offset_(std::max<std::uint64_t>(offset, kMagic.size())) {
  if (size_of(fd_.get(), path) > 0) check_magic(fd_.get(), path);
}

std::optional<std::string> CheckedLogReader::next() {
  std::string payload;
  const Found found = record_at(fd_.get(), offset_, path_, payload);
  if (found.what != Found::What::record) return std::nullopt;
  offset_ = found.next;
  return payload;
}

CheckedLog::CheckedLog(const std::string& path, const OnRecord& on_record)
    : fd_(open_file(path, O_RDWR | O_CREAT)), path_(path) {
  std::uint64_t size = size_of(fd_.get(), path);
  if (size < kMagic.size()) {  // new, or cut short while it was made
    write_at(fd_.get(), kMagic, 0, path);
    size = kMagic.size();
  }
  check_magic(fd_.get(), path);
  end_ = kMagic.size();
  std::string payload;
  for (;;) {
    const Found found = record_at(fd_.get(), end_, path, payload);
    if (found.what == Found::What::record) {
      on_record(end_, payload);
      end_ = found.next;
      continue;
    }
    if (found.what == Found::What::broken) {
      const std::uint64_t broken = end_;
      if (found.next > broken && record_at(fd_.get(), found.next, path, payload).what == Found::What::record)
        throw Error(
            "damaged record at byte " + std::to_string(broken) + " of " + path,
            "A crash cannot do this; the disk or another program may have. Move the file away to go on without it.");
      cut_bytes_ = size - broken;
    }
    break;
  }
  // Without a torn tail the file stays as it is, so that room which a predecessor reserved is not lost to others.
  if (cut_bytes_ > 0 && ::ftruncate(fd_.get(), static_cast<off_t>(end_)) != 0)
    throw SystemError("truncate: " + path, errno);
  reserved_until_ = end_;
}

std::uint64_t CheckedLog::append(std::string_view payload) {
  if (payload.empty() || payload.size() > kMaxRecordBytes)
    throw Error("a log record must have 1 byte to 64 MiB: " + path_);
  std::string record;
  record.reserve(kRecordOverhead + payload.size());
  put(record, static_cast<std::uint32_t>(payload.size()));
  put(record, checksum(payload, end_));
  record += payload;
  const std::uint64_t offset = end_;
  try {
    write_at(fd_.get(), record, offset, path_);
  } catch (const SystemError&) {
    // What was written of it would look like a torn tail; a shorter record must not leave its rest behind. (If even
    // this fails, the next append overwrites it and the checksums tell.)
    if (::ftruncate(fd_.get(), static_cast<off_t>(offset)) == 0) reserved_until_ = offset;
    throw;
  }
  end_ += record.size();
  return offset;
}

bool CheckedLog::reserve(std::uint64_t bytes) {
  if (end_ + bytes <= reserved_until_) return true;
  const std::uint64_t until = end_ + bytes + kReserveStep;
  if (::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(end_), static_cast<off_t>(until - end_)) == 0) {
    reserved_until_ = until;
    return true;
  }
  if (errno == ENOSPC || errno == EDQUOT) {
    // A little less may fit still.
    const bool fits =
        ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(end_), static_cast<off_t>(bytes)) == 0;
    if (fits) reserved_until_ = end_ + bytes;
    return fits;
  }
  if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL) throw SystemError("reserve: " + path_, errno);
  // The file system cannot reserve: write the zeros that end a log.
  try {
    write_at(fd_.get(), std::string(until - end_, '\0'), end_, path_);
  } catch (const SystemError& error) {
    if (error.code() == ENOSPC || error.code() == EDQUOT) return false;
    throw;
  }
  reserved_until_ = until;
  return true;
}

std::string CheckedLog::read(std::uint64_t offset) const {
  std::string payload;
  if (record_at(fd_.get(), offset, path_, payload).what != Found::What::record)
    throw Error("no record at byte " + std::to_string(offset) + " of " + path_);
  return payload;
}

void CheckedLog::sync() {
  if (::fdatasync(fd_.get()) != 0) throw SystemError("sync: " + path_, errno);
}

}  // namespace godwit::store
