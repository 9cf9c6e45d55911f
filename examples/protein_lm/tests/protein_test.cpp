#include "protein.h"

#include <doctest/doctest.h>

#include <string>

#include "data.h"
#include "energies.h"
#include "godwit/base/error.h"

namespace protein_lm {
namespace {

Energies change_of(const std::string& text) {
  const Domain& domain = grb2_sh3();
  const Energies before = energies(domain.wild_type(), domain);
  Energies after = energies(sequence_of(parse_variant(text, domain), domain), domain);
  for (std::size_t t = 0; t < after.size(); ++t) after[t] -= before[t];
  return after;
}

std::size_t term(std::string_view name) {
  for (std::size_t t = 0; t < kEnergyTerms.size(); ++t)
    if (kEnergyTerms[t] == name) return t;
  FAIL("no term " << name);
  return 0;
}

}  // namespace

TEST_CASE("the domain is GRB2's SH3") {
  const Domain& domain = grb2_sh3();
  std::string sequence;
  for (std::uint8_t a : domain.wild_type()) sequence += kAminoAcids[a];
  CHECK(sequence == "TYVQALFDFDPQEDGELGFRRGDFIHVMDNSDPNWWKGACHGQTGMFPRNYVTPVN");
  for (std::size_t i = 0; i < domain.length(); ++i) {
    CHECK_FALSE(domain.contact(i, i));
    CHECK(domain.burial(i) >= 0);
    CHECK(domain.burial(i) <= 1);
    for (std::size_t j = 0; j < i; ++j) CHECK(domain.contact(i, j) == domain.contact(j, i));
  }
  // The core is more buried than the tip of a loop and the end of the chain.
  CHECK(domain.burial(38) > domain.burial(30));  // A39, S31
  CHECK(domain.burial(38) > domain.burial(55));
}

TEST_CASE("variants are read as they are written") {
  const Domain& domain = grb2_sh3();
  for (const char* text : {"T0A", "T0A,Q3C", "N55W,Y1P,V2K"})
    CHECK(variant_text(parse_variant(text, domain), domain) == text);
  const Sequence sequence = sequence_of(parse_variant("T0A,N55W", domain), domain);
  CHECK(kAminoAcids[sequence[0]] == 'A');
  CHECK(kAminoAcids[sequence[55]] == 'W');
  CHECK(kAminoAcids[sequence[1]] == 'Y');
  for (const char* text :
       {"", "T0", "A0T", "T0B", "T56A", "T-1A", "TxA", "T0A,", "T0A,T0C", "T99999999999A", "T0A Q3C"})
    CHECK_THROWS_AS(parse_variant(text, domain), godwit::InputError);
}

TEST_CASE("energies change as chemistry says") {
  // A proline and a charge put into a strand of the core.
  CHECK(change_of("A38P")[term("proline")] > 1);
  CHECK(change_of("A38P")[term("beta_propensity")] > 0);
  CHECK(change_of("A38D")[term("burial")] > 0);
  CHECK(change_of("I24D")[term("polar_burial")] > 0);
  CHECK(change_of("A38W")[term("overpacking")] > 0);
  CHECK(change_of("A38W")[term("cavity")] == 0);
  CHECK(change_of("V26G")[term("cavity")] > 0);
  CHECK(change_of("G14V")[term("left_handed")] == 1);
  CHECK(change_of("G14N")[term("left_handed")] == 0);
  CHECK(change_of("F8A")[term("contact_long")] > 0);  // contacts lost
  // The domain is negative: a charge more of that kind costs, one less gains.
  CHECK(change_of("Q3D")[term("net_charge")] > 0);
  CHECK(change_of("D9N")[term("net_charge")] < 0);
  for (const char* text : {"A38P", "A38D", "V26G", "F8A"}) CHECK(change_of(text).back() > 0);
}

TEST_CASE("simulated data: different variants, one to five substitutions, read as written") {
  const Domain& domain = grb2_sh3();
  const Simulated data = simulate(domain, 300, 1);
  CHECK(simulate(domain, 300, 1).energies == data.energies);
  CHECK(simulate(domain, 300, 2).energies != data.energies);
  for (const Variant& v : data.variants) {
    CHECK(v.size() >= 1);
    CHECK(v.size() <= 5);
  }
  CHECK(data.energies.size() == 300);
}

}  // namespace protein_lm
