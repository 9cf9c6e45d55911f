#include "godwit/experiment/oversights.h"

#include <fmt/format.h>

#include <algorithm>

#include "godwit/base/text.h"
#include "godwit/base/units.h"

namespace godwit::experiment {
namespace {

// Whether a job can know from its description where it goes on.
bool continues_by_itself(const SubmitText& submit) {
  const std::string text = lower(submit.text);
  for (const char* name : {"continue_from_checkpoint", "checkpoint_epoch", "first_epoch"})
    if (text.find(name) != std::string::npos) return true;
  return false;
}

std::uint32_t most_jobs(const RunList& runs) {
  const auto fewer = [](const PlannedRun& a, const PlannedRun& b) { return a.jobs() < b.jobs(); };
  return std::max_element(runs.runs().begin(), runs.runs().end(), fewer)->jobs();
}

}  // namespace

void warn_of_oversights(const ExperimentSpec& spec, const SiteChoice& choice, const RunList& runs,
                        Diagnostics& diagnostics) {
  const std::uint32_t jobs = most_jobs(runs);
  if (jobs > 1 && spec.checkpoint.path.empty() && !continues_by_itself(spec.train.common))
    diagnostics.warning(spec.train.common.origin, "the jobs of a run hand nothing on to each other", {},
                        "name the file that carries a run on: 'checkpoint: model.bin'");
  if (spec.evaluation && spec.evaluation->every > jobs)
    diagnostics.warning(spec.evaluation->position,
                        fmt::format("nothing is evaluated: no run has more than {}", format_count(jobs, "job")),
                        fmt::format("every: {}", spec.evaluation->every));
  if (spec.compare && runs.runs().size() == 2)
    diagnostics.warning(spec.compare->position, "one pair of runs says nothing about spread, so it decides nothing", {},
                        "repeat it with other seeds, such as 'replicates: 8'");
  for (const sites::Site& site : choice.sites)
    if (site.runnable() && site.lifetime_s)
      diagnostics.warning(site.position, "the lifetime of a local site is not kept: it takes jobs while an engine runs",
                          site.name, "'allowed_job_duration' in the submit template ends single jobs");
  const std::vector<dag::SiteId>& sites = choice.placement.sites;
  if (spec.baseline && sites.size() == 1 && sites.front() == choice.placement.baseline_site)
    diagnostics.warning(spec.baseline->position,
                        "the runs that should migrate have this site alone, so the baseline compares it with itself",
                        spec.baseline->name, "give the experiment other sites");
  if (runs.repeated() > 0)
    diagnostics.warning(spec.vars.position,
                        fmt::format("{} the same values as another, and so the same random_seed",
                                    runs.repeated() == 1 ? "1 run has" : fmt::format("{} runs have", runs.repeated())),
                        {}, "to repeat a run with other seeds, write 'replicates: N'");
}

}  // namespace godwit::experiment
