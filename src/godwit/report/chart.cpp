#include "godwit/report/chart.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "godwit/report/format.h"

namespace godwit::report {
namespace {

// Two places are a hundredth of a pixel: enough for every screen, and short.
std::string pixels(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

bool finite(Place place) {
  return std::isfinite(place.x) && std::isfinite(place.y);
}

// Heckbert's nice number at or above `value` > 0.
double nice_step(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (value <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

std::vector<double> linear_ticks(double low, double high, int count) {
  const double step = nice_step((high - low) / count);
  std::vector<double> ticks;
  const double slack = step * 1e-6;
  for (double i = std::ceil((low - slack) / step); i * step <= high + slack; ++i)
    ticks.push_back(i == 0 ? 0 : i * step);
  return ticks;
}

std::vector<double> logarithmic_ticks(double low, double high, int count) {
  const double decades = std::log10(high / low);
  if (decades < 0.7) return linear_ticks(low, high, count);
  std::vector<double> factors = {1};
  if (decades * 3 <= count + 1) factors = {1, 2, 5};
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / count)));
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(low))); power <= std::ceil(std::log10(high)); ++power) {
    if (power % stride != 0) continue;
    for (const double factor : factors) {
      const double tick = factor * std::pow(10.0, power);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(tick);
    }
  }
  return ticks;
}

}  // namespace

Scale Scale::linear(double low, double high, double from, double to) {
  Scale scale;
  if (!(high > low)) {
    const double margin = low == 0 ? 1 : std::fabs(low) * 0.1;
    low -= margin;
    high = low + 2 * margin;
  }
  scale.low_ = low;
  scale.high_ = high;
  scale.from_ = from;
  scale.to_ = to;
  return scale;
}

Scale Scale::logarithmic(double low, double high, double from, double to) {
  Scale scale;
  scale.logarithmic_ = true;
  scale.low_ = high > low ? low : low / 2;
  scale.high_ = high > low ? high : low * 2;
  scale.from_ = from;
  scale.to_ = to;
  return scale;
}

double Scale::operator()(double value) const {
  if (!std::isfinite(value) || (logarithmic_ && value <= 0)) return std::numeric_limits<double>::quiet_NaN();
  const double part = logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return from_ + part * (to_ - from_);
}

std::vector<double> Scale::ticks(int count) const {
  return logarithmic_ ? logarithmic_ticks(low_, high_, count) : linear_ticks(low_, high_, count);
}

std::vector<std::string> tick_labels(const Scale& scale, std::span<const double> ticks) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    most = std::max(most, std::fabs(ticks[i]));
    if (i > 0) least = std::min(least, ticks[i] - ticks[i - 1]);
  }
  if (!std::isfinite(least)) least = most == 0 ? 1 : most;
  const bool exponents = most >= 1e6 || least < 1e-5;
  const int places = std::max(0, -static_cast<int>(std::floor(std::log10(least) + 1e-9)));
  std::vector<std::string> labels;
  for (const double tick : ticks) {
    std::string text;
    if (exponents)
      text = fmt::format("{:g}", std::fabs(tick));
    else if (scale.is_logarithmic())
      text = fmt::format("{:.6g}", tick);
    else
      text = fmt::format("{:.{}f}", std::fabs(tick), places);
    labels.push_back((tick < 0 ? "−" : "") + text);
  }
  return labels;
}

void Drawing::open(std::string_view element, std::string_view css) {
  body_ += fmt::format("<{} class=\"{}\"", element, escape_xml(css));
}

void Drawing::attribute(std::string_view name, double value) {
  body_ += fmt::format(" {}=\"{}\"", name, pixels(value));
}

void Drawing::close(std::string_view element, std::string_view tip) {
  if (tip.empty())
    body_ += "/>\n";
  else
    body_ += fmt::format("><title>{}</title></{}>\n", escape_xml(tip), element);
}

void Drawing::line(Place a, Place b, std::string_view css, std::string_view tip) {
  if (!finite(a) || !finite(b)) return;
  open("line", css);
  attribute("x1", a.x);
  attribute("y1", a.y);
  attribute("x2", b.x);
  attribute("y2", b.y);
  close("line", tip);
}

