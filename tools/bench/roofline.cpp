// `bench --svg`: multiply-adds a second against multiply-adds a byte, both as logarithms, under the roof of what the
// machine reads and multiplies (Williams, Waterman, Patterson: Roofline, 2009). A panel a thread count.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/bench/report.hpp"
#include "tools/messages.hpp"

namespace minnow {
namespace {

constexpr double kWidth = 980;
constexpr double kPanel = 560;  // height of one
constexpr double kLeft = 70;
constexpr double kRight = 250;  // room for labels
constexpr double kTop = 50;
constexpr double kBottom = 50;
constexpr double kLine = 14;  // of labels

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

// "0.01", "100": powers of ten.
std::string power_text(int exponent) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", std::pow(10, exponent));
  return text;
}

// One panel: its axes and where numbers fall on them.
struct Axes {
  double top;
  int x_low, x_high, y_low, y_high;  // powers of ten

  double x(double value) const {
    return kLeft + (std::log10(value) - x_low) / (x_high - x_low) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    const double height = kPanel - kTop - kBottom;
    return top + kTop + height - (std::log10(value) - y_low) / (y_high - y_low) * height;
  }
};

struct Point {
  double x, y;  // on the page
  bool prefill;
  std::string label;
  double label_y;
};

std::vector<const OperationResult*> of_threads(const BenchResult& result, std::uint32_t threads) {
  std::vector<const OperationResult*> all;
  for (const OperationResult& o : result.operations) {
    if (o.threads == threads) all.push_back(&o);
  }
  return all;
}

// The powers of ten around all that is shown.
Axes axes_for(const BenchResult& result, const LimitResult& limit, double top) {
  double x_low = 1, x_high = 1, y_low = limit.multiply.median, y_high = 0;
  y_high = std::max(limit.multiply_float.median, limit.multiply_int8.median);
  for (const OperationResult* const o : of_threads(result, limit.threads)) {
    x_low = std::min(x_low, o->macs / o->bytes);
    x_high = std::max(x_high, o->macs / o->bytes);
    y_low = std::min(y_low, o->macs_a_second());
    y_high = std::max(y_high, o->macs_a_second());
  }
  x_high = std::max(x_high, y_high / limit.read.median);
  const auto down = [](double v) { return static_cast<int>(std::floor(std::log10(v))); };
  const auto up = [&down](double v) { return down(v) + 1; };
  return {top, down(x_low), up(x_high), down(y_low / 1e9), up(y_high / 1e9)};
}

void draw_grid(const Axes& a, std::string* out) {
  const double left = kLeft;
  const double right = kWidth - kRight;
  const double bottom = a.top + kPanel - kBottom;
  for (int e = a.x_low; e <= a.x_high; ++e) {
    const double x = a.x(std::pow(10, e));
    append(out, "<line class='grid' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n", x, a.top + kTop, x, bottom);
    append(out, "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n", x, bottom + 16, power_text(e).c_str());
  }
  for (int e = a.y_low; e <= a.y_high; ++e) {
    const double y = a.y(std::pow(10, e));
    append(out, "<line class='grid' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n", left, y, right, y);
    append(out, "<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>\n", left - 6, y + 4, power_text(e).c_str());
  }
  append(out, "<text x='%.1f' y='%.1f' text-anchor='middle'>multiply-adds a byte</text>\n", (left + right) / 2,
         bottom + 36);
  append(out, "<text transform='translate(20 %.1f) rotate(-90)' text-anchor='middle'>GMAC/s</text>\n",
         a.top + kPanel / 2);
}

// The slope of the memory up to the highest peak, and a line for each peak from there on.
void draw_roof(const Axes& a, const LimitResult& limit, std::string* out) {
  const double read = limit.read.median / 1e9;
  const double peaks[] = {limit.multiply_float.median / 1e9, limit.multiply_int8.median / 1e9};
  const char* const names[] = {"f32", "int8"};
  const int above = peaks[0] > peaks[1] ? 0 : 1;  // the higher peak's name stands over its line, the other's under
  const double highest = peaks[above];
  const double lowest = std::max(std::pow(10, a.x_low), std::pow(10, a.y_low) / read);
  append(out, "<line class='roof' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n", a.x(lowest), a.y(read * lowest),
         a.x(highest / read), a.y(highest));
  append(out, "<text x='%.1f' y='%.1f' class='limit'>read %.1f GB/s</text>\n", a.x(lowest) + 16, a.y(read * lowest) - 4,
         read);
  for (int i = 0; i < 2; ++i) {
    append(out, "<line class='roof' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n", a.x(peaks[i] / read), a.y(peaks[i]),
           kWidth - kRight, a.y(peaks[i]));
    append(out, "<text x='%.1f' y='%.1f' class='limit' text-anchor='end'>%s %.1f GMAC/s</text>\n", kWidth - kRight - 4,
           a.y(peaks[i]) + (i == above ? -5 : 15), names[i], peaks[i]);
  }
}

// Labels stand in one column at the right, in the order of the points' heights, none over another.
void place_labels(const Axes& a, std::vector<Point>* points) {
  std::sort(points->begin(), points->end(), [](const Point& p, const Point& q) { return p.y < q.y; });
  double free = a.top + kTop;
  for (Point& p : *points) {
    p.label_y = std::max(p.y, free);
    free = p.label_y + kLine;
  }
  double limit = a.top + kPanel - 10;
  for (auto p = points->rbegin(); p != points->rend(); ++p) {
    p->label_y = std::min(p->label_y, limit);
    limit = p->label_y - kLine;
  }
}

void draw_points(const BenchResult& result, const Axes& a, std::uint32_t threads, std::string* out) {
  std::vector<Point> points;
  for (const OperationResult* const o : of_threads(result, threads)) {
    char rate[32];
    std::snprintf(rate, sizeof rate, " %.3g", o->macs_a_second() / 1e9);
    points.push_back({a.x(o->macs / o->bytes), a.y(o->macs_a_second() / 1e9), o->phase == "prefill",
                      o->name + ", " + o->phase + rate, 0});
  }
  place_labels(a, &points);
  const double labels = kWidth - kRight + 20;
  for (const Point& p : points) {
    append(out, "<polyline class='lead' points='%.1f,%.1f %.1f,%.1f %.1f,%.1f'/>\n", p.x, p.y, labels - 14, p.label_y,
           labels - 4, p.label_y);
    append(out, "<circle class='%s' cx='%.1f' cy='%.1f' r='4'/>\n", p.prefill ? "prefill" : "decode", p.x, p.y);
    append(out, "<text x='%.1f' y='%.1f'>%s</text>\n", labels, p.label_y + 4, escaped(p.label).c_str());
  }
}

}  // namespace

