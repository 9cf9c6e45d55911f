// A small builder of SVG charts: scales with nice ticks, axes, lines, bands, points, text.
//
// Drawings need no script and no outside resource; what marks mean on hover is in <title> elements. Colours come from
// the classes of chart_style(), which follows prefers-color-scheme. Every text is escaped here, so callers pass text
// as users wrote it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace godwit::report {

// From values to pixels. Non-finite values, and on a logarithmic scale values <= 0, map to NaN; drawing leaves them
// out.
class Scale {
 public:
  // `from` and `to` are the pixels of `low` and `high`; `from` may be larger (an upward axis). Equal ends are widened.
  static Scale linear(double low, double high, double from, double to);
  // low > 0.
  static Scale logarithmic(double low, double high, double from, double to);

  double operator()(double value) const;
  bool is_logarithmic() const { return logarithmic_; }
  double from() const { return from_; }
  double to() const { return to_; }
  // Round values inside the scale, about `count` of them: 1, 2 or 5 times a power of ten apart (Heckbert, "Nice
  // Numbers for Graph Labels", Graphics Gems, 1990); logarithmic: powers of ten, with 2 and 5 where there is room.
  std::vector<double> ticks(int count) const;

 private:
  bool logarithmic_ = false;
  double low_ = 0, high_ = 1, from_ = 0, to_ = 1;
};

// The ticks' texts, all with the same places: {"0.0", "0.5", "1.0"}.
std::vector<std::string> tick_labels(const Scale& scale, std::span<const double> ticks);

struct Place {
  double x = 0;
  double y = 0;
};

enum class Anchor : std::uint8_t { start, middle, end };

// Elements in the order in which they are added; later ones lie above. Units are pixels at scale 1. `css` names one or
// more classes of chart_style(); `tip`, where given, is shown on hover.
class Drawing {
 public:
  Drawing(double width, double height) : width_(width), height_(height) {}
  double width() const { return width_; }
  double height() const { return height_; }
  void set_height(double height) { height_ = height; }

  void line(Place a, Place b, std::string_view css, std::string_view tip = {});
  // A line through the places; it breaks where one is not finite. A place alone between breaks becomes a dot.
  void polyline(std::span<const Place> places, std::string_view css, std::string_view tip = {});
  // The area between two lines with the same x.
  void band(std::span<const Place> upper, std::span<const Place> lower, std::string_view css);
  void rectangle(Place corner, double width, double height, std::string_view css, std::string_view tip = {});
  void circle(Place centre, double radius, std::string_view css, std::string_view tip = {});
  void diamond(Place centre, double radius, std::string_view css, std::string_view tip = {});
  void text(Place at, std::string_view text, std::string_view css, Anchor anchor = Anchor::start);
  // Text that reads upwards, centred at the place.
  void vertical_text(Place at, std::string_view text, std::string_view css);
  // Another drawing, moved.
  void place(const Drawing& inner, Place corner);

  // One <svg> element that scales with its container. `id` is unique in the document; title and description are for
  // people who cannot see it. `style` is put inside where the drawing must stand alone.
  std::string svg(std::string_view id, std::string_view title, std::string_view description,
                  std::string_view style = {}) const;

 private:
  void open(std::string_view element, std::string_view css);
  void attribute(std::string_view name, double value);
  void close(std::string_view element, std::string_view tip);

  double width_, height_;
  std::string body_;
};

// The area of a chart inside its drawing, with its axes.
struct Frame {
  Place corner;  // top left
  double width = 0;
  double height = 0;

  double right() const { return corner.x + width; }
  double bottom() const { return corner.y + height; }
};

// Ticks, their texts and the label below the frame; `grid` draws a line through the frame at every tick.
void draw_x_axis(Drawing& drawing, const Frame& frame, const Scale& scale, std::string_view label, bool grid,
                 int count = 6);
// The same at the left of the frame, always with a grid.
void draw_y_axis(Drawing& drawing, const Frame& frame, const Scale& scale, std::string_view label, int count = 6);

// About how wide text of `size` pixels is in a sans-serif face.
double text_width(std::string_view text, double size = 13);

// The style sheet of every drawing: sizes, colours, and their dark forms. Classes: ink, muted, small, strong, grid,
// axis, zero; line, thin, faint, band, dot, ring, block, tick (drawn in the colour of a g or s class beside them);
// g0 … g7 and gx for groups; s0 … s7 and sx for sites; t0 … t7 and tx for text upon a block of that site.
std::string chart_style();
inline constexpr std::size_t kGroupColours = 8;
inline constexpr std::size_t kSiteColours = 8;

}  // namespace godwit::report
