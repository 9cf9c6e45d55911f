#include "energies.h"

#include <cmath>

#include "godwit/ml/elementary.h"
#include "scales.h"

namespace protein_lm {
namespace {

constexpr double kHydrophobic = 1.5;  // hydropathy from which a residue counts as hydrophobic
constexpr double kScreening = 8;      // Debye length at physiological salt, Å
constexpr double kVolumeUnit = 50;    // Å^3
constexpr double kCore = 0.6;         // burial from which a place counts as core
constexpr std::size_t kLocal = 6;     // separation along the chain from which a contact is long-range

bool hydrophobic(std::uint8_t a) {
  return kHydropathy[a] >= kHydrophobic;
}
bool is_one_of(std::uint8_t a, std::string_view letters) {
  return letters.find(kAminoAcids[a]) != std::string_view::npos;
}

struct Terms {
  double contact_local = 0, contact_long = 0, hydrophobic_contact = 0, aromatic_contact = 0, burial = 0,
         polar_burial = 0, exposed_hydrophobic = 0, overpacking = 0, cavity = 0, electrostatics = 0, net_charge = 0,
         beta_propensity = 0, turn_propensity = 0, proline = 0, left_handed = 0;
};

void add_pairs(Terms& t, const Sequence& s, const Domain& domain) {
  for (std::size_t i = 0; i < s.size(); ++i)
    for (std::size_t j = i + 2; j < s.size(); ++j) {
      const double r = domain.distance(i, j);
      t.electrostatics += kCharge[s[i]] * kCharge[s[j]] * godwit::ml::exp(-r / kScreening) / r * kScreening;
      if (!domain.contact(i, j)) continue;
      (j - i < kLocal ? t.contact_local : t.contact_long) += kContactEnergy[s[i]][s[j]];
      t.hydrophobic_contact -= hydrophobic(s[i]) && hydrophobic(s[j]);
      t.aromatic_contact -= is_one_of(s[i], "FWYH") && is_one_of(s[j], "FWYH");
    }
}

void add_residues(Terms& t, const Sequence& s, const Domain& domain) {
  double charge = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double depth = domain.burial(i), hydropathy = kHydropathy[s[i]];
    t.burial -= depth * hydropathy;
    if (depth >= kCore && hydropathy < -2) t.polar_burial += depth * -hydropathy;
    if (hydrophobic(s[i])) t.exposed_hydrophobic += (1 - depth) * hydropathy;
    const double growth = (kVolume[s[i]] - kVolume[domain.wild_type()[i]]) / kVolumeUnit;
    (growth > 0 ? t.overpacking : t.cavity) += depth * depth * growth * growth;
    charge += kCharge[s[i]];
    const bool strand = domain.backbone(i) == Backbone::strand;
    (strand ? t.beta_propensity : t.turn_propensity) -= strand ? kBeta[s[i]] : kTurn[s[i]];
    const bool changed = s[i] != domain.wild_type()[i];
    if (strand && changed && is_one_of(s[i], "P")) t.proline += 1 + depth;
    if (domain.backbone(i) == Backbone::left_handed && !is_one_of(s[i], "GND")) t.left_handed += 1;
  }
  t.net_charge = charge * charge;
}

double total(const Terms& t) {
  return 0.5 * (t.contact_local + t.contact_long) + 0.3 * t.hydrophobic_contact + 0.5 * t.aromatic_contact +
         0.6 * t.burial + 0.4 * t.polar_burial + 0.2 * t.exposed_hydrophobic + 2.0 * t.overpacking + 2.0 * t.cavity +
         0.5 * t.electrostatics + 0.05 * t.net_charge + 1.5 * t.beta_propensity + 0.8 * t.turn_propensity +
         3.0 * t.proline + 2.0 * t.left_handed;
}

}  // namespace

Energies energies(const Sequence& sequence, const Domain& domain) {
  Terms t;
  add_pairs(t, sequence, domain);
  add_residues(t, sequence, domain);
  Energies all{t.contact_local,   t.contact_long,   t.hydrophobic_contact, t.aromatic_contact,
               t.burial,          t.polar_burial,   t.exposed_hydrophobic, t.overpacking,
               t.cavity,          t.electrostatics, t.net_charge,          t.beta_propensity,
               t.turn_propensity, t.proline,        t.left_handed,         total(t)};
  for (double& e : all) e = std::round(e * 1e4) / 1e4;
  return all;
}

}  // namespace protein_lm
