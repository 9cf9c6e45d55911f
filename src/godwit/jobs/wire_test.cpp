#include "godwit/jobs/wire.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <limits>
#include <string>

#include "godwit/store/file_descriptor.h"

namespace godwit::jobs::wire {
namespace {

Launch example() {
  Launch launch;
  launch.key = "k";
  launch.site = "here";
  launch.program = std::string("a\0b", 3);
  launch.arguments = {"", "x", std::string(300, 'y')};
  launch.environment = {"A=1"};
  launch.slotted = false;
  launch.memory_mb = std::numeric_limits<std::uint64_t>::max();
  launch.time_limit_s = std::numeric_limits<std::int64_t>::min();
  launch.grace_s = -1;
  return launch;
}

TEST_CASE("what is encoded is decoded, extremes too") {
  const Launch launch = decode<Launch>(encode(example()));
  CHECK(launch.program == example().program);
  CHECK(launch.arguments == example().arguments);
  CHECK_FALSE(launch.slotted);
  CHECK(launch.inherit_environment);
  CHECK(launch.memory_mb == example().memory_mb);
  CHECK(launch.time_limit_s == example().time_limit_s);
  CHECK(launch.grace_s == -1);
  CHECK(decode<Answer>(encode(Answer{{true, false, true}})).known == std::vector<bool>{true, false, true});
  Exited exited{"k", {}};
  exited.exit.cause = Cause::time_limit;
  exited.exit.status = 0x8b;
  exited.exit.ended = 1'800'000'000'000'000;
  const Exited back = decode<Exited>(encode(exited));
  CHECK(back.exit.cause == Cause::time_limit);
  CHECK(back.exit.status == 0x8b);
  CHECK(back.exit.ended == exited.exit.ended);
}

TEST_CASE("bytes that are no message are refused, never read past") {
  const std::string good = encode(example());
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK_THROWS_AS(decode<Launch>(std::string_view(good).substr(0, size)), WireError);
  CHECK_THROWS_AS(decode<Launch>(good + "x"), WireError);
  CHECK_THROWS_AS(decode<Keys>("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), WireError);  // a list of 2^64 - 1
  CHECK_THROWS_AS(decode<Keys>("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), WireError);
}

TEST_CASE("frames cross a socket in any pieces; what is too large is refused") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
  store::FileDescriptor left(ends[0]);
  const store::FileDescriptor right(ends[1]);
  Channel from(left.get());
  Channel to(right.get());
  constexpr int kMessages = 3000;  // more than the socket's buffer takes at once
  for (int i = 0; i < kMessages; ++i) from.send(Type::launch, example());
  int received = 0;
  while (received < kMessages) {
    REQUIRE(from.flush());
    REQUIRE(to.receive());
    while (const auto frame = to.next()) {
      REQUIRE(frame->type == Type::launch);
      REQUIRE(frame->body == encode(example()));
      ++received;
    }
  }
  CHECK_FALSE(from.wants_to_write());
  const std::string huge = "\xff\xff\xff\xff\x01";
  REQUIRE(::send(left.get(), huge.data(), huge.size(), 0) == 5);
  CHECK(to.receive());
  CHECK_THROWS_AS(to.next(), WireError);
  left = store::FileDescriptor();
  CHECK_FALSE(to.receive());
  to.send(Type::launch, example());
  CHECK_FALSE(to.flush());
}

}  // namespace
}  // namespace godwit::jobs::wire
