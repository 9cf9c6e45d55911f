#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "godwit/base/text.h"

#include "godwit/submit/description.h"

namespace godwit::submit {
namespace {

// So that a failure shows both sides.
std::string joined(const std::vector<std::string>& lines) {
  return join(lines, "\n");
}

using Vars = std::map<std::string, std::string>;
using Strings = std::vector<std::string>;

Lookup lookup(const Vars& vars) {
  return [&vars](std::string_view name) -> std::optional<std::string> {
    const auto found = vars.find(std::string(name));
    if (found == vars.end()) return std::nullopt;
    return found->second;
  };
}

Description read(std::string_view text) {
  Diagnostics diagnostics;
  Description description = Description::parse(text, {"job.sub", 1, 1}, diagnostics);
  diagnostics.throw_if_errors();
  return description;
}

const ResolveContext kContext{"/home/me/experiment", "run0-train_epoch1", 3, 4711};

// Lines after an executable.
jobs::JobSpec job(std::string_view text, const Vars& vars = {}) {
  return resolve(read("executable = train\n" + std::string(text)), lookup(vars), kContext);
}

Strings faults(std::string_view text, const Vars& vars = {}) {
  Strings out;
  try {
    resolve(read(text), lookup(vars), kContext);
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics())
      out.push_back(d.position.text() + ' ' + d.message + (d.text.empty() ? "" : ": " + d.text));
  }
  return out;
}

Strings inputs(const jobs::JobSpec& spec) {
  Strings out;
  for (const auto& input : spec.inputs)
    out.push_back(input.source + (input.contents_only ? "/*" : "") + " -> " + input.name);
  return out;
}

Strings outputs(const jobs::JobSpec& spec) {
  Strings out;
  for (const auto& output : spec.outputs)
    out.push_back(output.name + " -> " + output.target + (output.required ? "" : "?"));
  return out;
}

TEST_CASE("what is not said has its default") {
  const jobs::JobSpec spec = job("");
  CHECK(spec.name == "run0-train_epoch1");
  CHECK(spec.directory == "/home/me/experiment");
  CHECK(spec.executable == "train");
  CHECK(spec.sandbox);
  CHECK(spec.transfer_executable);
  CHECK(spec.inherit_environment);
  CHECK(spec.arguments.empty());
  CHECK(spec.stdout_path.empty());
  CHECK(spec.resources.cpus == 1);
  CHECK(spec.resources.memory_mb == 0);
  CHECK(spec.checkpoint_exit_code == 85);
  CHECK_FALSE(spec.time_limit_s.has_value());
}

TEST_CASE("requests are numbers with units") {
  struct Case {
    const char* text;
    std::uint64_t expected;
  };
  for (const Case& c : {Case{"20000", 20000}, {"128GB", 131072}, {"2G", 2048}, {"512 MB", 512}}) {
    CAPTURE(std::string(c.text));
    CHECK(job("request_memory = " + std::string(c.text)).resources.memory_mb == c.expected);
  }
  for (const Case& c : {Case{"41943040", 41943040}, {"40GB", 41943040}, {"10240K", 10240}}) {
    CAPTURE(std::string(c.text));
    CHECK(job("request_disk = " + std::string(c.text)).resources.disk_kb == c.expected);
  }
  CHECK(job("request_cpus = 4\nrequest_gpus = $(n)", {{"n", "2"}}).resources.cpus == 4);
  CHECK(job("request_cpus = 4\nrequest_gpus = $(n)", {{"n", "2"}}).resources.gpus == 2);
  CHECK(job("", {{"request_cpus", "8"}}).resources.cpus == 8);
  CHECK(job("allowed_execute_duration = 7200\nallowed_job_duration = 1h").time_limit_s == 3600);
  CHECK(job("job_max_vacate_time = 120").grace_s == 120);
}

TEST_CASE("the job knows which it is") {
  const jobs::JobSpec spec =
      job("arguments = $(JOB) $(Node) $(CLUSTERID).$(Process) $(RETRY) $(godwit_attempt) $(DAGManJobId) $(alpha)",
          {{"alpha", "1e-4"}});
  CHECK(spec.arguments == Strings{"run0-train_epoch1", "run0-train_epoch1", "4711.0", "2", "3", "0", "1e-4"});
}

TEST_CASE("arguments and environment in both quotings") {
  CHECK(job("arguments = a 'b c'").arguments == Strings{"a", "'b", "c'"});
  CHECK(job(R"(arguments = "a 'b $(x)'")", {{"x", "c"}}).arguments == Strings{"a", "b c"});
  using Settings = std::vector<std::pair<std::string, std::string>>;
  CHECK(job("environment = A=1;B=2 3").environment == Settings{{"A", "1"}, {"B", "2 3"}});
  CHECK(job(R"(env = "A=1 B='2 3'")").environment == Settings{{"A", "1"}, {"B", "2 3"}});
}

TEST_CASE("getenv says what the job inherits") {
  ::setenv("GODWIT_TEST_A1", "one", 1);
  ::setenv("GODWIT_TEST_B1", "two", 1);
  CHECK(job("getenv = true").inherit_environment);
  CHECK_FALSE(job("getenv = False").inherit_environment);
  const jobs::JobSpec spec = job("getenv = GODWIT_TEST_A*, GODWIT_TEST_ABSENT\nenvironment = X=1");
  CHECK_FALSE(spec.inherit_environment);
  CHECK(spec.environment == std::vector<std::pair<std::string, std::string>>{{"GODWIT_TEST_A1", "one"}, {"X", "1"}});
}

TEST_CASE("streams end up at host paths") {
  const jobs::JobSpec spec = job("initialdir = sub/./dir\ninput = in.txt\noutput = logs/$(JOB).out\nerror = /abs/err");
  CHECK(spec.directory == "/home/me/experiment/sub/dir");
  CHECK(spec.stdin_path == "/home/me/experiment/sub/dir/in.txt");
  CHECK(spec.stdout_path == "/home/me/experiment/sub/dir/logs/run0-train_epoch1.out");
  CHECK(spec.stderr_path == "/abs/err");
  CHECK(job("output = /dev/null").stdout_path.empty());
  CHECK(job("stdout = x").stdout_path == "/home/me/experiment/x");
}

TEST_CASE("input files") {
  struct Case {
    const char* text;
    Strings expected;
  };
  const Case cases[] = {
      {"transfer_input_files = a.txt, dir/b.txt,, /abs/c", {"a.txt -> a.txt", "dir/b.txt -> b.txt", "/abs/c -> c"}},
      {"transfer_input_files = \"a b\", \"\", c", {"a b -> a b", "c -> c"}},
      {"transfer_input_files = dir/sub", {"dir/sub -> sub"}},
      {"transfer_input_files = dir/sub/", {"dir/sub/* -> "}},
      {"preserve_relative_paths = true\ntransfer_input_files = ./dir/sub, dir/all/, /abs/c",
       {"./dir/sub -> dir/sub", "dir/all/* -> ", "/abs/c -> c"}},
      {"transfer_input_files = osdf:///pool/data.tar.gz?pack=auto",
       {"osdf:///pool/data.tar.gz?pack=auto -> data.tar.gz"}},
      {"transfer_input_files = file:///abs/dir/x", {"/abs/dir/x -> x"}},
      {"transfer_input_files = ../up/x", {"../up/x -> x"}},
      {"transfer_input_files = \"\"", {}},
      {"should_transfer_files = NO\ntransfer_input_files = a", {}},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    CHECK(joined(inputs(job(c.text))) == joined(c.expected));
  }
}

TEST_CASE("output files") {
  struct Case {
    const char* text;
    Strings expected;
  };
  const Case cases[] = {
      {"transfer_output_files = model.bin, out/log.txt", {"model.bin -> model.bin", "out/log.txt -> log.txt"}},
      {"preserve_relative_paths = yes\ntransfer_output_files = out/log.txt/", {"out/log.txt -> out/log.txt"}},
      {"transfer_output_files = a, d/b\ntransfer_output_remaps = \"a = runs/1/a; b=/abs/b;c=unused\"",
       {"a -> runs/1/a", "d/b -> /abs/b"}},
      {"transfer_output_files = d/b\ntransfer_output_remaps = \"d/b=osdf:///x/b\"", {"d/b -> osdf:///x/b"}},
      {"transfer_output_remaps = \"a=x\"", {"a -> x?"}},
      {"transfer_output_files = a, best.bin, a\n+GodwitOptionalOutputs = \"best.bin, metrics.jsonl\"",
       {"a -> a", "best.bin -> best.bin?"}},
      {"transfer_output_files = \"\"\ntransfer_output_remaps = \"a=x\"", {}},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    CHECK(joined(outputs(job(c.text))) == joined(c.expected));
  }
}

TEST_CASE("checkpoints and metrics") {
  const jobs::JobSpec spec =
      job("transfer_checkpoint_files = ./ckpt.bin, best.bin\ncheckpoint_exit_code = 77\n+GodwitMetrics = "
          "\"metrics.jsonl\"");
  CHECK(spec.checkpoint_files == Strings{"ckpt.bin", "best.bin"});
  CHECK(spec.checkpoint_exit_code == 77);
  CHECK(spec.metrics_file == "metrics.jsonl");
}

TEST_CASE("what cannot become a job is said with its place, all of it") {
  struct Case {
    const char* text;
    Strings expected;
  };
  const Case cases[] = {
      {"log = x", {"job.sub:1:1 the description names no executable"}},
      {"executable = $(program)", {"job.sub:1:14 executable: the name is empty: $(program)"}},
      {"executable = x\nrequest_memory = lots\nrequest_cpus = 0\ntransfer_executable = maybe",
       {"job.sub:2:18 request_memory: not an amount; write for example 128GB: lots",
        "job.sub:3:16 request_cpus: not a whole number from 1 to 1000000: 0",
        "job.sub:4:23 transfer_executable: neither true nor false: maybe"}},
      {"executable = x\narguments = \"a", {"job.sub:2:13 arguments: the closing double quote is missing: \"a"}},
      {"executable = x\nlog = y\noutput = $(a)\na = $(a$(b)\na = $(b)\nb = $(a)",
       {"job.sub:3:10 output: circular macro: a → b → a: $(a)"}},
      {"executable = x\ntransfer_output_files = ok, ../up, /etc/passwd, .",
       {"job.sub:2:25 transfer_output_files: not a name inside the job's own folder: ../up",
        "job.sub:2:25 transfer_output_files: not a name inside the job's own folder: /etc/passwd",
        "job.sub:2:25 transfer_output_files: not a name inside the job's own folder: ."}},
      {"executable = x\ntransfer_output_remaps = \"../a=b; c; d=../e\"",
       {"job.sub:2:26 transfer_output_remaps: not a name inside the job's own folder: ../a",
        "job.sub:2:26 transfer_output_remaps: not of the form 'name = target':  c",
        "job.sub:2:26 transfer_output_remaps: the path leaves its folder by '..': ../e"}},
      {"executable = x\npreserve_relative_paths = true\ntransfer_input_files = ../x, ..",
       {"job.sub:3:24 transfer_input_files: not a name inside the job's own folder: ../x",
        "job.sub:3:24 transfer_input_files: not a name inside the job's own folder: .."}},
      {"executable = x\noutput = logs/../../x\ntransfer_checkpoint_files = /x\n+GodwitMetrics = \"../m\"",
       {"job.sub:2:10 output: the path leaves its folder by '..': logs/../../x",
        "job.sub:3:29 transfer_checkpoint_files: not a name inside the job's own folder: /x",
        "job.sub:4:18 +GodwitMetrics: not a name inside the job's own folder: ../m"}},
      {"executable = x\ntransfer_output_remaps = a=b",
       {"job.sub:2:26 transfer_output_remaps: double quotes around the whole value are missing: a=b"}},
      {"executable = x\nshould_transfer_files = perhaps\nwhen_to_transfer_output = never",
       {"job.sub:2:25 should_transfer_files: neither YES, NO nor IF_NEEDED: perhaps",
        "job.sub:3:27 when_to_transfer_output: neither ON_EXIT, ON_EXIT_OR_EVICT nor ON_SUCCESS: never"}},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    CHECK(joined(faults(c.text)) == joined(c.expected));
  }
}

TEST_CASE("what only some sites can honour is found") {
  const Description description = read(
      "universe = container\n"
      "container_image = osdf:///images/$(image).sif\n"
      "executable = /bin/python\n"
      "transfer_input_files = a, osdf:///data/x?pack=auto, file:///here/y\n"
      "transfer_output_remaps = \"m=osdf:///out/m;n=here\"\n");
  const Vars vars = {{"image", "metl"}};
  Strings found;
  for (const Demand& demand : demands_beyond_local(description, lookup(vars)))
    found.push_back(demand.position.text() + ' ' + demand.what);
  CHECK(joined(found) ==
        joined({"job.sub:1:12 universe = container", "job.sub:2:19 container_image = osdf:///images/metl.sif",
                "job.sub:4:24 transfer_input_files = osdf:///data/x?pack=auto",
                "job.sub:5:26 transfer_output_remaps = m=osdf:///out/m"}));
  CHECK(demands_beyond_local(read("universe = vanilla\nexecutable = x\nqueue"), {}).empty());
}

TEST_CASE("the template of the older prototype becomes its jobs") {
  const std::string_view text = R"(
      universe = container
      epoch = $(epoch:1)
      request_disk = 40GB
      request_memory = 20000
      retry_request_memory = 60000
      +WantGPULab = true
      executable = /bin/bash
      transfer_executable = false
      arguments = pretrain_local.sh $(epoch) $(run_uuid) $(random_seed)
      preserve_relative_paths = true
      transfer_input_files = pretrain_local.sh, osdf:///pool/staging/user/processed-gb1.tar.gz?pack=auto
      if defined continue_from_checkpoint
          transfer_input_files = $(transfer_input_files), output/training_logs/$(run_uuid)
      endif
      transfer_output_files = output
      should_transfer_files = YES
      when_to_transfer_output = ON_EXIT_OR_EVICT
      output = $(run_uuid)/$(epoch)_$(CLUSTERID).out
      queue
)";
  Diagnostics diagnostics;
  const Description description = Description::parse(text, {"Experiment.yaml", 3, 1}, diagnostics);
  CHECK(diagnostics.all().empty());
  Vars vars = {{"epoch", "5"}, {"run_uuid", "d35b3ea9"}, {"random_seed", "42"}};
  const jobs::JobSpec first = resolve(description, lookup(vars), kContext);
  CHECK(first.arguments == Strings{"pretrain_local.sh", "5", "d35b3ea9", "42"});
  CHECK(first.stdout_path == "/home/me/experiment/d35b3ea9/5_4711.out");
  CHECK(first.inputs.size() == 2);
  CHECK_FALSE(first.transfer_executable);
  vars["continue_from_checkpoint"] = "true";
  const jobs::JobSpec second = resolve(description, lookup(vars), kContext);
  REQUIRE(second.inputs.size() == 3);
  CHECK(second.inputs[2].source == "output/training_logs/d35b3ea9");
  CHECK(second.inputs[2].name == "output/training_logs/d35b3ea9");
}

}  // namespace
}  // namespace godwit::submit
