// The protein domain, and variants of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace protein_lm {

inline constexpr std::string_view kAminoAcids = "ACDEFGHIKLMNPQRSTVWY";
inline constexpr std::size_t kAminoAcidCount = kAminoAcids.size();

// The index of a one-letter code in kAminoAcids, or -1.
int amino_acid(char letter);

// Amino acids as indices into kAminoAcids.
using Sequence = std::vector<std::uint8_t>;

enum class Backbone : char { strand = 'E', left_handed = '+', other = '-' };

// One residue: where its side chain begins (the C-beta atom, for glycine the C-alpha), in ångström.
struct Residue {
  char letter;
  Backbone backbone;
  std::array<double, 3> position;
};

// A domain with what follows from its structure.
class Domain {
 public:
  explicit Domain(std::span<const Residue> residues);

  std::size_t length() const { return residues_.size(); }
  const Sequence& wild_type() const { return wild_type_; }
  Backbone backbone(std::size_t place) const { return residues_[place].backbone; }
  double distance(std::size_t a, std::size_t b) const;  // Å
  bool contact(std::size_t a, std::size_t b) const { return contact_[a * length() + b] != 0; }
  // [length, length]: 1 where two different residues are closer than 8 Å.
  const std::vector<std::uint8_t>& contacts() const { return contact_; }
  // From 0 (no neighbour within 10 Å) to 1 (as many as the most buried residue).
  double burial(std::size_t place) const { return burial_[place]; }

 private:
  std::span<const Residue> residues_;
  Sequence wild_type_;
  std::vector<std::uint8_t> contact_;
  std::vector<double> burial_;
};

// The C-terminal SH3 domain of human GRB2: the sequence and structure that README.md names the source of.
const Domain& grb2_sh3();

struct Substitution {
  std::uint16_t place;  // from 0
  std::uint8_t to;      // index into kAminoAcids
};
using Variant = std::vector<Substitution>;

// "T0A,Q3C": wild-type letter, place from 0, new letter. Throws godwit::InputError where the text does not fit the
// domain.
Variant parse_variant(std::string_view text, const Domain& domain);
std::string variant_text(const Variant& variant, const Domain& domain);
Sequence sequence_of(const Variant& variant, const Domain& domain);

}  // namespace protein_lm
