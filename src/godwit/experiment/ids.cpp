#include "godwit/experiment/ids.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_set>

namespace godwit::experiment {

RunIdentity identify(std::string_view experiment_seed,
                     std::span<const std::pair<std::string_view, std::string_view>> values, std::uint32_t replicate,
                     bool baseline) {
  FieldHasher hasher;
  hasher.add(experiment_seed).add(std::uint64_t{replicate});
  for (const auto& [name, value] : values) hasher.add(name).add(value);
  RunIdentity identity;
  identity.digest = hasher.digest128();
  identity.seed = static_cast<std::uint32_t>(hasher.add("random_seed").digest64() >> 33);
  if (baseline)
    identity.digest = FieldHasher().add(identity.digest.high).add(identity.digest.low).add("baseline").digest128();
  return identity;
}

namespace {

constexpr int kDigits = 8;
// A run whose digits were taken was hashed again at most so often, in any experiment that fits the limits.
constexpr int kMostRehashes = 16;

std::uint32_t first_digits(const Hash128& digest) {
  return static_cast<std::uint32_t>(digest.high >> 32);
}

Hash128 rehash(const Hash128& digest) {
  return FieldHasher().add(digest.high).add(digest.low).digest128();
}

std::string uuid_of(std::uint32_t digits) {
  return hex(std::uint64_t{digits} << 32, kDigits);
}

class UuidGiver {
 public:
  UuidGiver(std::span<const Hash128> digests, const std::function<Holder(std::size_t, const std::string&)>& holder)
      : digests_(digests), holder_(holder), chosen_(digests.size()), given_(digests.size(), false) {
    used_.reserve(digests.size());
  }

  std::vector<std::string> give(const std::vector<std::uint32_t>& order) {
    if (holder_)
      for (const std::uint32_t i : order) give_back(i);
    std::vector<std::uint32_t> again;
    for (const std::uint32_t i : order)
      if (!given_[i] && !take(i, first_digits(digests_[i]))) again.push_back(i);
    for (const std::uint32_t i : again) {
      Hash128 digest = digests_[i];
      do digest = rehash(digest);
      while (!take(i, first_digits(digest)));
    }
    std::vector<std::string> out;
    out.reserve(chosen_.size());
    for (const std::uint32_t digits : chosen_) out.push_back(uuid_of(digits));
    return out;
  }

 private:
  bool take(std::uint32_t run, std::uint32_t digits) {
    if (holder_ && holder_(run, uuid_of(digits)) == Holder::another_run) return false;
    if (!used_.insert(digits).second) return false;
    chosen_[run] = digits;
    given_[run] = true;
    return true;
  }

  // What the run had before.
  void give_back(std::uint32_t run) {
    Hash128 digest = digests_[run];
    for (int hashes = 0; hashes <= kMostRehashes; ++hashes, digest = rehash(digest))
      if (holder_(run, uuid_of(first_digits(digest))) == Holder::this_run && take(run, first_digits(digest))) return;
  }

  std::span<const Hash128> digests_;
  const std::function<Holder(std::size_t, const std::string&)>& holder_;
  std::vector<std::uint32_t> chosen_;
  std::vector<bool> given_;
  std::unordered_set<std::uint32_t> used_;
};

}  // namespace

RunUuids run_uuids(std::span<const Hash128> digests,
                   const std::function<Holder(std::size_t, const std::string&)>& holder) {
  std::vector<std::uint32_t> order(digests.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(digests[a].high, digests[a].low, a) < std::tie(digests[b].high, digests[b].low, b);
  });
  RunUuids out;
  out.uuids = UuidGiver(digests, holder).give(order);
  for (std::size_t i = 1; i < order.size(); ++i) out.repeated += digests[order[i]] == digests[order[i - 1]] ? 1 : 0;
  return out;
}

}  // namespace godwit::experiment
