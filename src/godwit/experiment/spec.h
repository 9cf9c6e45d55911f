// experiment.yaml as it was written: read and checked by itself, before sites and sweeps come in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/base/yaml.h"
#include "godwit/dag/graph.h"
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
};

// A file name below the sandbox. "" where there is none.
struct CheckpointSpec {
  std::string path;  // required output of every training job
  std::string best;  // optional output
};

struct RetrySpec {
  std::uint32_t count = 0;
  std::optional<int> unless_exit;
  std::optional<dag::Escalation> memory;
};

struct ScriptsSpec {
  std::optional<dag::Script> pre, post, hold;
};

struct ServiceSpec {
  std::string name;
  SubmitText submit;
};

struct MaxJobsSpec {
  std::optional<std::uint32_t> total;
  std::vector<std::pair<std::string, std::uint32_t>> per_site;
};

enum class PriorityRule : std::uint8_t {
  later_epochs_first,  // the job's index: runs finish before others begin
  same,                // `priority` for all
};

struct ExperimentSpec {
  std::string file;       // absolute
  std::string directory;  // absolute: where its relative paths start
  std::string name;
  std::uint64_t seed = 0;
  TemplateSpec train;
  // Kept as written; the sweep reads them.
  yaml::Node vars, include, exclude;
  std::optional<std::uint32_t> epochs, epochs_per_job;  // where they are top-level keys
  std::uint32_t replicates = 1;

  std::vector<std::pair<std::string, Position>> site_names;  // `sites` as a list; empty: all there are
  std::optional<sites::Catalogue> inline_sites;              // `sites` as a mapping
  std::vector<std::pair<std::string, std::string>> resource_defaults;

  placement::Rule placement = placement::Rule::shuffle;
  std::optional<std::pair<std::string, Position>> placement_site;  // of `fixed`
  std::optional<std::pair<std::string, Position>> baseline;

  std::optional<EvaluationSpec> evaluation;
  ScriptsSpec scripts;
  std::vector<ServiceSpec> services;
  RetrySpec retry;
  PriorityRule priority_rule = PriorityRule::later_epochs_first;
  std::int32_t priority = 0;
  MaxJobsSpec max_jobs;
  CheckpointSpec checkpoint;
  std::string metrics;  // the metrics file where the experiment names one; jobs write metrics.jsonl otherwise
};

// Reads experiment.yaml. Faults go to `diagnostics`; what can be read is returned all the same.
ExperimentSpec load_spec(const std::string& path, Diagnostics& diagnostics);

}  // namespace godwit::experiment
