#include "godwit/jobs/attempt.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace godwit::jobs {
namespace {

TEST_CASE("names of phases and outcomes are read back, and all differ") {
  for (int i = 0; i <= static_cast<int>(Phase::service); ++i)
    CHECK(phase_from(to_string(static_cast<Phase>(i))) == static_cast<Phase>(i));
  std::set<std::string_view> states;
  for (int i = 0; i <= static_cast<int>(JobState::canceled); ++i) states.insert(to_string(static_cast<JobState>(i)));
  CHECK(states.size() == static_cast<int>(JobState::canceled) + 1);
  for (int i = 0; i <= static_cast<int>(Outcome::canceled); ++i)
    CHECK(outcome_from(to_string(static_cast<Outcome>(i))) == static_cast<Outcome>(i));
  CHECK(to_string(Outcome::disk_full) == "disk_full");
  CHECK_FALSE(outcome_from("unknown"));
  CHECK_FALSE(phase_from(""));
}

TEST_CASE("keys become file names that are legal, readable and different") {
  const auto name = [](const std::string& node, std::uint32_t attempt = 1, Phase phase = Phase::job) {
    return AttemptKey{"u", node, attempt, phase}.file_name();
  };
  CHECK(name("run0-train_epoch3", 2, Phase::post) == "run0-train_epoch3.2.post");
  CHECK(name("outer+inner") == "outer+inner.1.job");
  CHECK(name("a/b") == "a%2Fb.1.job");
  CHECK(name("..") == "%2E..1.job");
  CHECK(name("a b%") == "a%20b%25.1.job");
  CHECK(name("größe") == "gr%C3%B6%C3%9Fe.1.job");
  const std::string long_one(400, 'x');
  CHECK(name(long_one).size() < 230);
  CHECK(name(long_one) != name(long_one + "x"));
  CHECK(AttemptKey{"0a", "n", 3, Phase::pre}.text() == "0a/n.3.pre");
}

}  // namespace
}  // namespace godwit::jobs
