#include "godwit/jobs/metrics_follower.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <optional>
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
  // What is wrong with it, where it is all that the job leaves.
  std::string trouble(const std::string& text) {
    CHECK(read(text, true).empty());
    return follower->trouble();
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

TEST_CASE("a table that says nothing: why") {
  Table table(0);
  CHECK(table.again(true).empty());
  CHECK(table.follower->trouble() == "it left no metrics.csv");
  CHECK(table.trouble("") == "its metrics.csv is no CSV table: the table is empty (line 1)");
  CHECK(table.trouble("step,loss\n1,2\n") == "its metrics.csv has no column 'epoch'; its columns are step, loss");
  CHECK(table.trouble("epoch,loss\n") == "its metrics.csv has no rows");
  CHECK(table.trouble("epoch,loss\n-1,2\nx,2\n") ==
        "no row of its metrics.csv has a whole number from 0 on under 'epoch'");
  CHECK(table.trouble("epoch,loss\n\xff\xfe\x00,2\n") == "its metrics.csv is no CSV table: this is not UTF-8 (line 2)");
  CHECK(table.trouble("epoch,loss\n1,2,3\n") ==
        "its metrics.csv is no CSV table: this row has 3 values, the table has 2 columns (line 2)");
  CHECK(table.read("epoch,loss\n0,2\n", true).size() == 1);
  CHECK(table.follower->trouble().empty());
}

TEST_CASE("lines that say nothing: why") {
  const store::TestFolder folder;
  JobSpec spec;
  spec.metrics_file = "m.jsonl";
  const auto trouble = [&](std::optional<std::string> text) {
    if (text) store::write_file(folder / "m.jsonl", *text, store::Durability::process);
    const auto follower = follow_metrics(folder.path(), spec);
    follower->read([](std::string_view, std::uint64_t) {}, true);
    return follower->trouble();
  };
  CHECK(trouble(std::nullopt).empty());
  CHECK(trouble("").empty());
  CHECK(trouble("epoch 1: loss 2\n") == "no line of its m.jsonl is a JSON object");
  CHECK(trouble(std::string("\x80\x02}q\0", 5)) == "its m.jsonl holds no lines");
  CHECK(trouble("{\"epoch\":1}\nshutting down\n").empty());
  spec.outputs.push_back({"m.jsonl", "runs/m.jsonl", false});
  CHECK(trouble("") == "its m.jsonl is empty");
  std::filesystem::remove(folder / "m.jsonl");
  CHECK(trouble(std::nullopt) == "it left no m.jsonl");
}

}  // namespace
}  // namespace godwit::jobs
