// Every combination of the variables' values, one after the other, none kept.
//
// The product of the axes (sweep/variable.h): the first varies slowest, as nested loops would. Then
//   include: ["alpha > 2"]               text: an expression; where there are any, a combination needs one that
//   holds include: [{alpha: 9, mode: b}]       a mapping: one more combination, after the product exclude: ["alpha
//   > 5 && mode == 'b'", {alpha: 1}]   what any expression or mapping (all its values equal) matches
// A mapping under `include` names every variable that has more than one value; expressions are computed. It is not
// filtered, and not repeated where the product has it already.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "godwit/base/interner.h"
#include "godwit/sweep/variable.h"

namespace godwit::sweep {

class Sweep {
 public:
  // `include` and `exclude` may be nullptr. What is wrong with them goes to `diagnostics`.
  Sweep(Variables variables, const yaml::Node* include, const yaml::Node* exclude, Diagnostics& diagnostics);
  ~Sweep();
  Sweep(Sweep&&) noexcept;
  Sweep& operator=(Sweep&&) noexcept;

  const Variables& variables() const;
  // The variables' names, in the order of the values that for_each gives.
  std::span<const std::string> names() const;

  // How many combinations there can be, before filters; costs nothing. 2^64 - 1 where it is more. Look at this
  // before count() and for_each(), whose cost is proportional to it.
  std::uint64_t most() const;
  // "10 × 3 × 5": the axes with more than one value.
  std::string shape() const;
  // How many combinations for_each() gives. Free without filters.
  std::uint64_t count() const;

  // Calls fn for each combination with one value per name. The views live as long as the Sweep. Always the same
  // ones in the same order. Throws InputError where an expression fails, with the values it failed for.
  void for_each(const std::function<void(std::span<const std::string_view> values)>& fn) const;
  // The same as ids of strings(), for those who keep combinations. Stops where fn returns false.
  void for_each_ids(const std::function<bool(std::span<const Interner::Id> values)>& fn) const;
  const Interner& strings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace godwit::sweep
