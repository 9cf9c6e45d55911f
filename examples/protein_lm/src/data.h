// What the program learns from: variants with their simulated energies, and variants with measured scores.
#pragma once

#include <string>
#include <vector>

#include "energies.h"
#include "godwit/ml/tensor.h"
#include "protein.h"

namespace protein_lm {

struct Simulated {
  std::vector<Variant> variants;
  std::vector<Energies> energies;
};

struct Measured {
  std::string source;  // for people: where the scores are from
  std::vector<Variant> variants;
  std::vector<double> scores;
};

// `count` different variants of one to five substitutions, all with their energies.
Simulated simulate(const Domain& domain, std::size_t count, std::uint64_t seed);

// Scores that nobody measured: a hidden function of the variant (a sigmoid of its total energy, of an effect of its
// own for each substitution, and of a few pairs) with noise. The energies explain about half of its variance.
Measured generated_measurements(const Domain& domain, std::size_t count = 3000, std::uint64_t seed = 7);

// TSV files: `variant` and one column per energy term; `variant`, `num_mutations`, `score` as in metl-pub. Reading
// throws godwit::InputError with file and line.
std::string simulated_text(const Simulated& data, const Domain& domain);
Simulated read_simulated(const std::string& path, const Domain& domain);
std::string measured_text(const Measured& data, const Domain& domain);
Measured read_measured(const std::string& path, const Domain& domain);

// The tokens of the chosen variants, one sequence after the other.
std::vector<std::int32_t> tokens_of(const std::vector<Variant>& variants, std::span<const std::uint32_t> chosen,
                                    const Domain& domain);

}  // namespace protein_lm
