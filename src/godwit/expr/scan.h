// A look at an expression's tokens, enough to know the names it uses and whether its brackets match.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "godwit/expr/engine.h"

namespace godwit::expr {

struct Scan {
  std::vector<Name> names;          // see names_in()
  std::optional<Diagnostic> fault;  // a bracket, quote or comment without its other end
};

Scan scan(std::string_view source, const Position& origin);

// Words that JavaScript keeps for itself, so that no parameter can have such a name in an expression.
bool is_keyword(std::string_view word);

// The place of the byte at `offset` of `source`, whose first byte is at `origin`. Later lines are taken to be indented
// as the first one is, as those of a block scalar are.
Position place_in(std::string_view source, const Position& origin, std::size_t offset);

}  // namespace godwit::expr
