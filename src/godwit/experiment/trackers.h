// What trackers of experiments read from a job's environment, so that all jobs of a training run are one run there.
//
// Weights & Biases lets its user choose a run's id: WANDB_RUN_ID with WANDB_RESUME=allow. MLflow's client continues the
// run that MLFLOW_RUN_ID names, but its server chooses ids itself; in a folder (MLflow's file store) a run is a folder
// with a meta.yaml, so Godwit makes that before any job starts. Names are those of W&B's page "Environment variables"
// and of mlflow/environment_variables.py; the folder's layout is that of mlflow/store/tracking/file_store.py.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "godwit/dag/graph.h"
#include "godwit/experiment/conventions.h"
#include "godwit/experiment/spec.h"

namespace godwit::experiment {

// The name with what is neither letter, digit, '_' nor '-' replaced: what trackers take as part of an id.
std::string tracker_name(std::string_view experiment_name);

// Names and values, the latter with the macros of a submit description and without blanks or quotes.
std::vector<std::pair<std::string, std::string>> tracker_variables(const ExperimentSpec& spec, JobKind kind);

// Where `mlflow` names a folder: makes the experiment and the runs there that are missing. Throws SystemError, and
// InputError where something else is in the way.
void make_mlflow_runs(const ExperimentSpec& spec, const dag::Graph& graph);

}  // namespace godwit::experiment
