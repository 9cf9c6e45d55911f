#include "godwit/jobs/metrics_follower.h"

#include <doctest/doctest.h>

#include <vector>

#include "godwit/store/atomic_file.h"
#include "godwit/store/test_folder.h"

namespace godwit::jobs {
namespace {

using Texts = std::vector<std::string>;

// A job's table, written anew at will.
struct Table {
  explicit Table(std::int64_t first_epoch) {
    spec.metrics_file = "metrics.csv";
    spec.metrics_table = true;
    spec.metrics_first_epoch = first_epoch;
    follower = follow_metrics(folder.path(), spec);
  }

  Texts read(const std::string& text, bool last = false) {
    store::write_file(folder / "metrics.csv", text, store::Durability::process);
    return again(last);
  }
  Texts again(bool last = false) {
    Texts lines;
    follower->read([&](std::string_view line,
                       std::uint64_t offset) { lines.push_back(std::to_string(offset) + " " + std::string(line)); },
                   last);
    return lines;
  }

  store::TestFolder folder;
  JobSpec spec;
  std::unique_ptr<MetricsFollower> follower;
};

TEST_CASE("a table's epochs are given once the next has begun, and count from 1") {
  Table table(0);
  CHECK(table.again().empty());
  CHECK(table.read("epoch,step,loss\n0,9,0.5\n").empty());
  CHECK(table.read("epoch,step,loss\n0,9,0.5\n1,19,0.25\n") == Texts{R"(1 {"epoch":1,"step":9,"loss":0.5})"});
  CHECK(table.again().empty());
  CHECK(table.again(true) == Texts{R"(2 {"epoch":2,"step":19,"loss":0.25})"});
  CHECK(table.again(true).empty());
  CHECK(table.follower->lines() == 2);
}

TEST_CASE("rows of an epoch are one line, as loggers that write training and validation apart need it") {
  Table table(0);
  CHECK(table.read("step,val_loss,epoch,train_loss\n15,0.5,0,\n15,,0,0.75\n31,nan,1,\n31,,1,inf\n", true) ==
        Texts{R"(1 {"epoch":1,"step":15,"val_loss":0.5,"train_loss":0.75})",
              R"(2 {"epoch":2,"step":31,"val_loss":"NaN","train_loss":"Infinity"})"});
}

TEST_CASE("an epoch that the job was cut off in is left to the attempt that goes on") {
  Table table(1);
  CHECK(table.read("epoch,val,train\n4,1,2\n5,1,\n", true) == Texts{R"(4 {"epoch":4,"val":1,"train":2})"});
}

TEST_CASE("a file that is rewritten with fewer epochs gives none twice") {
  Table table(1);
  CHECK(table.read("epoch,a\n1,1\n2,2\n3,3\n").size() == 2);
  CHECK(table.read("epoch,a\n3,3\n").empty());
  CHECK(table.read("epoch,a,b\n3,3,7\n4,4,8\n") == Texts{R"(3 {"epoch":3,"a":3,"b":7})"});
}

TEST_CASE("what is no table yet is looked at again") {
  Table table(1);
  for (const char* text :
       {"", "epoch,a", "epoch,a\n1", "epoch,a\n1,\"", "step,a\n1,2\n", "epoch,a\nx,1\n-1,2\n0,3\n"}) {
    CAPTURE(text);
    CHECK(table.read(text, true).empty());
  }
  CHECK(table.read("epoch,a\n1,1\n", true) == Texts{R"(1 {"epoch":1,"a":1})"});
}

}  // namespace
}  // namespace godwit::jobs
