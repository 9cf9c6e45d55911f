// An append-only binary log whose records carry checksums.
//
// The file begins with 8 bytes of magic; a record is its payload's length (u32), XXH3 of the payload (u64, seeded with
// the record's offset, so that stale bytes never pass for a record) and the payload; integers are little-endian. A
// length of 0 ends the log: a writer may have reserved room behind the last record.
//
// A record that a crash left incomplete is cut off by the next writer; readers stop before it. A broken record with
// sound ones behind it is damage, not a crash, and is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "godwit/store/file_descriptor.h"

namespace godwit::store {

// Bytes that a record takes beside its payload.
inline constexpr std::uint64_t kRecordOverhead = 12;
inline constexpr std::uint32_t kMaxRecordBytes = 64u << 20;

// Reads; may do so while another process writes.
class CheckedLogReader {
 public:
  // Starts at `offset` (0: the first record), which an earlier reader or writer gave. Throws SystemError where the
  // file cannot be read and Error where it is no such log.
  explicit CheckedLogReader(const std::string& path, std::uint64_t offset = 0);

  // The next complete record, or nullopt at the (present) end; asking again later goes on there.
  std::optional<std::string> next();
  // Where the next record begins.
  std::uint64_t offset() const { return offset_; }

 private:
  FileDescriptor fd_;
  std::string path_;
  std::uint64_t offset_;
};

// Writes; the caller sees to it that there is one writer.
class CheckedLog {
 public:
  using OnRecord = std::function<void(std::uint64_t offset, std::string_view payload)>;

  // Opens or creates, shows each record there is to `on_record`, and cuts a torn tail. Throws SystemError or, for a
  // file that is damaged or no such log, Error.
  CheckedLog(const std::string& path, const OnRecord& on_record);

  // Returns the record's offset. Not forced to the disk: it outlives this process, not the machine. Throws SystemError
  // (ENOSPC); the log is then as before.
  std::uint64_t append(std::string_view payload);
  // Sees to it that records of `bytes` in all (with their overhead) can be appended even if the disk fills up. False
  // where it is full already.
  bool reserve(std::uint64_t bytes);
  // Reads the record at an offset that append() or `on_record` gave.
  std::string read(std::uint64_t offset) const;
  void sync();

  std::uint64_t end() const { return end_; }
  // Bytes of a torn tail that opening cut off.
  std::uint64_t cut_bytes() const { return cut_bytes_; }

 private:
  FileDescriptor fd_;
  std::string path_;
  std::uint64_t end_ = 0;
  std::uint64_t reserved_until_ = 0;
  std::uint64_t cut_bytes_ = 0;
};

}  // namespace godwit::store