void Drawing::polyline(std::span<const Place> places, std::string_view css, std::string_view tip) {
  std::string path;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!finite(places[i])) continue;
    const bool begins = i == 0 || !finite(places[i - 1]);
    const bool ends = i + 1 == places.size() || !finite(places[i + 1]);
    path += fmt::format("{}{} {}", begins ? "M" : "L", pixels(places[i].x), pixels(places[i].y));
    if (begins && ends) path += "h0";  // a round line cap makes a dot of it
  }
  if (path.empty()) return;
  open("path", css);
  body_ += fmt::format(" d=\"{}\"", path);
  close("path", tip);
}

void Drawing::band(std::span<const Place> upper, std::span<const Place> lower, std::string_view css) {
  std::string path;
  const auto add = [&](Place place) {
    if (finite(place)) path += fmt::format("{}{} {}", path.empty() ? "M" : "L", pixels(place.x), pixels(place.y));
  };
  for (const Place place : upper) add(place);
  for (std::size_t i = lower.size(); i-- > 0;) add(lower[i]);
  if (path.empty()) return;
  open("path", css);
  body_ += fmt::format(" d=\"{}Z\"", path);
  close("path", {});
}

void Drawing::rectangle(Place corner, double width, double height, std::string_view css, std::string_view tip) {
  if (!finite(corner) || !(width >= 0) || !(height >= 0)) return;
  open("rect", css);
  attribute("x", corner.x);
  attribute("y", corner.y);
  attribute("width", width);
  attribute("height", height);
  close("rect", tip);
}

void Drawing::circle(Place centre, double radius, std::string_view css, std::string_view tip) {
  if (!finite(centre)) return;
  open("circle", css);
  attribute("cx", centre.x);
  attribute("cy", centre.y);
  attribute("r", radius);
  close("circle", tip);
}

void Drawing::diamond(Place centre, double radius, std::string_view css, std::string_view tip) {
  if (!finite(centre)) return;
  open("path", css);
  const std::string r = pixels(radius);
  body_ +=
      fmt::format(" d=\"M{} {}l{} {}l-{} {}l-{} -{}Z\"", pixels(centre.x), pixels(centre.y - radius), r, r, r, r, r, r);
  close("path", tip);
}

void Drawing::text(Place at, std::string_view text, std::string_view css, Anchor anchor) {
  static constexpr std::array<std::string_view, 3> kAnchors = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  open("text", css);
  attribute("x", at.x);
  attribute("y", at.y);
  body_ += fmt::format("{}>{}</text>\n", kAnchors[static_cast<std::size_t>(anchor)], escape_xml(text));
}

void Drawing::vertical_text(Place at, std::string_view text, std::string_view css) {
  open("text", css);
  body_ += fmt::format(" transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n", pixels(at.x),
                       pixels(at.y), escape_xml(text));
}

void Drawing::place(const Drawing& inner, Place corner) {
  body_ += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", pixels(corner.x), pixels(corner.y), inner.body_);
}

std::string Drawing::svg(std::string_view id, std::string_view title, std::string_view description,
                         std::string_view style) const {
  std::string inner_style;
  if (!style.empty())
    inner_style = fmt::format("<style>\n{}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n", style);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" "
      "role=\"img\" aria-labelledby=\"{}-title {}-text\">\n<title id=\"{}-title\">{}</title>\n<desc "
      "id=\"{}-text\">{}</desc>\n{}{}</svg>\n",
      pixels(width_), pixels(height_), pixels(width_), pixels(height_), id, id, id, escape_xml(title), id,
      escape_xml(description), inner_style, body_);
}

void draw_x_axis(Drawing& drawing, const Frame& frame, const Scale& scale, std::string_view label, bool grid,
                 int count) {
  const auto ticks = scale.ticks(count);
  const auto labels = tick_labels(scale, ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double x = scale(ticks[i]);
    if (grid) drawing.line({x, frame.corner.y}, {x, frame.bottom()}, "grid");
    drawing.line({x, frame.bottom()}, {x, frame.bottom() + 4}, "axis");
    drawing.text({x, frame.bottom() + 18}, labels[i], "small muted", Anchor::middle);
  }
  drawing.line({frame.corner.x, frame.bottom()}, {frame.right(), frame.bottom()}, "axis");
  drawing.text({frame.corner.x + frame.width / 2, frame.bottom() + 38}, label, "muted", Anchor::middle);
}

void draw_y_axis(Drawing& drawing, const Frame& frame, const Scale& scale, std::string_view label, int count) {
  const auto ticks = scale.ticks(count);
  const auto labels = tick_labels(scale, ticks);
  double widest = 0;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double y = scale(ticks[i]);
    drawing.line({frame.corner.x, y}, {frame.right(), y}, "grid");
    drawing.text({frame.corner.x - 8, y + 4}, labels[i], "small muted", Anchor::end);
    widest = std::max(widest, text_width(labels[i], 12));
  }
  drawing.vertical_text({frame.corner.x - widest - 18, frame.corner.y + frame.height / 2}, label, "muted");
}

