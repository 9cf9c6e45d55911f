// Any experiment text: either variables whose combinations can be walked, the same ones each time and no more than were
// counted, or an InputError. Only the first thousand are walked.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "godwit/base/error.h"
#include "godwit/base/hash.h"
#include "godwit/base/yaml.h"
#include "godwit/sweep/sweep.h"

namespace {

using namespace godwit;

constexpr std::uint64_t kMostWalked = 1000;

// The hash of the first combinations' values.
std::uint64_t walk(const sweep::Sweep& sweep, std::uint64_t most) {
  FieldHasher hasher;
  std::uint64_t seen = 0;
  sweep.for_each_ids([&](std::span<const Interner::Id> values) {
    if (values.size() != sweep.names().size() || ++seen > sweep.most()) std::abort();
    for (const Interner::Id value : values) hasher.add(sweep.strings().view(value));
    return seen < most;
  });
  return hasher.digest64();
}

sweep::Sweep sweep_of(const yaml::Node& root) {
  static const yaml::Node kNothing;
  Diagnostics diagnostics;
  const yaml::Node* vars = root.find("vars");
  sweep::Options options{.seed = "1", .base_directory = "", .limits = {.time = std::chrono::milliseconds(3)}};
  sweep::Variables variables = sweep::read(vars == nullptr ? kNothing : *vars, options, diagnostics);
  sweep::Sweep sweep(std::move(variables), root.find("include"), root.find("exclude"), diagnostics);
  diagnostics.throw_if_errors();
  return sweep;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const yaml::Node root = yaml::parse({reinterpret_cast<const char*>(data), size}, "input",
                                        {.depth = 32, .nodes = 2000, .bytes = 1u << 18});
    const sweep::Sweep sweep = sweep_of(root);
    // A filter may drop all of a huge product, and looking for what is left takes as long as it is large.
    const bool filtered = root.find("include") != nullptr || root.find("exclude") != nullptr;
    if (filtered && sweep.most() > kMostWalked) return 0;
    if (walk(sweep, kMostWalked) != walk(sweep_of(root), kMostWalked)) std::abort();
  } catch (const InputError& error) {
    if (error.diagnostics().empty()) std::abort();
  }
  return 0;
}
