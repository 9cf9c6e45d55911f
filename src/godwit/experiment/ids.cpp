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

RunUuids run_uuids(std::span<const Hash128> digests) {
  constexpr int kDigits = 8;
  const auto first_digits = [](const Hash128& digest) { return static_cast<std::uint32_t>(digest.high >> 32); };

  std::vector<std::uint32_t> order(digests.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(digests[a].high, digests[a].low, a) < std::tie(digests[b].high, digests[b].low, b);
  });

  std::vector<std::uint32_t> chosen(digests.size());
  std::unordered_set<std::uint32_t> used(digests.size());
  std::vector<std::uint32_t> again;
  for (const std::uint32_t i : order) {
    chosen[i] = first_digits(digests[i]);
    if (!used.insert(chosen[i]).second) again.push_back(i);
  }
  for (const std::uint32_t i : again) {
    Hash128 digest = digests[i];
    do {
      digest = FieldHasher().add(digest.high).add(digest.low).digest128();
      chosen[i] = first_digits(digest);
    } while (!used.insert(chosen[i]).second);
  }

  RunUuids out;
  out.uuids.reserve(digests.size());
  for (const std::uint32_t value : chosen) out.uuids.push_back(hex(std::uint64_t{value} << 32, kDigits));
  for (std::size_t i = 1; i < order.size(); ++i) out.repeated += digests[order[i]] == digests[order[i - 1]] ? 1 : 0;
  return out;
}

}  // namespace godwit::experiment