double text_width(std::string_view text, double size) {
  return static_cast<double>(text_columns(text)) * size * 0.56;
}

namespace {

struct Colour {
  std::string_view light, dark;
};

// Groups: migrated is blue, baseline (the reference) grey, further groups by values follow. Sites keep clear of both.
// Chosen to be told apart with the common colour-vision deficiencies (after Okabe and Ito, 2008).
constexpr std::array<Colour, kGroupColours> kGroups = {{{"#1f62d0", "#6ea8ff"},
                                                        {"#5d6673", "#b3bcc8"},
                                                        {"#c44e00", "#ff9a52"},
                                                        {"#0b7a5b", "#3ecfa0"},
                                                        {"#99307a", "#ee8ccb"},
                                                        {"#946c00", "#e3b93a"},
                                                        {"#0e7c94", "#5bcbe0"},
                                                        {"#7b4b33", "#cf9a7c"}}};

struct SiteColour {
  std::string_view fill, text;
};

// Mid-tones that stand on white and on black alike, so they have no dark form.
constexpr std::array<SiteColour, kSiteColours> kSites = {{{"#0f8f70", "#ffffff"},
                                                          {"#eba41d", "#241a00"},
                                                          {"#b0468c", "#ffffff"},
                                                          {"#63b7e6", "#06202f"},
                                                          {"#cf5a1b", "#ffffff"},
                                                          {"#7b6ee0", "#ffffff"},
                                                          {"#b3ac3f", "#201e00"},
                                                          {"#8d5f4d", "#ffffff"}}};

}  // namespace

std::string chart_style() {
  std::string css =
      "svg.chart{font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif}\n"
      "svg.chart text{fill:#1c2128}\nsvg.chart .muted{fill:#57606a}\nsvg.chart .small{font-size:12px}\n"
      "svg.chart .strong{font-weight:600}\nsvg.chart .heading{font-size:15px;font-weight:600}\n"
      "svg.chart .paper{fill:#ffffff}\n"
      ".grid{stroke:#e4e8ec;stroke-width:1}\n.axis{stroke:#8b949e;stroke-width:1}\n"
      ".zero{fill:none;stroke:#57606a;stroke-width:1.25;stroke-dasharray:4 3}\n"
      ".line,.thin,.faint{fill:none;stroke:currentColor;stroke-linejoin:round;stroke-linecap:round}\n"
      ".line{stroke-width:2.5}\n.thin{stroke-width:1.1;opacity:.5}\n.faint{stroke-width:1.1;opacity:.5;stroke-"
      "dasharray:1 4}\n"
      ".band{fill:currentColor;opacity:.14}\n.dot,.block{fill:currentColor}\n"
      ".ring{fill:none;stroke:currentColor;stroke-width:1.5}\n.soft{opacity:.45}\n"
      ".open{fill:none;stroke:currentColor;stroke-width:1.5;stroke-dasharray:3 2}\n"
      ".tick{stroke:currentColor;stroke-width:2.5}\n.ink{color:#1c2128}\n.mark{fill:#ffffff;stroke:#1c2128}\n";
  std::string dark =
      "svg.chart text{fill:#e6edf3}\nsvg.chart .muted{fill:#9da7b3}\nsvg.chart .paper{fill:#0d1117}\n"
      ".grid{stroke:#262c36}\n.axis{stroke:#6e7681}\n.zero{stroke:#9da7b3}\n.ink{color:#e6edf3}\n.band{opacity:.22}\n";
  for (std::size_t i = 0; i < kGroups.size(); ++i) {
    css += fmt::format(".g{}{{color:{}}}\n", i, kGroups[i].light);
    dark += fmt::format(".g{}{{color:{}}}\n", i, kGroups[i].dark);
  }
  css += ".gx,.sx{color:#9aa3ad}\n";
  for (std::size_t i = 0; i < kSites.size(); ++i)
    css += fmt::format(".s{0}{{color:{1}}}\nsvg.chart .t{0}{{fill:{2}}}\n", i, kSites[i].fill, kSites[i].text);
  css += "svg.chart .tx{fill:#10151b}\n";
  return css + "@media (prefers-color-scheme:dark){\n" + dark + "}\n";
}

}  // namespace godwit::report
