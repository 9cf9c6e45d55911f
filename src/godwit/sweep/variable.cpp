#include "godwit/sweep/variable.h"

#include <algorithm>
#include <array>
#include <utility>

#include "godwit/base/text.h"

namespace godwit::sweep {
namespace {

constexpr std::array<std::string_view, 8> kTypeNames{"value", "range",  "linspace", "logspace",
                                                     "list",  "random", "table",    "expression"};

// Lower case. What Godwit gives to every job, and what HTCondor and DAGMan set themselves whatever VARS say.
constexpr std::array kReserved = std::to_array<std::string_view>({"epoch",
                                                                  "first_epoch",
                                                                  "last_epoch",
                                                                  "run_uuid",
                                                                  "random_seed",
                                                                  "resourcename",
                                                                  "continue_from_checkpoint",
                                                                  "checkpoint_epoch",
                                                                  "godwit_attempt",
                                                                  "job",
                                                                  "retry",
                                                                  "max_retries",
                                                                  "jobid",
                                                                  "dag_status",
                                                                  "failed_count",
                                                                  "cluster",
                                                                  "clusterid",
                                                                  "process",
                                                                  "procid",
                                                                  "node",
                                                                  "step",
                                                                  "row",
                                                                  "item",
                                                                  "itemindex",
                                                                  "dollar"});

}  // namespace

std::string_view to_string(Type type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

bool is_reserved(std::string_view name) {
  return std::find(kReserved.begin(), kReserved.end(), lower(name)) != kReserved.end();
}

std::optional<std::uint32_t> Variables::index_of(std::string_view name) const {
  const auto found = by_name_.find(lower(name));
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

const Variable* Variables::find(std::string_view name) const {
  const std::optional<std::uint32_t> index = index_of(name);
  return index ? &variables_[*index] : nullptr;
}

std::optional<std::string> Variables::single(std::string_view name) const {
  const Variable* variable = find(name);
  if (variable == nullptr || variable->source == nullptr || variable->source->count() != 1) return std::nullopt;
  return variable->source->text(0);
}

std::optional<Formula> Variables::compile(std::string_view source, const Position& position,
                                          Diagnostics& diagnostics) const {
  if (engine_ == nullptr) engine_ = std::make_shared<const expr::Engine>(limits_);
  Formula formula;
  std::vector<std::string> parameters;
  for (const expr::Name& name : expr::names_in(source, position)) {
    const std::optional<std::uint32_t> index = index_of(name.name);
    if (!index || variables_[*index].name != name.name) continue;  // JavaScript tells alpha from Alpha
    formula.inputs.push_back(*index);
    parameters.push_back(name.name);
  }
  std::vector<std::string> names;
  names.reserve(variables_.size());
  for (const Variable& variable : variables_) names.push_back(variable.name);
  try {
    formula.expression = engine_->compile(source, std::move(parameters), position, names);
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics.add(diagnostic);
    return std::nullopt;
  }
  return formula;
}

}  // namespace godwit::sweep
