// Writing a large file fast and whole: one buffer, few system calls, in its place only when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace godwit::dag {

// Writes beside `path` under a temporary name; finish() renames it there. Without finish() nothing is left behind.
// Every member may throw SystemError.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void put(std::string_view text) {
    if (text.size() > kBufferBytes - used_) return put_slowly(text);
    std::memcpy(buffer_.get() + used_, text.data(), text.size());
    used_ += text.size();
  }
  void put(char c) { put(std::string_view(&c, 1)); }
  void finish();
  std::uint64_t bytes() const { return flushed_ + used_; }

 private:
  static constexpr std::size_t kBufferBytes = 1 << 20;

  void put_slowly(std::string_view text);
  void write_out(std::string_view text);

  std::filesystem::path path_;
  std::string temporary_;
  int file_ = -1;
  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
  std::uint64_t flushed_ = 0;
};

}  // namespace godwit::dag
