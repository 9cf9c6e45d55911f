#include "godwit/experiment/keys.h"

#include "godwit/experiment/metric_choice.h"
#include "godwit/placement/policy.h"
#include "godwit/sites/schema.h"

namespace godwit::experiment {

using namespace schema;

const std::vector<std::string>& priority_words() {
  static const std::vector<std::string> words{"later_epochs_first", "none"};
  return words;
}

const Keys& variable_keys() {
  static const std::vector<std::string> types{"value",  "range", "linspace",   "logspace", "list",
                                              "random", "table", "expression", "zip"};
  static const std::vector<std::string> distributions{"uniform", "log_uniform", "integer", "normal", "choice"};
  static const Keys keys{
      {"type", "Where the values come from.", one_of(types)},
      {"description", "For people.", text()},
      {"value", "value: the one value.", text()},
      {"start", "range, linspace: the first value, 0 unless said. logspace: its exponent.", number()},
      {"stop", "range, linspace: where the values end. logspace: its exponent.", number()},
      {"step", "range: from one value to the next; 1 unless said.", number()},
      {"stop_inclusive", "range: whether 'stop' is a value too; no unless said.", boolean()},
      {"num", "linspace, logspace: how many values.", integer(1)},
      {"endpoint", "linspace, logspace: whether 'stop' is the last value; yes unless said.", boolean()},
      {"base", "logspace: of the powers; 10 unless said.", number()},
      {"values", "list: the values. random: what a choice takes from.", list_of(text())},
      {"zip", "The name of a group of variables that advance together.", text()},
      {"vars", "zip: the variables that advance together.", mapping_of(Json::object())},
      {"distribution", "random: which.", one_of(distributions)},
      {"low", "random: the least value.", number()},
      {"high", "random: the greatest value.", number()},
      {"mean", "random, normal: 0 unless said.", number()},
      {"std", "random, normal: the standard deviation, 1 unless said.", number()},
      {"weights", "random, choice: how likely each value is, relative to the others.", list_of(number())},
      {"count", "random: how many values are drawn; 1 unless said.", integer(1)},
      {"digits", "random: significant digits to round to.", integer(1)},
      {"rows", "table: its rows, as mappings, or as lists with 'columns'.",
       list_of(any_of({list_of(text()), mapping_of(text())}))},
      {"columns", "table: the columns' names, or which of them to take.", texts()},
      {"file", "table: a CSV, TSV, YAML or JSON file beside the experiment.", text()},
      {"header", "table: whether the file's first line names the columns.", boolean()},
      {"format", "table: what the file is, where its name does not say.", text()},
      {"expression", "expression: JavaScript over the other variables, such as 'depth * 64'.", text()},
  };
  return keys;
}

const Keys& placement_keys() {
  static const Keys keys{
      {"policy", "How sites are chosen for the jobs of a run.", one_of(placement::rule_names())},
      {"site", "The site of the policy 'fixed'; the first of 'sites' unless said.", text()},
  };
  return keys;
}

const Keys& evaluation_keys() {
  static const Keys keys{
      {"submit_template", "HTCondor submit description of an evaluation job.", text()},
      {"submit_templates", "Its form at the sites that need their own.", mapping_of(text())},
      {"every", "Evaluate beside each so-manyth training job; 1 unless said.", integer(1)},
  };
  return keys;
}

const Keys& scripts_keys() {
  static const Keys keys{
      {"pre", "Runs before each training job, on the machine that runs the workflow.", texts()},
      {"post", "Runs after each training job; its exit code is the node's.", texts()},
      {"hold", "Runs when a job is held.", texts()},
  };
  return keys;
}

const Keys& service_keys() {
  static const Keys keys{
      {"submit_template", "HTCondor submit description of the service.", text()},
  };
  return keys;
}

const Keys& retry_keys() {
  static const Keys keys{
      {"count", "How often a failed job is tried again.", integer(0)},
      {"unless_exit", "An exit code after which it is not.", integer(0)},
      {"request_memory", "What to do after running out of memory: 'x2 up to 128GB'.", text()},
  };
  return keys;
}

const Keys& checkpoint_keys() {
  static const Keys keys{
      {"path", "File that every training job writes and the next one starts from.", text()},
      {"best", "File with the best model so far; it may be absent.", text()},
      {"size", "How much disk a checkpoint takes, such as 200MB: for 'godwit plan', until one has been measured.",
       memory()},
  };
  return keys;
}

const std::vector<std::string>& metrics_formats() {
  static const std::vector<std::string> formats{"jsonl", "csv"};
  return formats;
}

const Keys& metrics_keys() {
  static const Keys keys{
      {"file", "The file in which jobs report, below the job's folder.", text()},
      {"format", "jsonl: lines of JSON. csv: a table with a column 'epoch'. By the file's name unless said.",
       one_of(metrics_formats())},
      {"first_epoch", "csv: the number that the table gives to the first epoch, 0 or 1; 1 unless said.", integer(0)},
  };
  return keys;
}

const Keys& compare_keys() {
  static const std::vector<std::string> directions{"low", "high"};
  static const Keys keys{
      {"metric", "The metric that decides; an evaluation's has 'eval.' before its name.", text()},
      {"better", "Whether low or high values are better; by the metric's name unless said.", one_of(directions)},
      {"margin", "The largest difference that does not matter, in the metric's own unit.", number()},
      {"alpha", "Probability of a false answer; 0.05 unless said.", number()},
  };
  return keys;
}

const Keys& rehearsal_keys() {
  static const Keys keys{
      {"epochs", "Epochs of each of its jobs; 1 unless said.", integer(1)},
      {"vars", "Values of variables in rehearsals: a sliver of the data.", mapping_of(text())},
      {"scale", "How many times as long an epoch takes in earnest: for forecasts.", number()},
  };
  return keys;
}

const Keys& keep_keys() {
  static const Keys keys{
      {"last", "How many of the newest checkpoints of a run stay; 1 unless said.", integer(1)},
      {"best", "How many of the best, by 'metric'; none unless said, 1 where 'metric' is.", integer(0)},
      {"every", "Keep the first checkpoint at or after each so-manyth epoch, too.", integer(1)},
      metric_key("The metric of 'best'; that of 'compare' unless said. An evaluation's has 'eval.' before its name."),
      mode_key(),
  };
  return keys;
}

const Keys& early_stop_keys() {
  static const Keys keys{
      metric_key(
          "The metric that must get better; that of 'compare' unless said. An evaluation's has 'eval.' before it."),
      mode_key(),
      {"patience", "After how many epochs without an improvement a run is stopped.", integer(1)},
      {"min_delta", "How much better an improvement must be; 0 unless said.", number()},
  };
  return keys;
}

const Keys& asha_keys() {
  static const Keys keys{
      metric_key(
          "The metric that decides; that of 'compare' unless said. An evaluation's has 'eval.' before its name."),
      mode_key(),
      {"reduction", "Of each rung the best so-manyth part goes on; 3 unless said.", integer(2)},
      {"grace", "Jobs that every run has before the first rung; 1 unless said.", integer(1)},
      {"max", "Jobs at which rungs end; as many as the longest run has unless said.", integer(1)},
  };
  return keys;
}

namespace {

Json retry_schema() {
  return any_of({integer(0), mapping(retry_keys(), {"count"})});
}

Json max_jobs_schema() {
  return any_of({integer(1), mapping_of(integer(1))});
}

Json vars_schema() {
  return mapping_of(any_of({text(), list_of(text()), mapping(variable_keys())}));
}

Json filter_schema() {
  return any_of({text(), list_of(any_of({text(), mapping_of(text())}))});
}

Json services_schema() {
  return mapping_of(any_of({text(), mapping(service_keys(), {"submit_template"})}));
}

}  // namespace

const Keys& experiment_keys() {
  static const Keys keys{
      {"name", "What the experiment is called.", text()},
      {"seed", "Decides every random choice: variables, run ids, random_seed, placement; 0 unless said.", text()},
      {"submit_template",
       "HTCondor submit description of a training job; {resource.cpus} comes from the site, $(alpha) from vars.",
       text()},
      {"submit_templates", "Its form at the sites that need their own.", mapping_of(text())},
      {"vars", "The variables; every combination of their values is a training run.", vars_schema()},
      {"epochs", "Epochs that each run trains for; 1 unless said. May stand in vars.", integer(1)},
      {"epochs_per_job", "Epochs of one job, after which the run may move; 1 unless said. May stand in vars.",
       integer(1)},
      {"replicates", "How often each combination is repeated with another random_seed.", integer(1)},
      {"include", "Expressions that combinations must meet, or mappings that add combinations.", filter_schema()},
      {"exclude", "Expressions or mappings of combinations to leave out.", filter_schema()},
      {"sites", "Names of the sites to use (all unless said), or the sites themselves.",
       any_of({texts(), sites::sites_schema()})},
      {"resource_defaults", "Values for {resource.…} where a site does not say.", mapping_of(text())},
      {"placement", "Which site runs which job; shuffle unless said.",
       any_of({one_of(placement::rule_names()), mapping(placement_keys(), {"policy"})})},
      {"baseline", "A site at which each run is repeated as a control, with the same random_seed.", text()},
      {"evaluation", "Jobs that score checkpoints.", mapping(evaluation_keys(), {"submit_template"})},
      {"scripts", "Programs before and after training jobs: an argument vector, or words.", mapping(scripts_keys())},
      {"services", "Jobs that run beside the whole workflow, by name.", services_schema()},
      {"retry", "What to do with a job that fails.", retry_schema()},
      {"priority", "Which ready jobs go first: later_epochs_first (unless said), none, or one number for all.",
       any_of({one_of(priority_words()), Json{{"type", "integer"}}})},
      {"max_jobs", "How many jobs run at once: a number, or numbers by site and 'total'.", max_jobs_schema()},
      {"checkpoint", "The files that travel along a run.", any_of({text(), mapping(checkpoint_keys(), {"path"})})},
      {"keep", "Which checkpoints of a run stay, so that a disk does not fill; all unless said.", mapping(keep_keys())},
      {"early_stop", "End a run whose metric has stopped getting better.", mapping(early_stop_keys(), {"patience"})},
      {"asha", "Asynchronous successive halving: the best of the runs train on, the others wait and end.",
       mapping(asha_keys())},
      {"compare", "What 'godwit compare' must show: declared before there are results.",
       mapping(compare_keys(), {"metric", "margin"})},
      {"rehearse", "What 'godwit rehearse' runs at each site: the experiment in small.", mapping(rehearsal_keys())},
      {"keep_sandboxes", "How many sandboxes of failed attempts are kept, the newest; 10 unless said.", integer(0)},
      {"secrets", "Names of environment variables that jobs get and that no file, log or report shows.", texts()},
      {"mlflow", "Folder of MLflow's file store, in which each run becomes one run; or the tracking URI of a server.",
       text()},
      {"metrics", "The file of JSON lines that jobs append, or a table; metrics.jsonl unless said.",
       any_of({text(), mapping(metrics_keys(), {"file"})})},
  };
  return keys;
}

Json file_schema() {
  return document(mapping(experiment_keys(), {"name", "submit_template"}, true), "Godwit's experiment.yaml");
}

}  // namespace godwit::experiment
