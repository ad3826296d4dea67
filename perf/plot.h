// plot.h - a picture of a sweep, by gnuplot.
#pragma once
#include <memory>
#include <string>
#include "machine.h"
#include "sweep.h"

namespace nyb {

class OutFile;

// The picture appears under its name when it is whole. What would stop it is found before anything is measured: the constructor
// throws Error where gnuplot is absent (with the package's name), where the name does not end in .svg, or the file cannot be made.
class Plot {
 public:
  explicit Plot(const std::string& path);
  ~Plot();
  Plot(const Plot&) = delete;
  Plot& operator=(const Plot&) = delete;
  // Throws Error where gnuplot fails; Interrupted.
  void draw(const Sweep& s, const Machine& m);

 private:
  std::string path_;
  std::unique_ptr<OutFile> file_;
};

// What gnuplot is given: bars of tok/s for each row, with the least and the greatest sample and the ceiling marked, a panel for
// each model and kind of test; and the roofline. Throws Error for a sweep without rows.
std::string plot_script(const Sweep& s, const Machine& m);

}  // namespace nyb
