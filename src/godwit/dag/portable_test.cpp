#include "godwit/dag/portable.h"

#include <doctest/doctest.h>

#include "godwit/base/error.h"

namespace godwit::dag {
namespace {

std::string portable(std::string_view text) {
  Diagnostics diagnostics;
  const auto description = submit::Description::parse(text, {}, diagnostics);
  diagnostics.throw_if_errors();
  return portable_text(description, "/home/ada/my experiment");
}

TEST_CASE("the experiment's folder is told in a URL's form") {
  CHECK(portable("executable = x\nenvironment = U=file://$(godwit_directory_url)/m\n") ==
        "godwit_directory_url = /home/ada/my%20experiment\n"
        "executable = x\nenvironment = U=file://$(godwit_directory_url)/m\n");
}

TEST_CASE("secrets come from the environment of whoever submits") {
  const std::string names = "+GodwitSecrets = \"KEY, TOKEN\"\n";
  CHECK(portable(names).find("getenv = KEY, TOKEN\n") != std::string::npos);
  CHECK(portable("getenv = LANG\n" + names).find("getenv = LANG, KEY, TOKEN\n") != std::string::npos);
  CHECK(portable("getenv = False\n" + names).find("getenv = KEY, TOKEN\n") != std::string::npos);
  CHECK(portable("getenv = true\n" + names).find("getenv = true\n") != std::string::npos);
  CHECK(portable("getenv = LANG\n").find("getenv = LANG\n") != std::string::npos);
}

TEST_CASE("what HTCondor reads stays, what it does not becomes a number") {
  struct Case {
    const char* key;
    const char* written;
    const char* portable;
  };
  const Case cases[] = {
      {"request_memory", "20000", "20000"},
      {"request_memory", "128GB", "128GB"},
      {"Request_Memory", "1.5 gb", "1.5 gb"},
      {"request_memory", "2GiB", "2048"},
      {"request_memory", "10B", "1"},
      {"request_memory", "$(memory)", "$(memory)"},
      {"request_memory", "MemoryUsage * 2", "MemoryUsage * 2"},
      {"request_disk", "40GB", "40GB"},
      {"request_disk", "1GiB", "1048576"},
      {"allowed_job_duration", "3600", "3600"},
      {"allowed_job_duration", "1h30m", "5400"},
      {"job_max_vacate_time", "2m", "120"},
      {"preserve_relative_paths", "yes", "True"},
      {"preserve_relative_paths", "No", "False"},
      {"preserve_relative_paths", "true", "true"},
      {"log", "90m", "90m"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.written));
    CHECK(portable(std::string(c.key) + " = " + c.written) == std::string(c.key) + " = " + c.portable + "\n");
  }
}

TEST_CASE("the attempt is DAGMan's retry") {
  CHECK(portable("output = $(JOB).$(Godwit_Attempt:1).out\nqueue") ==
        "godwit_attempt = $(RETRY)\noutput = $(JOB).$(Godwit_Attempt:1).out\n");
}

}  // namespace
}  // namespace godwit::dag
