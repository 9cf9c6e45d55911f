#include "godwit/experiment/secrets.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "godwit/store/atomic_file.h"
#include "godwit/store/test_folder.h"

namespace godwit::experiment {
namespace {

// A home with a secrets file, while it lives.
class Home {
 public:
  Home() {
    ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
    std::filesystem::create_directories(folder_ / "godwit");
  }
  ~Home() { ::unsetenv("XDG_CONFIG_HOME"); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  void write(const std::string& text, mode_t mode = 0600) const {
    store::write_file(file(), text);
    ::chmod(file().c_str(), mode);
  }
  std::string file() const { return folder_ / "godwit/secrets"; }

 private:
  store::TestFolder folder_;
};

ExperimentSpec wants(std::initializer_list<const char*> names) {
  ExperimentSpec spec;
  for (const char* name : names) spec.secrets.push_back({name, {"experiment.yaml", 3, 10}});
  return spec;
}

std::string message_of(const ExperimentSpec& spec) {
  try {
    find_secrets(spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

TEST_CASE("secrets come from the environment, or else from the person's own file") {
  const Home home;
  home.write("# mine\n\nGODWIT_TEST_A=from file\nGODWIT_TEST_B = \"quoted value\"\nGODWIT_TEST_C='a=b'\n");
  ::setenv("GODWIT_TEST_A", "from environment", 1);
  CHECK(find_secrets(wants({"GODWIT_TEST_C", "GODWIT_TEST_A", "GODWIT_TEST_B"})) ==
        Secrets{{"GODWIT_TEST_C", "a=b"}, {"GODWIT_TEST_A", "from environment"}, {"GODWIT_TEST_B", "quoted value"}});
  ::unsetenv("GODWIT_TEST_A");
  CHECK(find_secrets(wants({"GODWIT_TEST_A"})) == Secrets{{"GODWIT_TEST_A", "from file"}});
}

TEST_CASE("all that are missing are named, with their place") {
  const Home home;
  const std::string message = message_of(wants({"GODWIT_TEST_X", "GODWIT_TEST_Y"}));
  CHECK(message.find("experiment.yaml:3:10: error: this secret has no value: 'GODWIT_TEST_X'") != std::string::npos);
  CHECK(message.find("'GODWIT_TEST_Y'") != std::string::npos);
  CHECK(message.find(home.file()) != std::string::npos);
}

TEST_CASE("a file that others may read is refused, where its secrets are wanted") {
  const Home home;
  for (const mode_t mode : {0644u, 0640u, 0660u, 0601u}) {
    home.write("GODWIT_TEST_A=hush\n", mode);
    const std::string message = message_of(wants({"GODWIT_TEST_A"}));
    CHECK(message.find("may be read by others") != std::string::npos);
    CHECK(message.find("chmod 600 " + home.file()) != std::string::npos);
    CHECK(message.find("hush") == std::string::npos);
    CHECK(message_of(wants({})) == "(no error)");
  }
}

TEST_CASE("a malformed file is explained by its lines, without their content") {
  for (const char* text : {"GODWIT_TEST_A hush\n", "export GODWIT_TEST_A=hush\n", "1A=hush\n", "hush\n", "=hush\n",
                           "GODWIT_TEST_A=hush\nGODWIT_TEST_A=hush\n"}) {
    CAPTURE(text);
    std::string message;
    try {
      read_secrets(text, "secrets");
    } catch (const InputError& error) {
      message = error.what();
    }
    CHECK(message.starts_with("secrets:"));
    CHECK(message.find("hush") == std::string::npos);
  }
}

}  // namespace
}  // namespace godwit::experiment
