// Products of panels with a vector.
#include "kern/cases.h"
#include "kern/cases_panels.h"
#include "kern/ref.h"

namespace nyb::test {
namespace {

template <auto Ref>
void gemv_q8(KernRun& run, const Shape& s, Kind kind) {
  const size_t groups = s[0], panels = s[1];
  const PanelInput in = panel_input(run, kQ8, groups, panels, 1, kind);
  std::vector<float> want(16 * panels);
  Ref(in.w.data(), in.row_scale.data(), in.x.data(), want.data(), groups, panels);
  run.open({{"groups", groups}, {"panels", panels}}, kind);
  const uint8_t* pw = run.in(in.w);
  const float* ps = run.in(in.row_scale);
  const QxGroup* px = run.in(in.x);
  float* y = run.out<float>(16 * panels);
  run.call(Ref, pw, ps, px, y, groups, panels);
  run.expect(y, want, "y");
}

// Panels that hold all their scales themselves
template <const Panels& P, auto Ref>
void gemv_panels(KernRun& run, const Shape& s, Kind kind) {
  const size_t groups = s[0], panels = s[1];
  const PanelInput in = panel_input(run, P, groups, panels, 1, kind);
  std::vector<float> want(16 * panels);
  Ref(in.w.data(), in.x.data(), want.data(), groups, panels);
  run.open({{"groups", groups}, {"panels", panels}}, kind);
  const uint8_t* pw = run.in(in.w);
  const QxGroup* px = run.in(in.x);
  float* y = run.out<float>(16 * panels);
  run.call(Ref, pw, px, y, groups, panels);
  run.expect(y, want, "y");
}

void gemv_f32(KernRun& run, const Shape& s, Kind kind) {
  const size_t cols = s[0], panels = s[1];
  const FloatInput in = float_input(run, cols, panels, 1, kind);
  std::vector<float> want(16 * panels);
  ref::gemv_f32(in.w.data(), in.x.data(), want.data(), cols, panels);
  run.open({{"cols", cols}, {"panels", panels}}, kind);
  const float *pw = run.in(in.w), *px = run.in(in.x);
  float* y = run.out<float>(16 * panels);
  run.call(ref::gemv_f32, pw, px, y, cols, panels);
  run.expect(y, want, "y");
}

// Many panels, as a model has them; too many instructions for traps.
template <auto Ref>
void q8_extra(KernRun& run) {
  if (!run.target().emulated) gemv_q8<Ref>(run, {18, 100, 0}, Kind::normal);
}
template <const Panels& P, auto Ref>
void panels_extra(KernRun& run) {
  if (!run.target().emulated) gemv_panels<P, Ref>(run, {P.unit_groups == 8 ? size_t{16} : 18, 100, 0}, Kind::normal);
}

}  // namespace

std::vector<KernelCase> gemv_cases() {
  using enum Kind;
  const std::vector<Kind> quantized = {normal, wide, tiny, large, zero, halfway, extreme, outlier};
  const auto shapes = grid(range(0, 9, {24}), range(0, 5)), few = grid({2, 3}, {3});
  const auto blocks = grid({0, 8, 16}, range(0, 5)), few_blocks = grid({8}, {4});
  // By pages the arithmetic is the same; panels begin and end as they do, over even and odd numbers of groups.
  const auto some = grid({0, 1, 2, 5, 24}, {0, 1, 4}), some_blocks = grid({0, 8, 16}, {0, 1, 3, 4});
  // In streams six panels go together, three before them, and one or two before those.
  const auto sixths = grid({0, 1, 2, 5, 24}, {0, 1, 2, 3, 4, 5, 8, 9, 12}), few_sixths = grid({3}, {10});
  const auto block_sixths = grid({0, 8, 16}, {0, 1, 2, 3, 4, 8, 9, 12}), few_block_sixths = grid({8}, {10});
  return {
      {"gemv_q8", shapes, few, quantized, gemv_q8<ref::gemv_q8>, q8_extra<ref::gemv_q8>},
      {"gemv_q4", shapes, few, quantized, gemv_panels<kQ4, ref::gemv_q4>, panels_extra<kQ4, ref::gemv_q4>},
      {"gemv_q80", shapes, few, quantized, gemv_panels<kQ80, ref::gemv_q80>, panels_extra<kQ80, ref::gemv_q80>},
      {"gemv_q4k", blocks, few_blocks, quantized, gemv_panels<kQ4k, ref::gemv_q4k>, panels_extra<kQ4k, ref::gemv_q4k>},
      {"gemv_q6k", blocks, few_blocks, quantized, gemv_panels<kQ6k, ref::gemv_q6k>, panels_extra<kQ6k, ref::gemv_q6k>},
      {"gemv_q8_pages", some, few, quantized, gemv_q8<ref::gemv_q8_pages>, q8_extra<ref::gemv_q8_pages>},
      {"gemv_q4_pages", some, few, quantized, gemv_panels<kQ4, ref::gemv_q4_pages>, panels_extra<kQ4, ref::gemv_q4_pages>},
      {"gemv_q80_pages", some, few, quantized, gemv_panels<kQ80, ref::gemv_q80_pages>, panels_extra<kQ80, ref::gemv_q80_pages>},
      {"gemv_q4k_pages", some_blocks, few_blocks, quantized, gemv_panels<kQ4k, ref::gemv_q4k_pages>,
       panels_extra<kQ4k, ref::gemv_q4k_pages>},
      {"gemv_q6k_pages", some_blocks, few_blocks, quantized, gemv_panels<kQ6k, ref::gemv_q6k_pages>,
       panels_extra<kQ6k, ref::gemv_q6k_pages>},
      {"gemv_q8_streams", sixths, few_sixths, quantized, gemv_q8<ref::gemv_q8_streams>, q8_extra<ref::gemv_q8_streams>},
      {"gemv_q4_streams", sixths, few_sixths, quantized, gemv_panels<kQ4, ref::gemv_q4_streams>,
       panels_extra<kQ4, ref::gemv_q4_streams>},
      {"gemv_q80_streams", sixths, few_sixths, quantized, gemv_panels<kQ80, ref::gemv_q80_streams>,
       panels_extra<kQ80, ref::gemv_q80_streams>},
      {"gemv_q4k_streams", block_sixths, few_block_sixths, quantized, gemv_panels<kQ4k, ref::gemv_q4k_streams>,
       panels_extra<kQ4k, ref::gemv_q4k_streams>},
      {"gemv_q6k_streams", block_sixths, few_block_sixths, quantized, gemv_panels<kQ6k, ref::gemv_q6k_streams>,
       panels_extra<kQ6k, ref::gemv_q6k_streams>},
      {"gemv_f32",
       grid(range(0, 40, {64, 100, 172, 256, 288}), range(0, 5)),
       grid({19}, {3}),
       {normal, wide, tiny, large, zero, halfway},
       gemv_f32,
       nullptr},
  };
}

}  // namespace nyb::test
