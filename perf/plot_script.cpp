// plot_script.cpp - where everything in the picture is. Places are pixels from the top left; gnuplot wants shares of the whole from
// the bottom left.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include "common/app.h"
#include "kern/error.h"
#include "plot.h"
#include "probe/probe.h"
#include "text/utf8.h"

namespace nyb {
namespace {

constexpr int kRow = 20, kGroup = 24, kTitle = 30, kAxis = 44, kTop = 70, kMargin = 20;
constexpr int kBars = 420, kFigures = 150, kGap = 90, kRoof = 440, kRoofHeight = 400, kLegendRow = 20;
constexpr int kDashes[] = {1, 2, 4, 3, 5};    // gnuplot's dash types
constexpr int kPoints[] = {6, 4, 8, 12, 10};  // and hollow point types: circle, square, triangle, ...

// The colours of Okabe and Ito, which the colour-blind tell apart.
int colour(Path p) {
  switch (p) {
    case Path::ref: return 0x7f7f7f;
    case Path::avx2: return 0x0072b2;
    case Path::vnni: return 0xe69f00;
    case Path::vnni8: return 0xcc79a7;
    case Path::avx512: return 0x009e73;
  }
  return 0;
}

std::string threads_name(unsigned n) { return fmt::format("{} thread{}", n, n == 1 ? "" : "s"); }

// One line, and at most `most` bytes of it or so: the middle goes.
std::string brief(const std::string& text, size_t most) {
  std::string s = human_words(text);
  if (s.size() <= most) return s;
  size_t tail = s.size() - most / 3;
  while (tail < s.size() && (s[tail] & 0xc0) == 0x80) ++tail;
  const std::string_view head = std::string_view(s).substr(0, most - most / 3);
  return std::string(head.substr(0, utf8_valid_prefix(head))) + "…" + s.substr(tail);
}

std::string speed_text(double v) { return fmt::format("{:.{}f}", v, v < 10 ? 2 : 1); }

struct Group {
  std::string name;
  std::vector<const SweepRow*> rows;
};

// Of one model, and decode or prompt: their speeds have one scale.
struct Panel {
  std::string name;
  bool decode;
  std::vector<Group> groups;
  int height() const {
    int h = 0;
    for (const Group& g : groups) h += kGroup + kRow * static_cast<int>(g.rows.size());
    return h;
  }
};

// The one with this name, at the end where there was none.
template <class T>
T& with_name(std::vector<T>& all, T&& t) {
  for (T& known : all)
    if (known.name == t.name) return known;
  return all.emplace_back(std::move(t));
}

std::vector<Panel> panels_of(const Sweep& s) {
  std::vector<Panel> all;
  for (const SweepRow& r : s.rows) {
    const bool decode = r.gen != 0;
    Panel& p = with_name(
        all, Panel{fmt::format("{}, {} parameters: {}", brief(r.model, 56), human_count(r.params), decode ? "decode" : "prompt"),
                   decode,
                   {}});
    std::string name = fmt::format("{}, {}", r.type, r.test());
    if (r.kv != KvType::f32) name += fmt::format(", {} cache", kv_name(r.kv));
    if (!decode && r.chunk != SweepOptions{}.chunk) name += fmt::format(", chunk {}", r.chunk);
    if (r.load != probe_kind_name(ProbeMemory::Kind::file)) name += fmt::format(", {}", r.load);
    with_name(p.groups, Group{brief(name, 64), {}}).rows.push_back(&r);
  }
  return all;
}

template <class T>
size_t place_in(std::vector<T>& all, const T& t) {
  const auto it = std::find(all.begin(), all.end(), t);
  if (it != all.end()) return static_cast<size_t>(it - all.begin());
  all.push_back(t);
  return all.size() - 1;
}

class Script {
 public:
  Script(int width, int height) : width_(width), height_(height) {
    line("set encoding utf8");
    line(fmt::format("set terminal svg size {},{} noenhanced font 'Helvetica,Arial,sans-serif,12' background '#ffffff'", width,
                     height));
    line("set multiplot\nunset key\nset border lc rgb '#888888' lw 0.8\nset tics textcolor rgb '#333333' font ',10'");
  }
  void line(const std::string& s) { text_ += s + "\n"; }

