// stage_loads.h - a model's matrices loaded stage by stage, in the engine's pieces and order, without the arithmetic.
#pragma once
#include <array>
#include <functional>
#include <vector>
#include "engine/stage_clock.h"
#include "model/model.h"
#include "probe/panel_loads.h"

namespace nyb {

class StageLoads {
 public:
  using Seconds = std::array<double, kStages>;  // 0: a stage without a product

  // All of them must outlive it. Throws Error where a loop leaves out something of a layer or the head.
  StageLoads(const Model& m, const PanelLoads& loads, Pool& pool, size_t panels_together);

  void layers(Seconds& add);  // once through all layers: adds what it took
  void head(Seconds& add);

 private:
  using Body = std::function<uint64_t(size_t begin, size_t end)>;
  uint64_t run(size_t panels, const Body& body);
  uint64_t stage(Stage s, const LayerTensors& t);
  uint64_t row_of_matrices(const std::vector<const Tensor*>& all);
  uint64_t load(const Tensor& w, size_t from, size_t to) { return load_panels(loads_, w, from, to, x_); }

  const Model& m_;
  const PanelLoads& loads_;
  Pool& pool_;
  size_t together_;
  std::vector<float> values_;
  std::vector<QxGroup> groups_;
  MatIn x_;
  std::vector<uint64_t> sums_;  // a line a thread
};

}  // namespace nyb
