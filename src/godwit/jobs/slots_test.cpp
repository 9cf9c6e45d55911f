#include "godwit/jobs/slots.h"

#include <doctest/doctest.h>

namespace godwit::jobs {
namespace {

wire::Launch asking(std::uint32_t cpus, std::uint64_t memory_mb = 0, std::uint32_t gpus = 0) {
  wire::Launch job;
  job.cpus = cpus;
  job.memory_mb = memory_mb;
  job.gpus = gpus;
  return job;
}

TEST_CASE("a site takes jobs until one of its resources is used up, and gets all of it back") {
  SiteSlots site({"delta", 3, 4, 1, 1000});
  CHECK(site.refusal(asking(4, 1000, 1)) == "");
  CHECK(site.refusal(asking(5)) == "asks 5 CPUs; site 'delta' has 4");
  CHECK(site.refusal(asking(1, 1001)) == "asks 1001 MB of memory; site 'delta' has 1000");
  CHECK(site.refusal(asking(1, 0, 2)) == "asks 2 GPUs; site 'delta' has 1");
  site.take(asking(1, 700, 1));
  CHECK(site.fits(asking(3, 300)));
  CHECK_FALSE(site.fits(asking(4)));
  CHECK_FALSE(site.fits(asking(1, 301)));
  CHECK_FALSE(site.fits(asking(1, 0, 1)));
  site.take(asking(1));
  site.take(asking(1));
  CHECK(site.full());
  for (const auto& job : {asking(1, 700, 1), asking(1), asking(1)}) site.give_back(job);
  CHECK(site.fits(asking(4, 1000, 1)));
  SiteSlots unlimited({"any", 0, 0, 0, 0});
  for (int i = 0; i < 1000; ++i) unlimited.take(asking(64, 1 << 20));
  CHECK(unlimited.fits(asking(64, 1 << 20)));
}

TEST_CASE("jobs get the GPUs with the fewest users") {
  GpuPool pool;
  pool.provide(3);
  using Devices = std::vector<std::uint32_t>;
  CHECK(pool.take(1) == Devices{0});
  CHECK(pool.take(2) == Devices{1, 2});
  CHECK(pool.take(1) == Devices{0});
  pool.give_back({1});
  CHECK(pool.take(1) == Devices{1});
  CHECK(pool.take(0).empty());
}

}  // namespace
}  // namespace godwit::jobs
