#include "godwit/experiment/ids.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace godwit::experiment {
namespace {

using Values = std::vector<std::pair<std::string_view, std::string_view>>;

const Values kValues{{"alpha", "0.1"}, {"beta", "7"}};

TEST_CASE("a run is the experiment's seed, its values, its replicate and whether it is a baseline") {
  const RunIdentity run = identify("1", kValues, 0, false);
  CHECK(identify("1", kValues, 0, false).digest == run.digest);
  const RunIdentity others[] = {
      identify("2", kValues, 0, false),
      identify("1", kValues, 1, false),
      identify("1", kValues, 0, true),
      identify("1", Values{{"alpha", "0.1"}, {"beta", "8"}}, 0, false),
      identify("1", Values{{"alpha", "0.1b"}, {"eta", "7"}}, 0, false),
      identify("1", Values{{"alpha", "0.1"}}, 0, false),
  };
  for (const RunIdentity& other : others) CHECK_FALSE(other.digest == run.digest);
}

TEST_CASE("a baseline run has its pair's random seed; replicates differ in it") {
  CHECK(identify("1", kValues, 3, true).seed == identify("1", kValues, 3, false).seed);
  CHECK(identify("1", kValues, 0, false).seed != identify("1", kValues, 1, false).seed);
}

TEST_CASE("random seeds are below 2^31") {
  for (std::uint32_t replicate = 0; replicate < 1000; ++replicate)
    CHECK(identify("1", kValues, replicate, false).seed < 1u << 31);
}

// What they give is part of what people keep: folders, journals, file names.
TEST_CASE("ids stay as they are from release to release") {
  const RunIdentity run = identify("1", kValues, 0, false);
  const Hash128 digests[] = {run.digest, identify("1", kValues, 0, true).digest};
  const std::vector<std::string> uuids = run_uuids(digests).uuids;
  CHECK(uuids[0] == "f687252d");
  CHECK(uuids[1] == "5f0171a5");
  CHECK(run.seed == 1273971713u);
}

TEST_CASE("digests with the same first digits get different ones, in whatever order they come") {
  const Hash128 least{0x1234567800000001, 5}, middle{0x1234567800000002, 5}, most{0x1234567800000003, 5},
      apart{0xFFFFFFFF00000000, 5};
  const std::vector<Hash128> digests{middle, apart, least, most};
  const std::vector<std::string> uuids = run_uuids(digests).uuids;
  CHECK(uuids[2] == "12345678");
  CHECK(uuids[1] == "ffffffff");
  CHECK(std::set(uuids.begin(), uuids.end()).size() == 4);

  const std::vector<std::string> backwards = run_uuids(std::vector<Hash128>(digests.rbegin(), digests.rend())).uuids;
  CHECK(std::equal(backwards.rbegin(), backwards.rend(), uuids.begin()));
}

TEST_CASE("equal digests get different digits too, and many runs never share any") {
  const RunUuids equal = run_uuids(std::vector<Hash128>(3, Hash128{7, 7}));
  CHECK(std::set(equal.uuids.begin(), equal.uuids.end()).size() == 3);
  CHECK(equal.repeated == 2);
  std::vector<Hash128> digests;
  for (std::uint32_t replicate = 0; replicate < 200'000; ++replicate)
    digests.push_back(identify("1", {}, replicate, false).digest);
  digests.push_back(digests.front());
  const std::vector<std::string> uuids = run_uuids(digests).uuids;
  CHECK(std::set(uuids.begin(), uuids.end()).size() == uuids.size());
  CHECK(std::all_of(uuids.begin(), uuids.end(), [](const std::string& uuid) { return uuid.size() == 8; }));
}

}  // namespace
}  // namespace godwit::experiment
