#include "godwit/report/page.h"

#include <fmt/format.h>

#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/base/version.h"
#include "godwit/report/figures.h"
#include "godwit/report/format.h"
#include "godwit/report/tables.h"

namespace godwit::report {
namespace {

constexpr std::size_t kMostRows = 200;

constexpr std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--paper:#ffffff;--ink:#1c2128;--muted:#57606a;--line:#d8dee4;--panel:#f6f8fa;--accent:#1f62d0}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--muted:#9da7b3;--line:#30363d;--panel:#161b22;--accent:#6ea8ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1240px;margin:0 auto;padding:28px 24px 48px}
h1{font-size:26px;line-height:1.2;margin:0 0 4px}
h2{font-size:18px;margin:36px 0 12px}
p{margin:0 0 12px}
.quiet{color:var(--muted);overflow-wrap:anywhere}
.headline{font-size:17px;max-width:62em;margin:16px 0 20px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(210px,1fr));gap:12px;margin:0 0 8px}
.card{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:12px 14px}
.card span{display:block;color:var(--muted);font-size:13px}
.card strong{display:block;font-size:20px;font-weight:600;font-variant-numeric:tabular-nums}
.notes{border-left:4px solid var(--accent);background:var(--panel);padding:10px 14px 10px 30px;margin:16px 0}
.verdict{border:1px solid var(--line);border-radius:8px;padding:12px 14px;margin:0 0 16px;max-width:62em}
.verdict p{margin:0 0 4px}.verdict .first{font-weight:600}
.figures{columns:2 480px;column-gap:28px}
figure{break-inside:avoid;margin:0;padding:8px 0 20px}
figure h3{font-size:15px;margin:0 0 8px}
figcaption{color:var(--muted);font-size:13px;margin-top:4px;max-width:40em}
svg.chart{display:block;width:100%;height:auto}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:20px 0 6px}
th,td{padding:4px 12px 4px 0;text-align:left;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--muted);font-weight:600}
td.path{white-space:normal;min-width:16em}
.right{text-align:right}
footer{margin-top:40px;color:var(--muted);font-size:13px}
@media print{main{max-width:none;padding:0}.figures{columns:2}}
)";

std::string element(std::string_view name, std::string_view text) {
  return fmt::format("<{0}>{1}</{0}>\n", name, escape_xml(text));
}

std::string card(std::string_view label, std::string_view value, std::string_view below = {}) {
  return fmt::format("<div class=\"card\"><span>{}</span><strong>{}</strong><span>{}</span></div>\n", escape_xml(label),
                     escape_xml(value), escape_xml(below));
}

std::string group_card(const Comparison& comparison, const Group& group) {
  const GroupMetric& values = group.metrics[comparison.primary];
  const std::string& metric = comparison.metrics[comparison.primary].name;
  if (values.last.n == 0) return card(group.name, "—", "none finished");
  return card(fmt::format("{}: last {}", group.name, metric),
              values.last.n == 1 ? format_number(values.last.mean) : format_mean_sd(values.last.mean, values.last.sd),
              values.last.n == 1 ? "one run" : fmt::format("mean ± sd of {} runs", values.last.n));
}

std::string cards(const Comparison& comparison) {
  std::string html = "<div class=\"cards\">\n";
  html += card("finished", fmt::format("{} of {}", comparison.finished(), comparison.experiment.runs.size()),
               "training runs");
  if (comparison.has_metrics() && comparison.finished() > 0 && comparison.groups.size() <= 3)
    for (const Group& group : comparison.groups) html += group_card(comparison, group);
  if (comparison.has_metrics() && comparison.has_baseline) {
    const PairedMetric& paired = comparison.paired[comparison.primary];
    if (!paired.pairs.empty()) {
      const double spread = standard_error(paired.differences);
      html += card(fmt::format("migrated − baseline, {}", format_count(paired.pairs.size(), "pair")),
                   format_signed(paired.differences.mean, spread),
                   paired.interval ? fmt::format("95 % interval {} to {}", format_signed(paired.interval->low, spread),
                                                 format_signed(paired.interval->high, spread))
                                   : "one pair has no interval");
    }
  }
  double wall = 0;
  for (const Run& run : comparison.experiment.runs) wall += wall_seconds_of(run);
  if (wall > 0)
    html += card("training time", format_duration(wall),
                 fmt::format("of all jobs, at {}", format_count(comparison.sites.size(), "site")));
  return html + "</div>\n";
}

