#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/report/figure_parts.h"
#include "godwit/report/format.h"

namespace godwit::report {
namespace {

constexpr std::size_t kMostRows = 40;
constexpr double kValues = 70;  // the column of last values

// Pairs side by side, migrated before baseline; runs without a pair after them, all by their first number.
std::vector<std::size_t> path_order(const Comparison& comparison) {
  const auto& runs = comparison.experiment.runs;
  std::vector<std::size_t> order;
  std::unordered_map<std::string, std::vector<std::size_t>> pairs;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!runs[i].pair.empty()) pairs[runs[i].pair].push_back(i);
  std::vector<bool> placed(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (placed[i]) continue;
    const std::vector<std::size_t> alone = {i};
    for (const std::size_t member : runs[i].pair.empty() ? alone : pairs[runs[i].pair]) {
      order.push_back(member);
      placed[member] = true;
    }
  }
  return order;
}

std::string job_tip(const Job& job) {
  std::string tip = fmt::format("{}: {}, epochs {} to {}, {}", job.node, job.site, job.first_epoch, job.last_epoch,
                                to_string(job.state));
  if (job.attempts > 1) tip += fmt::format(", {} attempts", job.attempts);
  if (job.wall_s > 0) tip += ", " + format_duration(job.wall_s);
  return tip;
}

void draw_job(Drawing& drawing, const Legend& legend, const Job& job, const Scale& x, double y, double height) {
  const double left = x(job.first_epoch - 0.5) + 1;
  const double width = x(job.last_epoch + 0.5) - 1 - left;
  const bool done = job.state == State::finished;
  const char* look = done ? "block " : job.state == State::running ? "block soft " : "open ";
  drawing.rectangle({left, y}, width, height, look + legend.site_class(job.site), job_tip(job));
  std::string text = job.site;
  const std::string again = job.attempts > 1 ? fmt::format(" ↻{}", job.attempts - 1) : "";
  if (text_width(text + again, 12) > width - 4) text = legend.short_site(job.site);
  if (text_width(text + again, 12) > width - 2) text.clear();
  if (job.state == State::failed) text = "✗ " + text;
  if (height >= 14)
    drawing.text({left + width / 2, y + height / 2 + 4}, text + again,
                 "small " + (done ? legend.site_text_class(job.site) : std::string()), Anchor::middle);
}

std::string last_value_text(const Comparison& comparison, std::size_t run) {
  if (comparison.experiment.runs[run].state != State::finished)
    return std::string(to_string(comparison.experiment.runs[run].state));
  if (!comparison.has_metrics()) return {};
  const auto& last = comparison.run_metrics[run][comparison.primary].last;
  return last ? format_number(last->value) : "—";
}

// One run: its mark, its number, its jobs, what came out.
void draw_row(Drawing& drawing, const Comparison& comparison, const Legend& legend, std::size_t index, const Scale& x,
              double y, double height) {
  const Run& run = comparison.experiment.runs[index];
  const double baseline = y + height / 2 + 4;
  drawing.circle({10, y + height / 2}, 4.5, "dot " + legend.run_class(index), run_tip(comparison, index));
  drawing.text({20, baseline}, fmt::format("run {}", run.number), "small");
  for (const Job& job : run.jobs) draw_job(drawing, legend, job, x, y, height);
  drawing.text({kFigureWidth - kRight, baseline}, last_value_text(comparison, index), "small", Anchor::end);
}

double left_margin(const Comparison& comparison, const std::vector<std::size_t>& order) {
  std::uint32_t highest = 0;
  for (const std::size_t run : order) highest = std::max(highest, comparison.experiment.runs[run].number);
  return 28 + text_width(fmt::format("run {}", highest), 12);
}

std::string describe_paths(const Comparison& comparison, const std::vector<std::size_t>& order) {
  constexpr std::size_t kMostTold = 12;
  const auto& runs = comparison.experiment.runs;
  std::string text = fmt::format("A row of blocks for each of {}: which site trained which epochs.",
                                 format_count(order.size(), "run"));
  for (std::size_t i = 0; i < order.size() && i < kMostTold; ++i) {
    std::vector<std::string> path;
    for (const Job& job : runs[order[i]].jobs) path.push_back(job.site);
    text += fmt::format(" Run {}: {}.", runs[order[i]].number, join(path, ", "));
  }
  return text;
}

std::string paths_caption(const Comparison& comparison, std::size_t shown) {
  const auto& runs = comparison.experiment.runs;
  std::string caption = "A block is one training job.";
  if (comparison.has_baseline) caption += " Blue: migrated run; grey: its baseline.";
  if (comparison.finished() < runs.size()) caption += " Pale: running; dashed: to come, or failed (✗).";
  if (std::any_of(runs.begin(), runs.end(), [](const Run& run) { return attempts_of(run) > run.jobs.size(); }))
    caption += " ↻1: one more attempt was needed.";
  if (shown < runs.size()) caption += fmt::format(" The first {} of {} runs.", shown, runs.size());
  return caption;
}

}  // namespace

std::optional<Figure> draw_paths(const Comparison& comparison, const Legend& legend) {
  const auto& runs = comparison.experiment.runs;
  if (runs.empty()) return std::nullopt;
  auto order = path_order(comparison);
  if (order.size() > kMostRows) order.resize(kMostRows);
  Figure figure{"paths", "What ran where", describe_paths(comparison, order), paths_caption(comparison, order.size()),
                Drawing(kFigureWidth, 0)};
  Drawing& drawing = figure.drawing;
  const double left = left_margin(comparison, order);
  const auto items = site_items(comparison, legend, LegendItem::Mark::block);
  Frame frame{{left, draw_legend(drawing, {left, 0}, kFigureWidth - left - kRight, items) + 6},
              kFigureWidth - left - kRight - kValues,
              0};
  double y = frame.corner.y + 20;
  if (comparison.has_metrics())
    drawing.text({kFigureWidth - kRight, y - 8}, "last " + shorten(primary(comparison).name, 16), "small muted",
                 Anchor::end);
  const Scale x = epoch_scale(comparison, frame);
  const double row = order.size() > 16 ? 15 : 20;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same_pair = i > 0 && !runs[order[i]].pair.empty() && runs[order[i - 1]].pair == runs[order[i]].pair;
    if (i > 0) y += same_pair ? 2 : comparison.has_baseline ? 8 : 3;
    draw_row(drawing, comparison, legend, order[i], x, y, row);
    y += row;
  }
  frame.height = y + 6 - frame.corner.y;
  draw_x_axis(drawing, frame, x, "epoch", false, 8);
  drawing.set_height(frame.bottom() + kBelow);
  return figure;
}

}  // namespace godwit::report
