#include "godwit/cli/rehearsed.h"

#include <fmt/format.h>

#include <filesystem>

#include "godwit/base/file.h"
#include "godwit/base/units.h"
#include "godwit/cli/session.h"
#include "godwit/cli/table.h"

namespace godwit::cli {

std::string rehearsal_record(const journal::StateDir& state) {
  return state.path() + "/rehearsal.json";
}

std::optional<experiment::Forecast> forecast_of(const experiment::Planned& planned) {
  const std::string path = rehearsal_record(state_of(planned));
  if (!std::filesystem::is_regular_file(path)) return std::nullopt;
  const Json json = Json::parse(read_file(path), nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return experiment::forecast(planned, json);
}

std::string forecast_text(const experiment::Forecast& forecast, const Terminal& terminal) {
  std::string out =
      styled(fmt::format("Forecast, by the rehearsal of {}", forecast.rehearsed), Style::strong, terminal) + "\n";
  Table table({{"SITE"},
               {"EPOCHS", Align::right},
               {"EVALUATIONS", Align::right},
               {"JOBS TAKE", Align::right},
               {"AT LEAST", Align::right},
               {"MEMORY", Align::right}});
  const auto time = [](const std::optional<double>& seconds) {
    return seconds ? format_duration(*seconds) : std::string("not known");
  };
  for (const experiment::SiteForecast& site : forecast.sites) {
    std::string memory = site.peak_memory_kb == 0 ? "" : format_bytes(site.peak_memory_kb * 1024);
    if (!memory.empty() && site.asked_memory_mb != 0)
      memory += fmt::format(" of {}", format_memory_mb(site.asked_memory_mb));
    table.add_row({{site.site},
                   {std::to_string(site.epochs)},
                   {std::to_string(site.evaluations)},
                   {time(site.job_s)},
                   {time(site.at_least_s)},
                   {memory}});
  }
  out += table.render(terminal);
  if (forecast.checkpoint_bytes)
    out += fmt::format("Checkpoints: {} in all\n", format_bytes(*forecast.checkpoint_bytes));
  if (!forecast.scale_known)
    out +=
        "Times are of the rehearsal's epochs: 'scale' under 'rehearse' says how many times as long one takes in "
        "earnest\n";
  return out;
}

}  // namespace godwit::cli
