// Attention with relative positions: Shaw, Uszkoreit & Vaswani, "Self-attention with relative position
// representations", NAACL 2018, with the buckets that METL uses (Gelman et al., Nature Methods 22, 2025): the distance
// of two residues along the chain, or in the graph of contacts of a protein's structure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "godwit/ml/tape.h"

namespace godwit::ml {

// For each pair of places of a sequence, which learned vector says how they lie to each other.
struct RelativePositions {
  std::size_t length = 0;
  std::size_t buckets = 0;
  std::vector<std::uint16_t> bucket;  // [length, length], each < buckets
};

// Along the chain: j - i, cut off at ±clip, so 2 clip + 1 buckets.
RelativePositions chain_positions(std::size_t length, std::size_t clip);
// Along the edges of an undirected graph: the shortest path, cut off at `clip`, so clip + 1 buckets. `contact` is
// [length, length]; what cannot be reached counts as far.
RelativePositions graph_positions(std::span<const std::uint8_t> contact, std::size_t length, std::size_t clip);

// Per sequence and head: softmax((Q K' + (Q RK')[bucket]) / sqrt(d_head)) (V + RV[bucket]).
// q, k, v: [n length, heads d_head]; the tables RK and RV: [buckets, d_head], shared by the heads. `positions` must
// outlive the tape's next reset().
template <class T>
Var relative_attention(Tape<T>& tape, Var q, Var k, Var v, Var key_table, Var value_table,
                       const RelativePositions& positions, std::size_t heads);

}  // namespace godwit::ml
