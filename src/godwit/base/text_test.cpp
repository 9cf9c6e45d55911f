#include "godwit/base/text.h"

#include <doctest/doctest.h>

using namespace godwit;

TEST_CASE("words of a shell") {
  CHECK(shell_word("runs/a-b_1.txt") == "runs/a-b_1.txt");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("my runs") == "'my runs'");
  CHECK(shell_word("it's; $HOME") == R"('it'\''s; $HOME')");
}

TEST_CASE("trim takes white space from both ends only") {
  CHECK(trim("  a b\t\r\n") == "a b");
  CHECK(trim(" \n ").empty());
  CHECK(trim("").empty());
}

TEST_CASE("split keeps empty parts, split_words does not") {
  CHECK(split("a,,b,", ',') == std::vector<std::string_view>{"a", "", "b", ""});
  CHECK(split("", ',') == std::vector<std::string_view>{""});
  CHECK(split_words("  a \t b\n") == std::vector<std::string_view>{"a", "b"});
  CHECK(split_words(" ").empty());
}

TEST_CASE("case folding is for ASCII") {
  CHECK(lower("ReQuest_É") == "request_É");
  CHECK(equal_ignoring_case("Universe", "UNIVERSE"));
  CHECK_FALSE(equal_ignoring_case("a", "ab"));
}

TEST_CASE("the nearest name is suggested only where it is near") {
  const std::vector<std::string> names{"cpus", "gpus", "mem_mb", "lifetime", "two_factor_auth"};
  CHECK(nearest("cpu", names) == "cpus");
  CHECK(nearest("GPUS", names) == "gpus");
  CHECK(nearest("lifetiem", names) == "lifetime");
  CHECK(nearest("two_factor_authentication", names) == std::nullopt);
  CHECK(nearest("twofactor_auth", names) == "two_factor_auth");
  CHECK(nearest("x", names) == std::nullopt);
  CHECK(nearest("", names) == std::nullopt);
  CHECK(did_you_mean("memmb", names) == "did you mean 'mem_mb'?");
  CHECK(did_you_mean("colour", names).empty());
}

TEST_CASE("bad UTF-8 is found where it begins") {
  CHECK(first_bad_utf8("plain, é, 漢, 😀") == std::nullopt);
  CHECK(first_bad_utf8("ab\xFF") == 2);
  CHECK(first_bad_utf8("a\xC3") == 1);             // cut short
  CHECK(first_bad_utf8("\xC0\x80") == 0);          // overlong
  CHECK(first_bad_utf8("\xE0\x80\x80") == 0);      // overlong
  CHECK(first_bad_utf8("x\xED\xA0\x80") == 1);     // a surrogate
  CHECK(first_bad_utf8("\xF4\x90\x80\x80") == 0);  // beyond U+10FFFF
  CHECK(first_bad_utf8("\xF0\x9F\x98\x80") == std::nullopt);
}
