// The sources of values behind the variable types.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "godwit/base/decimal.h"
#include "godwit/sweep/variable.h"

namespace godwit::sweep {

// Values as they are written.
std::shared_ptr<const Source> texts_source(std::vector<std::string> texts);

// The DecimalRange's values; text() throws DecimalOverflow where one needs too many digits.
std::shared_ptr<const Source> range_source(const DecimalRange& range);

// `num` ≥ 1 values evenly apart from start to stop, which is the last one with `endpoint`. Exact where 15 significant
// digits suffice, otherwise rounded to them. text() throws DecimalOverflow.
struct Linspace {
  Decimal start, stop;
  std::uint64_t num = 1;
  bool endpoint = true;
  Decimal at(std::uint64_t index) const;
};
std::shared_ptr<const Source> linspace_source(const Linspace& values);
// base to the power of those values, with 15 significant digits; whole powers of ten are exact.
std::shared_ptr<const Source> logspace_source(const Linspace& exponents, Decimal base);

enum class Distribution : std::uint8_t { uniform, log_uniform, integer, normal, choice };

// Draws of a random variable. A draw is a function of `key` (the experiment's seed and the variable's name), its index
// and the parameters alone: the i-th value stays when `count` grows.
struct Random {
  Distribution distribution = Distribution::uniform;
  std::uint64_t key = 0;
  std::uint64_t count = 1;
  double low = 0, high = 1;          // uniform, log_uniform: low < high
  std::int64_t least = 0, most = 0;  // integer: both possible
  double mean = 0, deviation = 1;    // normal
  std::vector<std::string> choices;  // choice
  std::vector<double> cumulative;    // of their weights; the last is the sum
  int digits = 15;                   // significant ones of the text
};
std::shared_ptr<const Source> random_source(Random random);

}  // namespace godwit::sweep
