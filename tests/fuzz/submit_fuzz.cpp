// Any text: it is read, evaluated, checked and resolved, or refused with an InputError; a description that was read
// without errors is written and read back as the same statements, and quotings survive a round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "godwit/base/error.h"
#include "godwit/submit/description.h"
#include "godwit/submit/quoting.h"

namespace {

using namespace godwit;

void require(bool holds) {
  if (!holds) std::abort();
}

std::optional<std::string> variable(std::string_view name) {
  if (name == "x" || name == "epoch") return "3";
  if (name == "list") return "a, b/c, $(x)";
  if (name == "empty") return "";
  return std::nullopt;
}

submit::Description read(std::string_view text, Diagnostics& diagnostics) {
  return submit::Description::parse(text, {"input", 7, 5}, diagnostics, 4);
}

void check_round_trip(const submit::Description& description) {
  Diagnostics diagnostics;
  const submit::Description again = read(description.text(), diagnostics);
  require(!diagnostics.has_errors());
  require(again.statements() == description.statements());
}

template <typename Split, typename Join>
void check_quoting(std::string_view text, Split split, Join join) {
  try {
    const auto parts = split(text);
    require(split(join(parts)) == parts);
  } catch (const InputError&) {
  }
}

void use(const submit::Description& description) {
  submit::undefined_macros(description, [](std::string_view name) { return name == "x"; });
  try {
    submit::demands_beyond_local(description, variable);
  } catch (const InputError&) {
  }
  try {
    const jobs::JobSpec spec = submit::resolve(description, variable, {"/home/of/jobs", "node", 2, 17});
    for (const auto& output : spec.outputs) require(!output.name.starts_with('/') && !output.name.empty());
    for (const auto& input : spec.inputs) require(input.contents_only || !input.name.empty());
  } catch (const InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const submit::Description description = read(text, diagnostics);
  if (!diagnostics.has_errors()) check_round_trip(description);
  use(description);
  check_quoting(text, submit::split_arguments, submit::join_arguments);
  check_quoting(text, submit::split_environment, submit::join_environment);
  return 0;
}
