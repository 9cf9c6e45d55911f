// The names and seeds of training runs. They are hashes of what a run is (the experiment's seed, the run's values, its
// replicate), never of where it stands, so that an edited experiment recognises the runs it already has.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "godwit/base/hash.h"

namespace godwit::experiment {

struct RunIdentity {
  Hash128 digest;          // what run_uuid is made from
  std::uint32_t seed = 0;  // random_seed, below 2^31
};

// `values` are name and value, sorted by name. A baseline run has its pair's seed and a digest of its own.
RunIdentity identify(std::string_view experiment_seed,
                     std::span<const std::pair<std::string_view, std::string_view>> values, std::uint32_t replicate,
                     bool baseline);

struct RunUuids {
  std::vector<std::string> uuids;
  std::size_t repeated = 0;  // digests that were there before
};

// Who had a uuid when the experiment was planned before.
enum class Holder : std::uint8_t { nobody, this_run, another_run };

// 8 hex digits for each digest, all different. Of digests with the same 8 digits the least keeps them, whatever the
// order of `digests`; the others are hashed again until theirs are free. Equal digests get different digits too.
// `holder`, where there is one, tells for the run of digests[index] who had the uuid before: runs keep what they had,
// and take nothing that another had.
RunUuids run_uuids(std::span<const Hash128> digests,
                   const std::function<Holder(std::size_t index, const std::string& uuid)>& holder = {});

}  // namespace godwit::experiment
