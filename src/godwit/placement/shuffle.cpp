#include "godwit/placement/shuffle.h"

#include <numeric>
#include <utility>

#include "godwit/base/hash.h"

namespace godwit::placement {
namespace {

// What draws are for, so that no two share their numbers.
enum Purpose : std::uint64_t { kRows, kFirstOrder, kOrderStep, kDigit, kShift, kMirror };

// 0, 1, n-1, 2, n-2, …: neighbours differ by every amount once.
std::vector<std::uint32_t> williams_walk(std::uint32_t n) {
  std::vector<std::uint32_t> walk(n);
  for (std::uint32_t p = 0; p < n; ++p) walk[p] = p % 2 == 1 ? (p + 1) / 2 : (n - p / 2) % n;
  return walk;
}

// The digits that name an order with order[0] = 0 (the rows of a square are its rotations, so that fixing one
// element leaves each square one name): one for each of the places 2 … n-2, and one for which of the last two
// values goes to place 1. With an odd n an order and its mirror image belong together, and the last digit says
// which of them it is by the group's parity, not by drawing.
std::vector<std::uint32_t> digit_radices(std::uint32_t n) {
  std::vector<std::uint32_t> radices;
  for (std::uint32_t choices = n - 1; choices >= 3; --choices) radices.push_back(choices);
  if (n % 2 == 0 && n >= 4) radices.push_back(2);
  return radices;
}

std::uint64_t coprime_step(std::uint64_t drawn, std::uint64_t modulus) {
  std::uint64_t step = drawn % modulus;
  while (std::gcd(step, modulus) != 1) step = (step + 1) % modulus;
  return step;
}

}  // namespace

Shuffle::Shuffle(std::uint64_t seed, std::uint32_t sites)
    : seed_(seed), n_(sites), walk_(williams_walk(sites)), radices_(digit_radices(sites)) {
  for (const std::uint32_t radix : radices_) {
    if (orders_ * radix >> 32 != 0) break;  // more orders than runs: the other digits may be drawn freely
    orders_ *= radix;
  }
  enter_group(0);
}

std::uint64_t Shuffle::draw(std::uint64_t purpose, std::uint64_t a, std::uint64_t b) const {
  return FieldHasher().add(seed_).add(purpose).add(a).add(b).digest64();
}

// The order with this number in the block's own sequence of all orders.
std::vector<std::uint32_t> Shuffle::make_order(std::uint32_t block, std::uint32_t number) const {
  const std::uint64_t step = coprime_step(draw(kOrderStep, block, 0), orders_);
  std::uint64_t rank = (draw(kFirstOrder, block, 0) % orders_ + number % orders_ * step) % orders_;
  std::uint64_t enumerated = orders_;

  std::vector<std::uint32_t> left(n_ - 1);
  std::iota(left.begin(), left.end(), 1u);
  std::vector<std::uint32_t> order(n_, 0);
  const auto digit = [&](std::size_t i) -> std::size_t {
    if (enumerated == 1) return draw(kDigit, std::uint64_t{block} << 32 | i, number) % radices_[i];
    const std::uint64_t value = rank % radices_[i];
    rank /= radices_[i];
    enumerated /= radices_[i];
    return value;
  };
  const auto take = [&](std::uint32_t place, std::size_t which) {
    order[place] = left[which];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(which));
  };
  std::size_t used = 0;
  for (std::uint32_t place = 2; place + 2 <= n_; ++place, ++used) take(place, digit(used));
  if (n_ >= 2) take(1, used < radices_.size() ? digit(used) : 0);
  if (n_ >= 3) take(n_ - 1, 0);
  return order;
}

Shuffle::Block Shuffle::make_block(std::uint32_t index) const {
  const bool mirrored = n_ % 2 == 1 && (group_ + draw(kMirror, index, 0)) % 2 == 1;
  const std::vector<std::uint32_t> order = make_order(index, n_ % 2 == 1 ? group_ / 2 : group_);
  Block block;
  block.order.resize(n_);
  block.place.resize(n_);
  for (std::uint32_t i = 0; i < n_; ++i) block.order[i] = order[mirrored ? (n_ - i) % n_ : i];
  for (std::uint32_t i = 0; i < n_; ++i) block.place[block.order[i]] = i;
  if (n_ > 1) block.shift = static_cast<std::uint32_t>(1 + (draw(kShift, index, 0) + group_) % (n_ - 1));
  return block;
}

void Shuffle::enter_group(std::uint32_t group) {
  group_ = group;
  blocks_.clear();
  first_rows_.resize(n_);
  std::iota(first_rows_.begin(), first_rows_.end(), 0u);
  for (std::uint32_t i = n_ - 1; i > 0; --i) std::swap(first_rows_[i], first_rows_[draw(kRows, group, i) % (i + 1)]);
}

// Adds the run's next block.
void Shuffle::extend_path() {
  const auto index = static_cast<std::uint32_t>(path_.size() / n_);
  if (index == blocks_.size()) blocks_.push_back(make_block(index));
  const Block& block = blocks_[index];
  const std::uint32_t row = index == 0 ? first_rows_[run_ % n_] : block.place[(path_.back() + block.shift) % n_];
  for (const std::uint32_t step : walk_) path_.push_back(block.order[(row + step) % n_]);
}

std::uint32_t Shuffle::site_of(std::uint32_t run, std::uint32_t job) {
  if (run != run_) {
    run_ = run;
    path_.clear();
    if (run / n_ != group_) enter_group(run / n_);
  }
  while (path_.size() <= job) extend_path();
  return path_[job];
}

}  // namespace godwit::placement
