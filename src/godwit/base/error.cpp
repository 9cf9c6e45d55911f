#include "godwit/base/error.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>

#include "godwit/base/printable.h"

namespace godwit {

std::string Position::text() const {
  std::string out = file;
  if (line != 0) out += ':' + std::to_string(line);
  if (line != 0 && column != 0) out += ':' + std::to_string(column);
  return out;
}

std::string Diagnostic::render() const {
  std::string out;
  if (position.known()) out += printable(position.text()) + ": ";
  out += severity == Severity::error ? "error: " : "warning: ";
  out += printable_lines(message);
  if (!text.empty()) out += ": '" + printable(text) + "'";
  if (!hint.empty()) out += "\n  " + printable_lines(hint);
  return out;
}

namespace {

std::string render_all(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!out.empty()) out += '\n';
    out += diagnostic.render();
  }
  return out;
}

}  // namespace

InputError::InputError(Diagnostic diagnostic) : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : Error(render_all(diagnostics)), diagnostics_(std::move(diagnostics)) {}

InputError::InputError(const std::string& message, std::string hint)
    : InputError(Diagnostic{Severity::error, {}, message, {}, std::move(hint)}) {}

SystemError::SystemError(const std::string& what, int code) : Error(what + ": " + std::strerror(code)), code_(code) {}

void Diagnostics::error(Position position, std::string message, std::string text, std::string hint) {
  all_.push_back({Severity::error, std::move(position), std::move(message), std::move(text), std::move(hint)});
}

void Diagnostics::warning(Position position, std::string message, std::string text, std::string hint) {
  all_.push_back({Severity::warning, std::move(position), std::move(message), std::move(text), std::move(hint)});
}

bool Diagnostics::has_errors() const {
  return std::any_of(all_.begin(), all_.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
}

std::vector<Diagnostic> Diagnostics::warnings() const {
  std::vector<Diagnostic> out;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(out),
               [](const Diagnostic& d) { return d.severity == Severity::warning; });
  return out;
}

void Diagnostics::throw_if_errors() const {
  std::vector<Diagnostic> errors;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(errors),
               [](const Diagnostic& d) { return d.severity == Severity::error; });
  if (errors.empty()) return;
  std::stable_sort(errors.begin(), errors.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.position.file, a.position.line, a.position.column) <
           std::tie(b.position.file, b.position.line, b.position.column);
  });
  throw InputError(std::move(errors));
}

}  // namespace godwit