std::string verdict(const Comparison& comparison) {
  const std::vector<std::string> sentences = verdict_sentences(comparison);
  if (sentences.empty()) return {};
  std::string html = "<div class=\"verdict\">\n";
  for (std::size_t i = 0; i < sentences.size(); ++i)
    html += fmt::format("<p{}>{}</p>\n", i == 0 ? " class=\"first\"" : "", escape_xml(sentences[i]));
  return html + "</div>\n";
}

std::string notes(const Comparison& comparison) {
  if (comparison.notes.empty()) return {};
  std::string html = "<ul class=\"notes\">\n";
  for (const std::string& note : comparison.notes) html += element("li", note);
  return html + "</ul>\n";
}

std::string figures(const Comparison& comparison) {
  std::string html = "<h2>Pictures</h2>\n<div class=\"figures\">\n";
  for (const Figure& figure : draw_figures(comparison))
    html += "<figure>\n" + element("h3", figure.title) +
            figure.drawing.svg(figure.id, figure.title, figure.description) + element("figcaption", figure.caption) +
            "</figure>\n";
  return html + "</div>\n";
}

std::string table_html(const Table& table) {
  std::string html =
      fmt::format("<div class=\"scroll\">\n<table>\n<caption>{}</caption>\n<thead><tr>", escape_xml(table.title));
  const auto css = [&](std::size_t column) {
    if (table.columns[column].right) return " class=\"right\"";
    return table.columns[column].name == "sites" ? " class=\"path\"" : "";
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", css(i), escape_xml(table.columns[i].name));
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) html += fmt::format("<td{}>{}</td>", css(i), escape_xml(row[i]));
    html += "</tr>\n";
  }
  html += "</tbody>\n</table>\n</div>\n";
  if (!table.note.empty()) html += fmt::format("<p class=\"quiet\">{}</p>\n", escape_xml(table.note));
  return html;
}

std::string footer(const Comparison& comparison) {
  std::string html = "<footer>\n";
  html +=
      "<p>Only finished runs enter a mean. <em>Last</em> is the value of the last epoch that reported it, "
      "<em>best</em> "
      "the best finite one. sd is the sample's standard deviation (n − 1). The 95 % interval of a mean is mean ± "
      "t<sub>0.975, n − 1</sub> · sd / √n (Student 1908); it takes the values as draws from one normal population. "
      "A paired difference is the mean of a pair's migrated runs minus the mean of its baseline runs. Epoch times are "
      "those of every run, unfinished ones too.</p>\n";
  return html + fmt::format("<p>godwit {}{}{}</p>\n</footer>\n", kVersion,
                            comparison.experiment.uuid.empty() ? "" : " · dag ",
                            escape_xml(comparison.experiment.uuid));
}

}  // namespace

std::string html_page(const Comparison& comparison) {
  const std::string name = escape_xml(comparison.experiment.name);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
      "<title>{}: comparison</title>\n<style>{}{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n",
      name, kPageStyle, chart_style(), name);
  std::string below = comparison.experiment.file;
  if (const std::string common = common_values(comparison); !common.empty())
    below += (below.empty() ? "" : " · ") + ("all runs: " + common);
  html += fmt::format("<p class=\"quiet\">{}</p>\n<p class=\"headline\">{}</p>\n", escape_xml(below),
                      escape_xml(headline(comparison)));
  html += verdict(comparison) + cards(comparison) + notes(comparison) + figures(comparison) + "<h2>Tables</h2>\n";
  for (const Table& table : make_tables(comparison, kMostRows)) html += table_html(table);
  return html + footer(comparison) + "</main>\n</body>\n</html>\n";
}

}  // namespace godwit::report
