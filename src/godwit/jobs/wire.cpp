#include "godwit/jobs/wire.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace godwit::jobs::wire {
namespace {

constexpr std::size_t kHeadBytes = 5;

}  // namespace

void Encoder::put_unsigned(std::uint64_t value) {
  while (value >= 0x80) {
    out_ += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out_ += static_cast<char>(value);
}

void Encoder::put(std::string_view text) {
  put_unsigned(text.size());
  out_ += text;
}

std::uint64_t Decoder::get_unsigned() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) throw WireError("a message ends too early");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  throw WireError("a number in a message has too many digits");
}

void Decoder::get(std::string& text) {
  const std::uint64_t size = get_unsigned();
  if (size > rest_.size()) throw WireError("a text is longer than its message");
  text.assign(rest_.substr(0, size));
  rest_.remove_prefix(size);
}

void put_frame(std::string& out, Type type, std::string_view body) {
  if (body.size() > kMaxFrameBytes) throw WireError("a message is larger than 64 MiB");
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>((body.size() >> shift) & 0xff);
  out += static_cast<char>(type);
  out += body;
}

bool Channel::receive() {
  constexpr std::size_t kStep = 64u << 10;
  if (taken_ > kStep || taken_ == in_.size()) {
    in_.erase(0, taken_);
    taken_ = 0;
  }
  std::array<char, kStep> buffer;  // not zeroed: this is read far more often than it is filled
  for (;;) {
    const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (got == 0) return false;
    in_.append(buffer.data(), static_cast<std::size_t>(got));
    if (static_cast<std::size_t>(got) < buffer.size()) return true;
  }
}

std::optional<Frame> Channel::next() {
  if (in_.size() - taken_ < kHeadBytes) return std::nullopt;
  std::uint32_t size = 0;
  for (unsigned i = 0; i < 4; ++i)
    size |= static_cast<std::uint32_t>(static_cast<unsigned char>(in_[taken_ + i])) << (8 * i);
  if (size > kMaxFrameBytes) throw WireError("a message is larger than 64 MiB");
  if (in_.size() - taken_ < kHeadBytes + size) return std::nullopt;
  Frame frame{static_cast<Type>(in_[taken_ + 4]), in_.substr(taken_ + kHeadBytes, size)};
  taken_ += kHeadBytes + size;
  return frame;
}

bool Channel::flush() {
  while (sent_ < out_.size()) {
    const ssize_t n = ::send(fd_, out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n < 0) return false;
    sent_ += static_cast<std::size_t>(n);
  }
  out_.clear();
  sent_ = 0;
  return true;
}

}  // namespace godwit::jobs::wire