  // What is between these edges is the next plot's.
  void area(int left, int right, int top, int bottom) {
    line(fmt::format("set lmargin at {}; set rmargin at {}; set tmargin at {}; set bmargin at {}", x(left), x(right), y(top),
                     y(bottom)));
  }
  enum class Align { left, right };
  void label(const std::string& s, int at_x, int at_y, int size, const char* grey = "#222222", Align align = Align::left) {
    std::string quoted = "'";
    for (const char c : s) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    line(fmt::format("set label {}' at {},{} {} font ',{}' textcolor rgb '{}'", quoted, x(at_x), y(at_y),
                     align == Align::left ? "left" : "right", size, grey));
  }
  // A table of numbers; `rows` are its lines.
  void data(const char* name, const std::string& rows) { text_ += fmt::format("{} << EOD\n{}EOD\n", name, rows); }
  // All the labels so far appear with it.
  void plot(const std::vector<std::string>& parts) { line(fmt::format("plot {}\nunset label", fmt::join(parts, ", \\\n  "))); }
  std::string end() { return text_ + "unset multiplot\n"; }

 private:
  std::string x(int px) const { return fmt::format("screen {:.6f}", static_cast<double>(px) / width_); }
  std::string y(int px) const { return fmt::format("screen {:.6f}", 1 - static_cast<double>(px) / height_); }
  int width_, height_;
  std::string text_;
};

constexpr const char* kGrid = "lc rgb '#dddddd' lw 0.6";
constexpr const char* kFaint = "#666666";

void draw_panel(Script& s, const Panel& p, int left, int top) {
  const int right = left + kBars, figures = right + 66, shares = right + 138, first = top + kTitle;
  s.label(p.name, kMargin, top + 16, 13);
  s.label("tok/s", figures, top + 18, 10, kFaint, Script::Align::right);
  if (p.decode) s.label("of ceiling", shares, top + 18, 10, kFaint, Script::Align::right);
  std::string rows;
  double most = 0;
  int at = 0;
  for (const Group& g : p.groups) {
    s.label(g.name, left + 4, first + at + kGroup - 9, 11, "#444444");
    at += kGroup;
    for (const SweepRow* r : g.rows) {
      const int middle = at + kRow / 2;
      const auto [low, high] = std::minmax_element(r->samples.begin(), r->samples.end());
      const double ceiling = p.decode ? r->ceiling() : 0;
      most = std::max({most, *high, ceiling});
      rows += fmt::format("{} {} {} {} {} {}\n", middle, r->speed(), *low, *high, ceiling > 0 ? fmt::format("{}", ceiling) : "NaN",
                          colour(r->path));
      s.label(fmt::format("{}, {}", path_name(r->path), threads_name(r->threads)), left - 8, first + middle, 11, "#222222",
              Script::Align::right);
      s.label(speed_text(r->speed()), figures, first + middle, 11, "#222222", Script::Align::right);
      if (ceiling > 0)
        s.label(fmt::format("{:.0f} %", 100 * r->share()), shares, first + middle, 11, "#222222", Script::Align::right);
      at += kRow;
    }
  }
  s.area(left, right, first, first + at);
  s.line(fmt::format("set border 1\nset xrange [0:{}]\nset yrange [{}:0]\nunset ytics\nset grid xtics {}", most * 1.04, at, kGrid));
  s.line("set xtics nomirror out scale 0.5 offset 0,0.4");
  s.data("$rows", rows);
  s.plot({"$rows using (0):1:(0):2:($1-7):($1+7):6 with boxxyerror fs solid noborder lc rgb var",
          "$rows using 2:1:3:4 with xerrorbars pt -1 lc rgb '#222222' lw 1.2",
          "$rows using 5:($1-9):(0):(18) with vectors nohead lc rgb '#000000' lw 2.5"});
}

// What the roofline and the legend below it share.
struct Roof {
  std::vector<Path> paths;
  std::vector<std::string> types;
  std::vector<unsigned> threads;
  std::vector<const SweepProbe*> probes;  // of the kinds of memory that weights were in
  bool kinds = false;                     // there is more than one
  double size(unsigned n) const {
    return 0.8 + 0.4 * static_cast<double>(std::find(threads.begin(), threads.end(), n) - threads.begin());
  }
  size_t names() const { return std::max(paths.size(), types.size()); }  // rows of the legend above those of its marks
  int legend_rows() const { return static_cast<int>(std::max(names() + 2, probes.size())); }
};

Roof roof_of(const Sweep& s) {
  Roof roof;
  std::vector<std::string> kinds;
  for (const SweepRow& r : s.rows) {
    place_in(roof.paths, r.path);
    place_in(roof.types, r.type);
    place_in(roof.threads, r.threads);
    place_in(kinds, r.load);
  }
  std::sort(roof.threads.begin(), roof.threads.end());
  for (const SweepProbe& p : s.probes)
    if (p.weights && median(p.samples) > 0) roof.probes.push_back(&p);
  roof.kinds = kinds.size() > 1;
  return roof;
}

std::string line_style(size_t probe) {
  return fmt::format("with lines lw 1.5 dt {} lc rgb '#555555'", kDashes[probe % std::size(kDashes)]);
}

void draw_legend(Script& s, const Roof& roof, int left, int top) {
  constexpr int weights = 130, reading = 270, swatch = 28, width = kRoof + 50;
  const int height = 30 + kLegendRow * roof.legend_rows();
  const auto row = [](size_t i) { return 30 + kLegendRow * static_cast<int>(i); };
  s.label("kernel path", left, top + 8, 11, kFaint);
  s.label("weights", left + weights, top + 8, 11, kFaint);
  if (!roof.probes.empty()) s.label("reading", left + reading, top + 8, 11, kFaint);
  s.area(left, left + width, top, top + height);
  s.line(fmt::format("unset border\nunset tics\nunset grid\nset xrange [0:{}]\nset yrange [{}:0]", width, height));
  std::string boxes, points;
  for (size_t i = 0; i < roof.paths.size(); ++i) {
    boxes += fmt::format("6 {} 20 {} {}\n", row(i) - 6, row(i) + 6, colour(roof.paths[i]));
    s.label(std::string(path_name(roof.paths[i])), left + swatch, top + row(i), 11);
  }
  for (size_t i = 0; i < roof.types.size(); ++i) {
    points += fmt::format("{} {} {} 1.2\n", weights + 10, row(i), kPoints[i % std::size(kPoints)]);
    s.label(brief(roof.types[i], 18), left + weights + swatch, top + row(i), 11);
  }
  const size_t marks = roof.names();
  s.data("$spread", fmt::format("13 {} 6 20\n", row(marks)));
  s.label("least to greatest sample", left + swatch, top + row(marks), 11);
  s.data("$ceiling", fmt::format("13 {}\n", row(marks + 1)));
  s.label("ceiling: tok/s that the reading allows", left + swatch, top + row(marks + 1), 11);
  std::vector<std::string> parts = {"$boxes using 1:2:1:3:2:4:5 with boxxyerror fs solid noborder lc rgb var",
                                    "$points using 1:2:4:3 with points ps var pt var lw 2 lc rgb '#333333'",
                                    "$spread using 1:2:3:4 with xerrorbars pt -1 lc rgb '#222222' lw 1.2",
                                    "$ceiling using 1:($2-9):(0):(18) with vectors nohead lc rgb '#000000' lw 2.5"};
  s.data("$boxes", boxes);
  s.data("$points", points);
  std::string sizes;
  for (size_t i = 0; i < roof.probes.size(); ++i) {
    const SweepProbe& p = *roof.probes[i];
    s.data(fmt::format("$line{}", i).c_str(), fmt::format("{} {}\n{} {}\n", reading, row(i), reading + 36, row(i)));
    parts.push_back(fmt::format("$line{} {}", i, line_style(i)));
    sizes += fmt::format("{} {} {}\n", reading + 18, row(i), roof.size(p.threads));
    s.label(fmt::format("{}: {:.1f} GB/s{}", threads_name(p.threads), median(p.samples),
                        roof.kinds ? ", " + brief(p.kind, 16) : std::string()),
            left + reading + 44, top + row(i), 11);
  }
  if (!sizes.empty()) {
    s.data("$sizes", sizes);
    parts.emplace_back("$sizes using 1:2:3 with points pt 6 ps var lw 2 lc rgb '#333333'");
  }
  s.plot(parts);
}

// 1, 2, 5, 10, ... in the range; only powers of ten where it is wide.
std::string ticks(double low, double high) {
  const int first = static_cast<int>(std::floor(std::log10(low))), last = static_cast<int>(std::ceil(std::log10(high)));
  std::vector<std::string> all;
  for (int k = first; k <= last; ++k)
    for (const int step : {1, 2, 5}) {
      const double v = step * std::pow(10, k);
      if (v >= low && v <= high && (step == 1 || last - first <= 4)) all.push_back(fmt::format("'{:g}' {:g}", v, v));
    }
  return fmt::format("({})", fmt::join(all, ", "));
}

void draw_roof(Script& s, const Sweep& sweep, const Roof& roof, int left, int top) {
  std::string points;
  double x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = 0;
  for (const SweepRow& r : sweep.rows) {
    const double x = r.macs_per_byte(), y = r.gmacs();
    if (!std::isfinite(x) || !std::isfinite(y) || x <= 0 || y <= 0) continue;
    x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
    const auto type = static_cast<size_t>(std::find(roof.types.begin(), roof.types.end(), r.type) - roof.types.begin());
    points += fmt::format("{} {} {} {} {}\n", x, y, roof.size(r.threads), kPoints[type % std::size(kPoints)], colour(r.path));
  }
  s.label("Roofline", left, top + 16, 13);
  s.label("on a slanted line, reading memory is all the time; below it, something else takes some", left, top + 34, 11, kFaint);
  if (points.empty()) x0 = x1 = y0 = y1 = 1;
  x0 /= 2, y0 /= 2, y1 *= 2;
  x1 = std::max(2 * x1, 8 * x0);
  for (const SweepProbe* p : roof.probes) y1 = std::max(y1, 1.3 * median(p->samples) * 2 * x0);
  y1 = std::max(y1, 8 * y0);
  s.area(left + 50, left + 50 + kRoof, top + kTitle + 20, top + kTitle + 20 + kRoofHeight);
  s.line(fmt::format("set border 3\nset logscale xy\nset xrange [{}:{}]\nset yrange [{}:{}]", x0, x1, y0, y1));
  s.line(
      fmt::format("set xtics {} nomirror out scale 0.5 offset 0,0.4 font ',10' textcolor rgb '#333333'\n"
                  "set ytics {} nomirror out scale 0.5 font ',10' textcolor rgb '#333333'",
                  ticks(x0, x1), ticks(y0, y1)));
  s.line(fmt::format("set grid xtics ytics {}", kGrid));
  s.line("set xlabel 'multiply-adds per byte read' font ',11' offset 0,0.4\nset ylabel 'GMAC/s' font ',11' offset 1,0");
  s.data("$points", points.empty() ? "NaN NaN 1 1 0\n" : points);
  std::vector<std::string> parts;
  for (size_t i = 0; i < roof.probes.size(); ++i)
    parts.push_back(fmt::format("{}*x {}", median(roof.probes[i]->samples), line_style(i)));
  parts.emplace_back("$points using 1:2:3:4:5 with points ps var pt var lc rgb var lw 2");
  s.plot(parts);
}

}  // namespace

std::string plot_script(const Sweep& sweep, const Machine& m) {
  if (sweep.rows.empty()) throw Error("there is no row to draw");
  const std::vector<Panel> panels = panels_of(sweep);
  const Roof roof = roof_of(sweep);
  size_t longest = 0;
  for (const SweepRow& r : sweep.rows) longest = std::max(longest, path_name(r.path).size() + threads_name(r.threads).size() + 2);
  const int bars = 34 + static_cast<int>(7 * longest), side = bars + kBars + kFigures + kGap - 50;
  const int legend = kTop + kTitle + 20 + kRoofHeight + 62;
  int height = kTop;
  for (const Panel& p : panels) height += kTitle + p.height() + kAxis;
  height = std::max(height, legend + 30 + kLegendRow * roof.legend_rows() + kMargin);
  Script s(side + 50 + kRoof + kMargin, height);
  s.label(fmt::format("{}, {} CPU{}, last cache {} MiB", brief(m.cpu, 80), m.cpus, m.cpus == 1 ? "" : "s", m.last_cache >> 20),
          kMargin, 24, 14);
  s.label(brief(made_by(m), 120), kMargin, 46, 11, kFaint);
  int top = kTop;
  for (const Panel& p : panels) {
    draw_panel(s, p, bars, top);
    top += kTitle + p.height() + kAxis;
  }
  draw_legend(s, roof, side, legend);
  draw_roof(s, sweep, roof, side, kTop);
  return s.end();
}

}  // namespace nyb
