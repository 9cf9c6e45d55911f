#include "godwit/journal/state_dir.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "godwit/base/error.h"
#include "godwit/base/file.h"
#include "godwit/store/atomic_file.h"
#include "godwit/store/test_folder.h"

namespace fs = std::filesystem;

namespace godwit::journal {
namespace {

using store::TestFolder;

TEST_CASE("the state is beside the experiment's file, by an absolute path") {
  const TestFolder folder;
  const std::string expected = folder / ".godwit";
  CHECK(StateDir::beside(folder / "experiment.yaml").path() == expected);
  CHECK(StateDir::beside(folder.path()).path() == expected);
  CHECK(StateDir::beside(folder / "").path() == expected);
  CHECK(StateDir::beside(folder / "sub/../experiment.yaml").path() == expected);
  CHECK(StateDir::beside(folder / "experiment.yaml").folder() == folder.path());
  CHECK(StateDir::beside("experiment.yaml").path() == (fs::current_path() / ".godwit").string());
  CHECK(StateDir::beside("").path() == (fs::current_path() / ".godwit").string());
}

TEST_CASE("making the state's folders, again too") {
  const TestFolder folder;
  const StateDir state = StateDir::beside(folder / "experiment.yaml");
  CHECK_FALSE(state.has_journal());
  for (int i = 0; i < 2; ++i) {
    state.create();
    CHECK(fs::is_directory(state.inbox()));
    CHECK(fs::is_directory(state.sandboxes()));
    CHECK(read_file(state.path() + "/.gitignore") == "*\n");
  }
  store::write_file(folder / "file", "");
  CHECK_THROWS_AS(StateDir::beside(folder / "file/experiment.yaml").create(), SystemError);
}

TEST_CASE("requests come out in the order in which they were dropped, once") {
  const TestFolder folder;
  const StateDir state = StateDir::beside(folder.path());
  for (int i = 0; i < 20; ++i) drop_request(state, {{"what", "retry"}, {"nodes", {"n" + std::to_string(i)}}});
  drop_request(state, {{"what", "stop"}});
  std::vector<Json> taken;
  const auto take = [&] {
    take_requests(state, [&](const Requests& found) {
      taken.insert(taken.end(), found.requests.begin(), found.requests.end());
      return true;
    });
  };
  take();
  take();
  REQUIRE(taken.size() == 21);
  for (std::size_t i = 0; i < 20; ++i) CHECK(taken[i]["nodes"][0] == "n" + std::to_string(i));
  CHECK(taken[20]["what"] == "stop");
}

TEST_CASE("what was not recorded stays") {
  const TestFolder folder;
  const StateDir state = StateDir::beside(folder.path());
  drop_request(state, {{"what", "stop_now"}});
  std::size_t handed_over = 0;
  take_requests(state, [&](const Requests& found) {
    handed_over += found.requests.size();
    return false;
  });
  CHECK_THROWS(take_requests(state, [](const Requests&) -> bool { throw Error("died"); }));
  take_requests(state, [&](const Requests& found) {
    handed_over += found.requests.size();
    return true;
  });
  CHECK(handed_over == 2);
}

TEST_CASE("no inbox: nothing is waiting") {
  const TestFolder folder;
  take_requests(StateDir::beside(folder.path()), [](const Requests&) -> bool {
    FAIL("called for nothing");
    return true;
  });
}

TEST_CASE("what is no request cannot be dropped, and is rejected where it lies in the inbox") {
  for (const char* text : {"", "{", "[]", "null", "{}", R"({"what":1})", R"({"what":"explode"})", R"({"what":"retry"})",
                           R"({"what":"retry","nodes":"a"})", R"({"what":"retry","nodes":[1]})"}) {
    CAPTURE(text);
    const TestFolder folder;
    const StateDir state = StateDir::beside(folder.path());
    state.create();
    const Json json = Json::parse(text, nullptr, false);
    CHECK_THROWS_AS(drop_request(state, json), InputError);
    store::write_file(state.inbox() + "/1.json", text);
    store::write_file(state.inbox() + "/unrelated.txt", text);
    std::size_t rejected = 0;
    take_requests(state, [&](const Requests& found) {
      CHECK(found.requests.empty());
      rejected = found.rejected.size();
      return true;
    });
    CHECK(rejected == 1);
    CHECK_FALSE(fs::exists(state.inbox() + "/1.json"));
    CHECK(fs::exists(state.inbox() + "/unrelated.txt"));
  }
}

}  // namespace
}  // namespace godwit::journal
