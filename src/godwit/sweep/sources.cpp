#include "godwit/sweep/sources.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "godwit/base/hash.h"

namespace godwit::sweep {
namespace {

class Texts final : public Source {
 public:
  explicit Texts(std::vector<std::string> texts) : texts_(std::move(texts)) {}
  std::uint64_t count() const override { return texts_.size(); }
  std::string text(std::uint64_t index) const override { return texts_[index]; }

 private:
  std::vector<std::string> texts_;
};

// Any values that are a function of their index.
template <typename TextOf>
class Computed final : public Source {
 public:
  Computed(std::uint64_t count, TextOf text_of) : count_(count), text_of_(std::move(text_of)) {}
  std::uint64_t count() const override { return count_; }
  std::string text(std::uint64_t index) const override { return text_of_(index); }

 private:
  std::uint64_t count_;
  TextOf text_of_;
};

template <typename TextOf>
std::shared_ptr<const Source> computed(std::uint64_t count, TextOf text_of) {
  return std::make_shared<Computed<TextOf>>(count, std::move(text_of));
}

// Random bits by counter: the draw's index and how many were taken for it before.
std::uint64_t bits(const Random& random, std::uint64_t index, std::uint64_t step) {
  return FieldHasher().add(random.key).add(index).add(step).digest64();
}

// In [0, 1), every multiple of 2^-53 as likely as any other.
double unit(const Random& random, std::uint64_t index, std::uint64_t step) {
  return static_cast<double>(bits(random, index, step) >> 11) * 0x1p-53;
}

// Without bias: bits beyond the largest multiple of the number of outcomes are drawn again.
std::int64_t integer(const Random& random, std::uint64_t index) {
  const std::uint64_t outcomes = static_cast<std::uint64_t>(random.most) - static_cast<std::uint64_t>(random.least) + 1;
  std::uint64_t drawn = bits(random, index, 0);
  if (outcomes != 0) {                                        // 0 stands for 2^64
    const std::uint64_t surplus = (0 - outcomes) % outcomes;  // 2^64 mod outcomes
    for (std::uint64_t step = 1; drawn < surplus; ++step) drawn = bits(random, index, step);
    drawn %= outcomes;
  }
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(random.least) + drawn);
}

// Box and Muller, "A Note on the Generation of Random Normal Deviates" (1958).
double normal(const Random& random, std::uint64_t index) {
  const double radius = std::sqrt(-2 * std::log(1 - unit(random, index, 0)));
  return random.mean + random.deviation * radius * std::cos(2 * std::numbers::pi * unit(random, index, 1));
}

const std::string& choice(const Random& random, std::uint64_t index) {
  const double drawn = unit(random, index, 0) * random.cumulative.back();
  const auto found = std::upper_bound(random.cumulative.begin(), random.cumulative.end(), drawn);
  const auto chosen = std::min<std::ptrdiff_t>(found - random.cumulative.begin(), std::ssize(random.choices) - 1);
  return random.choices[static_cast<std::size_t>(chosen)];
}

std::string draw(const Random& random, std::uint64_t index) {
  const auto shown = [&](double value) { return Decimal::rounded(value, random.digits).text(); };
  switch (random.distribution) {
    case Distribution::uniform:
      // Weighted, since high - low may be more than the largest double.
      return shown(std::lerp(random.low, random.high, unit(random, index, 0)));
    case Distribution::log_uniform: {
      const double value = std::exp(std::lerp(std::log(random.low), std::log(random.high), unit(random, index, 0)));
      return shown(std::clamp(value, random.low, random.high));
    }
    case Distribution::integer:
      return std::to_string(integer(random, index));
    case Distribution::normal:
      return shown(normal(random, index));
    case Distribution::choice:
      return choice(random, index);
  }
  return {};
}

}  // namespace

std::shared_ptr<const Source> texts_source(std::vector<std::string> texts) {
  return std::make_shared<Texts>(std::move(texts));
}

std::shared_ptr<const Source> range_source(const DecimalRange& range) {
  return computed(range.count(), [range](std::uint64_t i) { return range[i].text(); });
}

Decimal Linspace::at(std::uint64_t index) const {
  const std::uint64_t steps = endpoint ? num - 1 : num;
  if (index == 0) return start;
  if (index == steps) return stop;
  const Decimal way = stop - start;
  return (start * Decimal(static_cast<std::int64_t>(steps)) + way * Decimal(static_cast<std::int64_t>(index)))
      .divided_by(static_cast<std::int64_t>(steps));
}

std::shared_ptr<const Source> linspace_source(const Linspace& values) {
  return computed(values.num, [values](std::uint64_t i) { return values.at(i).text(); });
}

std::shared_ptr<const Source> logspace_source(const Linspace& exponents, Decimal base) {
  return computed(exponents.num, [exponents, base](std::uint64_t i) {
    const Decimal exponent = exponents.at(i);
    const std::optional<std::int64_t> whole = exponent.integer();
    if (base == Decimal(10) && whole && std::abs(*whole) <= Decimal::kMostExponent)
      return Decimal(1, static_cast<int>(*whole)).text();
    return Decimal::rounded(std::pow(base.value(), exponent.value())).text();
  });
}

std::shared_ptr<const Source> random_source(Random random) {
  const std::uint64_t count = random.count;
  return computed(count, [random = std::move(random)](std::uint64_t i) { return draw(random, i); });
}

}  // namespace godwit::sweep
