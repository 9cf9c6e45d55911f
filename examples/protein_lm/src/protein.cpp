#include "protein.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "godwit/base/error.h"

namespace protein_lm {

int amino_acid(char letter) {
  const std::size_t at = kAminoAcids.find(letter);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

namespace {

constexpr double kContactDistance = 8, kNeighbourDistance = 10;

double distance_of(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < 3; ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

}  // namespace

Domain::Domain(std::span<const Residue> residues) : residues_(residues), contact_(residues.size() * residues.size()) {
  std::vector<double> neighbours(length());
  for (std::size_t i = 0; i < length(); ++i) {
    wild_type_.push_back(static_cast<std::uint8_t>(amino_acid(residues[i].letter)));
    for (std::size_t j = 0; j < length(); ++j) {
      if (i == j) continue;
      contact_[i * length() + j] = distance(i, j) < kContactDistance;
      neighbours[i] += distance(i, j) < kNeighbourDistance;
    }
  }
  const double most = *std::max_element(neighbours.begin(), neighbours.end());
  for (double n : neighbours) burial_.push_back(most == 0 ? 0 : n / most);
}

double Domain::distance(std::size_t a, std::size_t b) const {
  return distance_of(residues_[a].position, residues_[b].position);
}

Variant parse_variant(std::string_view text, const Domain& domain) {
  Variant variant;
  const auto fail = [&](const char* what) { throw godwit::InputError(fmt::format("variant '{}': {}", text, what)); };
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view one = text.substr(at, comma - at);
    at = comma + 1;
    if (one.size() < 3) fail("a substitution is a letter, a place from 0, a letter");
    std::uint16_t place = 0;
    const char* last = one.data() + one.size() - 1;
    const auto [end, error] = std::from_chars(one.data() + 1, last, place);
    if (error != std::errc{} || end != last) fail("the place is no number");
    if (place >= domain.length()) fail("the place lies outside the domain");
    if (amino_acid(one.front()) != domain.wild_type()[place]) fail("the wild type has another residue there");
    const int to = amino_acid(one.back());
    if (to < 0) fail("the new residue is none of the twenty");
    for (const Substitution& s : variant)
      if (s.place == place) fail("a place is changed twice");
    variant.push_back({place, static_cast<std::uint8_t>(to)});
  }
  return variant;
}

std::string variant_text(const Variant& variant, const Domain& domain) {
  std::string text;
  for (const Substitution& s : variant)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ",", kAminoAcids[domain.wild_type()[s.place]], s.place,
                        kAminoAcids[s.to]);
  return text;
}

Sequence sequence_of(const Variant& variant, const Domain& domain) {
  Sequence sequence = domain.wild_type();
  for (const Substitution& s : variant) sequence[s.place] = s.to;
  return sequence;
}

}  // namespace protein_lm