std::string roofline_svg(const BenchResult& result) {
  std::string out;
  const double height = kPanel * static_cast<double>(result.limits.size()) + 30;
  append(&out, "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' viewBox='0 0 %.0f %.0f'>\n", kWidth,
         height, kWidth, height);
  out +=
      "<style>text{font:12px sans-serif;fill:#222}.title{font-size:15px;font-weight:bold}.limit{fill:#555}"
      ".grid{stroke:#ddd}.roof{stroke:#333;stroke-width:2}.lead{stroke:#bbb;fill:none}.decode{fill:#1b6ca8}"
      ".prefill{fill:#d9822b}</style>\n<rect width='100%' height='100%' fill='#fff'/>\n";
  double top = 0;
  for (const LimitResult& limit : result.limits) {
    const std::string title = result.model + ": " + result.type + ", " + result.kernels + ", " +
                              std::to_string(limit.threads) + plural(limit.threads, " thread");
    append(&out, "<text class='title' x='%.0f' y='%.1f'>", kLeft, top + 30);
    out += escaped(title) + "</text>\n";
    const Axes axes = axes_for(result, limit, top);
    draw_grid(axes, &out);
    draw_roof(axes, limit, &out);
    draw_points(result, axes, limit.threads, &out);
    top += kPanel;
  }
  append(&out, "<circle class='decode' cx='%.0f' cy='%.1f' r='4'/><text x='%.0f' y='%.1f'>decode: one token</text>\n",
         kLeft, top + 10, kLeft + 10, top + 14);
  append(&out, "<circle class='prefill' cx='%.0f' cy='%.1f' r='4'/><text x='%.0f' y='%.1f'>prefill: a batch</text>\n",
         kLeft + 160, top + 10, kLeft + 170, top + 14);
  return out + "</svg>\n";
}

}  // namespace minnow
