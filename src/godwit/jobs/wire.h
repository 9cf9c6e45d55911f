// What the executor and the supervisor say to each other over their socket, and how it is coded.
//
// A frame is its body's length (u32, little-endian), a type (u8) and the body. Bodies are the fields of one message in
// order: unsigned integers as LEB128, signed ones zigzag before that, text and lists with their length first. The same
// coding makes the records of exits.log. Frames are written many at a time, so one system call moves a batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "godwit/base/clock.h"
#include "godwit/base/error.h"

namespace godwit::jobs::wire {

inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::uint32_t kMaxFrameBytes = 64u << 20;

// Bytes that are no message. Either a program of another version or not ours at all.
class WireError : public Error {
 public:
  using Error::Error;
};

class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  template <typename... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }

 private:
  void put_unsigned(std::uint64_t value);
  void put(std::string_view text);
  void put(const std::string& text) { put(std::string_view(text)); }
  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_enum_v<T>)
      put_unsigned(static_cast<std::uint64_t>(value));
    else if constexpr (std::is_unsigned_v<T>)
      put_unsigned(value);
    else if constexpr (std::is_integral_v<T>)
      put_unsigned((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(std::int64_t{value} >> 63));
    else
      T::visit(value, *this);
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    put_unsigned(values.size());
    for (const T& value : values) put(value);
  }

  std::string& out_;
};

// Throws WireError where the bytes do not fit what is read from them.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::uint64_t get_unsigned();
  void get(std::string& text);
  template <typename T>
  void get(T& value) {
    if constexpr (std::is_enum_v<T> || std::is_unsigned_v<T>) {
      value = static_cast<T>(get_unsigned());
    } else if constexpr (std::is_integral_v<T>) {
      const std::uint64_t zigzag = get_unsigned();
      value = static_cast<T>(static_cast<std::int64_t>(zigzag >> 1) ^ -static_cast<std::int64_t>(zigzag & 1));
    } else {
      T::visit(value, *this);
    }
  }
  template <typename T>
  void get(std::vector<T>& values) {
    const std::uint64_t count = get_unsigned();
    if (count > rest_.size()) throw WireError("a list is longer than its message");  // each item takes a byte at least
    values.resize(count);
    for (T& value : values) get(value);
  }

  std::string_view rest_;
};

template <typename T>
std::string encode(const T& message) {
  std::string out;
  Encoder encoder(out);
  T::visit(message, encoder);
  return out;
}

template <typename T>
T decode(std::string_view bytes) {
  T message;
  Decoder decoder(bytes);
  T::visit(message, decoder);
  if (!decoder.at_end()) throw WireError("a message has bytes too many");
  return message;
}

// --- messages ---------------------------------------------------------------------------------------------------

enum class Type : std::uint8_t {
  hello = 1,  // executor → supervisor, first
  welcome,    // its answer
  launch,     // run this; a known key is attached to instead
  cancel,     // end these
  attach,     // tell what became of these
  query,      // which of these do you know? …
  answer,     // … these
  started,    // supervisor → executor: it runs
  exited,     //   … it ended
  stranger,   //   … attach named a key that was never launched
};

// A site's slots; zeros mean "no limit".
struct Slots {
  std::string site;
  std::uint32_t slots = 0, cpus = 0, gpus = 0;
  std::uint64_t memory_mb = 0;
  static void visit(auto& self, auto& code) { code(self.site, self.slots, self.cpus, self.gpus, self.memory_mb); }
};

struct Hello {
  std::uint32_t version = kVersion;
  std::vector<Slots> sites;
  std::vector<std::string> environment;  // what jobs inherit, "NAME=value"
  std::vector<std::string> secrets;      // the same, for jobs that name them; they are kept in memory only
  static void visit(auto& self, auto& code) { code(self.version, self.sites, self.environment, self.secrets); }
};

struct Welcome {
  std::uint32_t version = kVersion;
  std::int32_t pid = 0;
  static void visit(auto& self, auto& code) { code(self.version, self.pid); }
};

