#include "godwit/sites/site.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "godwit/sites/machine.h"
#include "godwit/sites/schema.h"

namespace godwit::sites {
namespace {

Catalogue read_text(const std::string& text) {
  Diagnostics diagnostics;
  const yaml::Node root = yaml::parse(text, "sites.yaml");
  Catalogue catalogue = read(root, "sites.yaml", diagnostics);
  diagnostics.throw_if_errors();
  return catalogue;
}

std::string faults_of(const std::string& text) {
  try {
    read_text(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// A folder that is gone at the end of the test.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/godwit-sites-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }

 private:
  std::string path_;
};

TEST_CASE("a site with everything") {
  const Catalogue catalogue = read_text(R"(delta:
  executor: slurm
  cpus: 16
  mem: 128GB
  disk: 40GB
  gpus: 2
  gpu_type: a100
  gpu_memory: 40GB
  slots: 8
  lifetime: 48h
  queue: gpuA100x4
  allocation: bbbb-delta-gpu
  login_name: user
  login_node: login.delta.example.org
  two_factor_auth: yes
  labels: [gpu, fast]
  setup: |
    module load cuda
    source env/bin/activate
  speed: 1.5
  power: 250
  attributes:
    scratch: /scratch/user
    partition: 007
)");
  REQUIRE(catalogue.sites.size() == 1);
  const Site& site = catalogue.sites[0];
  CHECK(site.name == "delta");
  CHECK(site.position.text() == "sites.yaml:1:1");
  CHECK(site.executor == "slurm");
  CHECK_FALSE(site.runnable());
  CHECK(site.cpus == 16);
  CHECK(site.mem_mb == 131072);
  CHECK(site.disk_kb == 40u << 20);
  CHECK(site.gpus == 2);
  CHECK(site.gpu_memory_mb == 40960);
  CHECK(site.slots == 8);
  CHECK(site.lifetime_s == 172800);
  CHECK(site.two_factor_auth);
  CHECK(site.labels == std::vector<std::string>{"gpu", "fast"});
  CHECK(site.setup == std::vector<std::string>{"module load cuda", "source env/bin/activate"});
  CHECK(site.speed == 1.5);
  CHECK(site.power_w == 250);

  const std::pair<std::string, std::string> braces[] = {
      {"cpus", "16"},
      {"mem_mb", "131072"},
      {"mem", "128GB"},
      {"disk", "40GB"},
      {"gpus", "2"},
      {"gpu_memory", "40960"},
      {"gpu_type", "a100"},
      {"lifetime", "172800"},
      {"name", "delta"},
      {"queue", "gpuA100x4"},
      {"scratch", "/scratch/user"},
      {"partition", "007"},
  };
  for (const auto& [field, text] : braces) {
    CAPTURE(field);
    CHECK(resource_text(site, field) == text);
  }
  CHECK_FALSE(resource_text(site, "nonsense"));
}

TEST_CASE("what a site does not say is left to the defaults") {
  const Site site = read_text("here:\n").sites.at(0);
  CHECK(site.executor == "local");
  CHECK(site.runnable());
  for (const std::string& field : resource_fields()) {
    CAPTURE(field);
    CHECK(resource_text(site, field).has_value() == (field == "name"));
  }
}

TEST_CASE("sizes keep the largest unit that comes out whole") {
  const std::pair<const char*, const char*> cases[] = {
      {"1000", "1000KB"}, {"10GB", "10GB"}, {"1536MB", "1536MB"}, {"2TB", "2048GB"}, {"41943040", "40GB"}};
  for (const auto& [written, text] : cases)
    CHECK(resource_text(read_text(std::string("a: {disk: ") + written + "}").sites[0], "disk") == text);
}

TEST_CASE("sites come as a mapping, under sites, or as a list with names") {
  const Folder folder;
  const std::pair<const char*, const char*> files[] = {
      {"plain.yaml", "a: {cpus: 2}\nb: {cpus: 3}\n"},
      {"wrapped.yaml", "x-base: &base {cpus: 2}\nsites:\n  a: *base\n  b: {<<: *base, cpus: 3}\n"},
      {"list.yaml", "sites:\n  - {name: a, cpus: 2}\n  - {name: b, cpus: 3}\n"},
  };
  for (const auto& [name, text] : files) {
    CAPTURE(name);
    const Catalogue catalogue = load(folder.write(name, text));
    REQUIRE(catalogue.sites.size() == 2);
    CHECK(catalogue.sites[0].name == "a");
    CHECK(catalogue.sites[0].cpus == 2);
    CHECK(catalogue.find("b")->cpus == 3);
    CHECK(catalogue.find("c") == nullptr);
  }
}

TEST_CASE("an allocation, a log-in node or two factors make an annex, unless the executor is given") {
  const std::pair<const char*, const char*> cases[] = {
      {"a: {allocation: abc}", "annex"},
      {"a: {login_node: login.example.org}", "annex"},
      {"a: {two_factor_auth: true}", "annex"},
      {"a: {two_factor_auth: false, cpus: 1}", "local"},
      {"a: {allocation: abc, executor: slurm}", "slurm"},
  };
  for (const auto& [text, executor] : cases) {
    CAPTURE(text);
    CHECK(read_text(text).sites.at(0).executor == executor);
  }
}

TEST_CASE("every fault is said, with its place and what to write") {
  struct Case {
    const char* text;
    std::vector<const char*> said;
  };
  const Case cases[] = {
      {"delta:\n  cpu: 4\n  mem: lots\n",
       {"sites.yaml:2:3: error: site 'delta' has no such key: 'cpu'", "did you mean 'cpus'?",
        "sites.yaml:3:8: error: 'mem' must be an amount of memory: 'lots'"}},
      {"delta: {cpus: 0}", {"sites.yaml:1:15: error: 'cpus' must be a whole number from 1"}},
      {"delta: {executor: slrum}", {"sites.yaml:1:19: error: no such executor: 'slrum'", "did you mean 'slurm'?"}},
      {"delta: {executor: pbs}", {"known: local, annex, htcondor, slurm"}},
      {"delta: {speed: 0}", {"1:16: error: 'speed' must be more than 0"}},
      {"delta: 7", {"1:8: error: site 'delta' must be a mapping"}},
      {"bad name: {cpus: 1}", {"1:1: error: a site's name is made of letters"}},
      {"- {cpus: 1}", {"each site of the list needs a 'name'"}},
      {"- {name: a}\n- {name: a}\n", {"sites.yaml:2:10: error: this site is here twice: 'a'"}},
      {"a: {mem: 1GB, mem_mb: 1024}", {"two names of one thing"}},
      {"a: {attributes: {cpus: 5}}", {"1:18: error: the site itself has a field of this name"}},
      {"a: {attributes: {list: [5]}}", {"1:24: error: 'list' must be text, not a list"}},
      {"{}", {"there is no site here"}},
      {"just text", {"must be a mapping from name to fields"}},
  };
  for (const Case& c : cases) {
    const std::string faults = faults_of(c.text);
    CAPTURE(c.text);
    CAPTURE(faults);
    for (const char* said : c.said) CHECK(faults.find(said) != std::string::npos);
  }
}

TEST_CASE("the schema and the reader know the same keys") {
  const Json schema = file_schema();
  CHECK(schema.contains("$schema"));
  for (const schema::Key& key : site_keys()) {
    const std::string faults = faults_of("a: {" + std::string(key.name) + ": {}}");
    CAPTURE(key.name);
    CHECK(faults.find("no such key") == std::string::npos);
  }
}

TEST_CASE("the built-in site is this machine") {
  const Catalogue catalogue = built_in("local");
  REQUIRE(catalogue.sites.size() == 1);
  CHECK(catalogue.file.empty());
  CHECK(catalogue.sites[0].name == "local");
  CHECK(catalogue.sites[0].runnable());
  CHECK(offer_of(catalogue.sites[0], this_machine()).slots >= 1);
}

TEST_CASE("a local site offers its slots, or what the machine holds") {
  const Machine machine{.cpus = 8, .memory_mb = 16384, .gpus = 1};
  struct Case {
    const char* site;
    Offer offer;
  };
  const Case cases[] = {
      {"a:", {8, 8, 1, 16384}},
      {"a: {cpus: 4}", {2, 8, 1, 16384}},
      {"a: {cpus: 4, mem: 10GB}", {1, 8, 1, 16384}},
      {"a: {cpus: 16}", {1, 8, 1, 16384}},
      {"a: {slots: 3}", {3, 8, 1, 16384}},
      {"a: {slots: 20}", {20, 20, 1, 16384}},
      {"a: {slots: 3, cpus: 2, mem: 4GB, gpus: 1}", {3, 6, 3, 12288}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.site);
    const Offer offer = offer_of(read_text(c.site).sites.at(0), machine);
    CHECK(offer.slots == c.offer.slots);
    CHECK(offer.cpus == c.offer.cpus);
    CHECK(offer.gpus == c.offer.gpus);
    CHECK(offer.memory_mb == c.offer.memory_mb);
  }
}

TEST_CASE("a machine is what its control groups leave of it") {
  const Folder folder;
  folder.write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n");
  const std::string& root = folder.path();

  SUBCASE("without limits") {
    CHECK(this_machine(root).memory_mb == 16384);
    CHECK(this_machine(root).gpus == 0);
  }
  SUBCASE("version 2: the least of the group and all that hold it") {
    folder.write("proc/self/cgroup", "0::/user.slice/job\n");
    folder.write("sys/fs/cgroup/user.slice/memory.max", "4294967296\n");
    folder.write("sys/fs/cgroup/user.slice/job/memory.max", "max\n");
    folder.write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
    folder.write("sys/fs/cgroup/user.slice/job/cpu.max", "50000 100000\n");
    CHECK(this_machine(root).memory_mb == 4096);
    CHECK(this_machine(root).cpus == 1);
  }
  SUBCASE("version 2 in a container, whose path is not below /sys") {
    folder.write("proc/self/cgroup", "0::/../elsewhere\n");
    folder.write("sys/fs/cgroup/memory.max", "2147483648\n");
    CHECK(this_machine(root).memory_mb == 2048);
  }
  SUBCASE("version 1") {
    folder.write("proc/self/cgroup", "5:memory:/batch\n3:cpu,cpuacct:/batch\n");
    folder.write("sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "1073741824\n");
    folder.write("sys/fs/cgroup/cpu/batch/cpu.cfs_quota_us", "-1\n");
    folder.write("sys/fs/cgroup/cpu/batch/cpu.cfs_period_us", "100000\n");
    CHECK(this_machine(root).memory_mb == 1024);
    CHECK(this_machine(root).cpus == this_machine().cpus);
  }
  SUBCASE("device nodes are GPUs") {
    folder.write("dev/nvidia0", "");
    folder.write("dev/nvidia1", "");
    folder.write("dev/nvidiactl", "");
    CHECK(this_machine(root).gpus == 2);
  }
}

}  // namespace
}  // namespace godwit::sites
