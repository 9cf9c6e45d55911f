#include "godwit/experiment/suspect_values.h"

#include <set>
#include <utility>

#include "godwit/base/text.h"

namespace godwit::experiment {

std::vector<SuspectValue> suspect_values(const dag::Graph& graph, std::size_t most) {
  std::vector<SuspectValue> out;
  std::set<std::pair<std::string, std::string>> seen;
  for (dag::NodeId node = 0; node < graph.size() && out.size() < most; ++node) {
    if (graph.kind(node) != dag::NodeKind::train || !graph.parents(node).empty()) continue;
    graph.each_var(node, [&](std::string_view name, std::string_view value) {
      if (value.find_first_of("\"'$\\ \t\n") == std::string_view::npos) return;
      if (seen.emplace(name, value).second) out.push_back({node, std::string(name), std::string(value)});
    });
  }
  return out;
}

std::optional<std::string> undefined_macro_in(const SuspectValue& suspect, const submit::Description& description,
                                              const submit::Lookup& lookup) {
  submit::Description alone;
  try {
    alone.set("value", suspect.value);
  } catch (const InputError&) {
    return std::nullopt;  // a value that the language cannot say is another fault
  }
  const auto known = [&](std::string_view name) { return lookup(name).has_value() || description.has(name); };
  const auto undefined = submit::undefined_macros(alone, known);
  return undefined.empty() ? std::nullopt : std::optional(undefined.front().name);
}

}  // namespace godwit::experiment
