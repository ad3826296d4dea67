// plot.cpp - gnuplot run on a script, its picture kept.
#include "plot.h"
#include <fmt/format.h>
#include <chrono>
#include "common/app.h"
#include "common/child.h"
#include "kern/error.h"
#include "model/out_file.h"

namespace nyb {
namespace {

constexpr std::chrono::seconds kPlotLimit{120};

}  // namespace

Plot::Plot(const std::string& path) : path_(path) {
  if (!path.ends_with(".svg"))
    throw UsageError(fmt::format("the picture is an SVG, so its name ends in .svg, not as '{}' does", human_words(path)));
  if (!child_found("gnuplot"))
    throw Error("--plot needs gnuplot, which is not there; install the package gnuplot-nox (apt-get install gnuplot-nox)");
  file_ = std::make_unique<OutFile>(path);
}

Plot::~Plot() = default;

void Plot::draw(const Sweep& s, const Machine& m) {
  // -d: without the settings of the user's own ~/.gnuplot
  const ChildResult r = run_child({"gnuplot", "-d", "-"}, plot_script(s, m), kPlotLimit);
  if (!r.good()) {
    err_write(child_said(r));
    throw Error(fmt::format("gnuplot {}, so there is no picture '{}'", child_fault(r, kPlotLimit), human_words(path_)));
  }
  if (!r.out.starts_with("<?xml") || r.out.find("</svg>") == std::string::npos) {
    err_write(child_said(r));
    throw Error(fmt::format("gnuplot drew no SVG, so there is no picture '{}'", human_words(path_)));
  }
  file_->write(0, r.out.data(), r.out.size());
  file_->commit();
}

}  // namespace nyb
