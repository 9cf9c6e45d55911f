// Errors with a place, and the collector that reports all of a file's errors at once.
//
// Exceptions are for what a caller cannot continue from. Input errors are collected in Diagnostics while a file is
// read and thrown together as one InputError. Only the cli module turns errors into text and exit codes.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace godwit {

// A place in an input file. Lines and columns count from 1; 0 means "not known". Columns count bytes.
struct Position {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  bool known() const { return !file.empty(); }
  // "file:3:14", "file:3", "file" or "".
  std::string text() const;
  friend bool operator==(const Position&, const Position&) = default;
};

enum class Severity : std::uint8_t { error, warning };

// One thing that is wrong: where, what, the offending text, and what to write instead.
struct Diagnostic {
  Severity severity = Severity::error;
  Position position;
  std::string message;
  std::string text;  // the offending text as written; may be empty
  std::string hint;  // what to write instead; may be empty

  // "file:3:14: error: message: 'text'\n  hint" without a final newline.
  std::string render() const;
};

// Base of every exception Godwit throws on purpose.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = {})
      : std::runtime_error(message), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

// The input (a file, an option, an environment variable) is wrong; the cli exits with 2.
class InputError : public Error {
 public:
  explicit InputError(Diagnostic diagnostic);
  explicit InputError(std::vector<Diagnostic> diagnostics);
  // An input error that belongs to no file, as a wrong option does.
  explicit InputError(const std::string& message, std::string hint = {});
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

// The operating system said no: message is "what: path: strerror(code)".
class SystemError : public Error {
 public:
  SystemError(const std::string& what, int code);
  int code() const { return code_; }

 private:
  int code_;
};

// Collects what is wrong with an input, so that a person sees all of it in one go.
class Diagnostics {
 public:
  void error(Position position, std::string message, std::string text = {}, std::string hint = {});
  void warning(Position position, std::string message, std::string text = {}, std::string hint = {});
  void add(Diagnostic diagnostic) { all_.push_back(std::move(diagnostic)); }

  bool has_errors() const;
  const std::vector<Diagnostic>& all() const { return all_; }
  std::vector<Diagnostic> warnings() const;
  // Throws InputError with every error, in the order of their positions, if there is one.
  void throw_if_errors() const;

 private:
  std::vector<Diagnostic> all_;
};

}  // namespace godwit
