// experiment.yaml as it was written: read and checked by itself, before sites and sweeps come in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/base/json.h"
#include "godwit/base/yaml.h"
#include "godwit/dag/graph.h"
#include "godwit/experiment/compare_spec.h"
#include "godwit/experiment/keep_spec.h"
#include "godwit/experiment/rehearsal.h"
#include "godwit/experiment/stop_spec.h"
#include "godwit/placement/policy.h"
#include "godwit/sites/site.h"

namespace godwit::experiment {

// A submit description inside the file, its braces not yet filled.
struct SubmitText {
  std::string text;
  Position origin;           // of the text's first byte
  std::uint32_t indent = 0;  // columns before each further line
};

// `submit_template`, and `submit_templates` for the sites that want their own.
struct TemplateSpec {
  SubmitText common;
  std::vector<std::pair<std::string, SubmitText>> at_site;

  const SubmitText& at(const std::string& site) const;
};

struct EvaluationSpec {
  TemplateSpec submit;
  std::uint32_t every = 1;  // beside each every-th training job
  Position position;        // of `every`
};

// File names below the sandbox; "" where there is none.
struct CheckpointSpec {
  std::string path;              // every training job must write it
  std::string best;              // it may be absent
  std::uint64_t size_bytes = 0;  // of both together; 0: not said
};

struct RetrySpec {
  std::uint32_t count = 0;
  std::optional<int> unless_exit;
  std::optional<dag::Escalation> memory;
};

struct ScriptsSpec {
  Position position;
  std::optional<dag::Script> pre, post, hold;
};

struct ServiceSpec {
  std::string name;
  Position position;
  SubmitText submit;
};

// A name that must be found elsewhere, and where it is written.
struct Reference {
  std::string name;
  Position position;
};

struct SiteLimit {
  Reference site;
  std::uint32_t most = 0;
};

struct MaxJobsSpec {
  std::optional<std::uint32_t> total;
  std::vector<SiteLimit> per_site;
};

struct PrioritySpec {
  bool later_epochs_first = true;  // the job's index: runs finish before others begin
  std::int32_t value = 0;          // else this for all
};

struct ExperimentSpec {
  std::string file;       // absolute
  std::string directory;  // absolute: where its relative paths start
  Json source;            // the file as JSON, scalars as they were written
  Position position;
  std::string results = "runs";  // where its runs leave what they make, below the directory
  std::string name;
  std::string seed = "0";
  TemplateSpec train;
  // Kept as written; the sweep reads them. Null where absent.
  yaml::Node vars, include, exclude;
  // As top-level keys; they may be variables instead.
  std::optional<std::uint32_t> epochs, epochs_per_job;
  std::uint32_t replicates = 1;

  std::vector<Reference> site_names;             // `sites` as a list; empty: all there are
  std::optional<sites::Catalogue> inline_sites;  // `sites` as a mapping
  sites::Site resource_defaults;

  placement::Rule placement = placement::Rule::shuffle;
  std::optional<Reference> fixed_site;  // of Rule::fixed
  std::optional<Reference> baseline;

  std::optional<EvaluationSpec> evaluation;
  std::optional<CompareSpec> compare;
  std::optional<RehearsalSpec> rehearsal;
  bool rehearses = false;  // this is the rehearsal of the experiment
  std::optional<KeepSpec> keep;
  std::optional<EarlyStopSpec> early_stop;
  std::optional<AshaSpec> asha;
  ScriptsSpec scripts;
  std::vector<ServiceSpec> services;
  RetrySpec retry;
  PrioritySpec priority;
  MaxJobsSpec max_jobs;
  CheckpointSpec checkpoint;
  std::uint32_t keep_sandboxes = 10;  // of attempts that did not succeed, to look at
  std::string metrics = "metrics.jsonl";
  std::vector<Reference> secrets;         // variables that jobs get and no file may hold
  std::string mlflow;                     // MLflow's tracking URI, or the folder of its file store; empty: none
  bool metrics_table = false;             // a CSV table, not lines of JSON
  std::uint32_t metrics_first_epoch = 1;  // the table's number for the first epoch
  bool names_metrics = false;             // the experiment says so itself: then the file is an output
};

// What the experiment says of its runs, for its Dag.
dag::Rules rules_of(const ExperimentSpec& spec);

// Reads experiment.yaml. Faults of its content go to `diagnostics`, and what can be read is returned all the same;
// throws InputError where it is no YAML, SystemError where it cannot be read.
ExperimentSpec load_spec(const std::string& path, Diagnostics& diagnostics);

}  // namespace godwit::experiment
