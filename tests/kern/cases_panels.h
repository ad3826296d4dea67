// cases_panels.h - matrices of panels and vectors of activations to multiply them by, made up.
#pragma once
#include <vector>

#include "kern/run.h"

namespace nyb::test {

// A type of panels: its bytes in units of a group, or of a block of eight.
struct Panels {
  size_t unit_groups, unit_bytes;
  void (*fill)(KernRun&, uint8_t* unit, Kind);
  // For halfway sums: zeros with scales of 1; then, within the unit, single weights of -1 to 7.
  void (*zero)(uint8_t* unit);
  void (*set)(uint8_t* unit, size_t group, size_t row, size_t col, int v);
};
extern const Panels kQ8, kQ4, kQ80, kQ4k, kQ6k;

struct PanelInput {
  std::vector<uint8_t> w;
  std::vector<float> row_scale;  // of q8; others do not look at it
  std::vector<QxGroup> x;        // token after token
};
// groups: a multiple of the type's
PanelInput panel_input(KernRun& run, const Panels& type, size_t groups, size_t panels, size_t tokens, Kind kind);

struct FloatInput {
  std::vector<float> w, x;
};
FloatInput float_input(KernRun& run, size_t cols, size_t panels, size_t tokens, Kind kind);

}  // namespace nyb::test
