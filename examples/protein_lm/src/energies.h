// Coarse-grained energies of a variant, from its sequence and the wild type's structure.
//
// They are crude on purpose: sums over residues and contacts with published scales, the backbone held fixed. They stand
// in for the biophysical simulation that METL pretrains on and are no replacement for one. Arbitrary units.
#pragma once

#include <array>
#include <string_view>

#include "protein.h"

namespace protein_lm {

inline constexpr std::array<std::string_view, 16> kEnergyTerms{
    "contact_local",        // Miyazawa-Jernigan energies of contacts 2 to 5 residues apart along the chain
    "contact_long",         // … of contacts further apart
    "hydrophobic_contact",  // contacts between two hydrophobic residues
    "aromatic_contact",     // contacts between two aromatic residues
    "burial",               // Kyte-Doolittle hydropathy, weighted by burial
    "polar_burial",         // polar residues in the core
    "exposed_hydrophobic",  // hydrophobic residues at the surface
    "overpacking",          // side chains larger than the wild type's, by burial
    "cavity",               // side chains smaller than the wild type's, by burial
    "electrostatics",       // charges, screened after Debye and Hückel
    "net_charge",           // squared
    "beta_propensity",      // Chou-Fasman, over the strands
    "turn_propensity",      // Chou-Fasman, outside the strands
    "proline",              // prolines that are new in a strand
    "left_handed",          // residues other than glycine, asparagine and aspartate where phi is positive
    "total",                // a weighted sum of the others
};

using Energies = std::array<double, kEnergyTerms.size()>;

// Rounded to 1e-4, so that every build of this program computes the same data.
Energies energies(const Sequence& sequence, const Domain& domain);

}  // namespace protein_lm
