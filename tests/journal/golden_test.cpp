// Journals that earlier releases wrote stay readable. format<n>.db was written by the release that made format n, and
// format<n>.txt is what it says, a line per event; neither is ever written again.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "godwit/base/file.h"
#include "godwit/journal/journal.h"
#include "godwit/journal/stitch.h"
#include "godwit/journal/view.h"
#include "godwit/store/atomic_file.h"
#include "godwit/store/test_folder.h"

namespace godwit::journal {
namespace {

std::string told_by(Reader& reader) {
  std::string out;
  reader.replay(0, [&](const Event& e) {
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", e.seq, e.time, to_string(e.kind), e.node, e.attempt, e.json);
  });
  return out;
}

TEST_CASE("a journal of format 1") {
  const store::TestFolder folder;
  const std::string path = folder / "journal.db";
  store::copy_file("format1.db", path);
  const auto reader = Reader::open(path);
  CHECK(told_by(*reader) == read_file("format1.txt"));

  View view;
  view.update(*reader);
  CHECK(view.dag().name == "golden");
  CHECK(view.runs().size() == 2);
  CHECK(view.counts()[NodeState::done] == 2);
  CHECK(view.counts()[NodeState::failed] == 1);
  CHECK(view.counts()[NodeState::futile] == 1);
  CHECK(view.counts()[NodeState::ready] == 1);
  const std::vector<EpochMetrics> epochs = stitch(view, 0);
  REQUIRE(epochs.size() == 3);
  CHECK(epochs[2].metrics["val_loss"] == 0.7);

  SUBCASE("goes on being written") {
    const std::int64_t last = view.last_seq();
    const auto journal = Journal::open(path);
    journal->append({0, 1, Kind::unpaused, "", 0, "{}"});
    REQUIRE(journal->commit());
    CHECK(view.update(*reader) == 1);
    CHECK(view.last_seq() == last + 1);
  }
}

}  // namespace
}  // namespace godwit::journal
