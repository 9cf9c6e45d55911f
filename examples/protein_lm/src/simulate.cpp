#include <fmt/format.h>

#include "godwit/store/atomic_file.h"
#include "options.h"

namespace protein_lm {

int simulate_command(const SimulateOptions& options) {
  const Domain& domain = grb2_sh3();
  const Simulated data = simulate(domain, options.variants, options.seed);
  godwit::store::write_file(options.out, simulated_text(data, domain));
  fmt::print("{}: {} variants of GRB2-SH3, {} coarse-grained energies each\n", options.out, data.variants.size(),
             kEnergyTerms.size());
  if (!options.measurements.empty()) {
    const Measured measured = generated_measurements(domain);
    godwit::store::write_file(options.measurements, measured_text(measured, domain));
    fmt::print("{}: {} scores, {}\n", options.measurements, measured.scores.size(), measured.source);
  }
  return kSuccess;
}

}  // namespace protein_lm
