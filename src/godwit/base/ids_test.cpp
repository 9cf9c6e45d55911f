#include "godwit/base/ids.h"

#include <doctest/doctest.h>

#include <set>

TEST_CASE("new uuids are version 4 and differ") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string uuid = godwit::new_uuid();
    REQUIRE(uuid.size() == 32);
    CHECK(uuid[12] == '4');
    CHECK(std::string("89ab").find(uuid[16]) != std::string::npos);
    CHECK(seen.insert(uuid).second);
  }
}