// A process to run. Paths are absolute, except `program`, which is looked at from `directory`.
struct Launch {
  std::string key;
  std::string site;     // whose slots it takes
  bool slotted = true;  // false: starts at once (scripts, services)
  std::string program;
  std::vector<std::string> arguments;    // argv[0]…
  std::vector<std::string> environment;  // "NAME=value", over what is inherited
  bool inherit_environment = true;
  std::string directory;
  std::string stdin_path, stdout_path, stderr_path;  // empty: /dev/null
  bool append_output = false;
  std::uint32_t cpus = 1, gpus = 0;
  std::uint64_t memory_mb = 0;
  std::int64_t time_limit_s = 0;  // 0: none
  std::int64_t grace_s = 30;
  std::vector<std::string> secrets;  // names of the client's that it gets
  static void visit(auto& self, auto& code) {
    code(self.key, self.site, self.slotted, self.program, self.arguments, self.environment, self.inherit_environment,
         self.directory, self.stdin_path, self.stdout_path, self.stderr_path, self.append_output, self.cpus, self.gpus,
         self.memory_mb, self.time_limit_s, self.grace_s, self.secrets);
  }
};

struct Cancel {
  std::vector<std::string> keys;
  bool now = false;
  static void visit(auto& self, auto& code) { code(self.keys, self.now); }
};

// attach, query and stranger.
struct Keys {
  std::vector<std::string> keys;
  static void visit(auto& self, auto& code) { code(self.keys); }
};

struct Answer {
  std::vector<bool> known;  // in the order of the query
  static void visit(auto& self, auto& code) {
    std::vector<std::uint8_t> bytes(self.known.begin(), self.known.end());
    code(bytes);
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(self)>>)
      self.known.assign(bytes.begin(), bytes.end());
  }
};

struct Started {
  std::string key;
  std::int32_t pid = 0;
  Micros time = 0;
  static void visit(auto& self, auto& code) { code(self.key, self.pid, self.time); }
};

// Why a process ended, as far as the supervisor knows.
enum class Cause : std::uint8_t {
  itself,         // status says how
  terminated,     // we sent SIGTERM, because we were asked to end it
  killed,         // we sent SIGKILL at once, because we were asked to
  out_of_memory,  // we killed it: it passed what it asked for
  time_limit,     // we sent SIGTERM: its time was over
  lost,           // the supervisor that ran it died
  not_started,    // `error` (errno) and `what` say why
  withdrawn,      // canceled before it started
};

struct Exit {
  Cause cause = Cause::itself;
  std::int32_t status = 0;  // as wait() gives it
  std::int32_t error = 0;
  std::string what;
  bool kernel_killed = false;  // the kernel's out-of-memory killer was at work while it ended
  std::uint64_t cpu_us = 0;
  std::uint64_t wall_us = 0;
  std::uint64_t peak_memory_kb = 0;
  Micros started = 0, ended = 0;
  static void visit(auto& self, auto& code) {
    code(self.cause, self.status, self.error, self.what, self.kernel_killed, self.cpu_us, self.wall_us,
         self.peak_memory_kb, self.started, self.ended);
  }
};

struct Exited {
  std::string key;
  Exit exit;
  static void visit(auto& self, auto& code) { code(self.key, self.exit); }
};

// --- frames -----------------------------------------------------------------------------------------------------

struct Frame {
  Type type;
  std::string body;
};

// Appends a frame to bytes that are to be sent.
void put_frame(std::string& out, Type type, std::string_view body);

template <typename T>
void put_message(std::string& out, Type type, const T& message) {
  put_frame(out, type, encode(message));
}

// One end of a connection: a non-blocking stream socket with buffers both ways.
class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}

  // Reads what has come. False at its end (the peer is gone).
  bool receive();
  // The next complete frame of what was read. Throws WireError where it is impossible.
  std::optional<Frame> next();

  template <typename T>
  void send(Type type, const T& message) {
    put_message(out_, type, message);
  }
  // Writes as much as goes without blocking. False where the peer is gone.
  bool flush();
  bool wants_to_write() const { return sent_ < out_.size(); }
  int fd() const { return fd_; }

 private:
  int fd_;  // the owner of the channel owns it
  std::string in_;
  std::size_t taken_ = 0;
  std::string out_;
  std::size_t sent_ = 0;
};

}  // namespace godwit::jobs::wire
