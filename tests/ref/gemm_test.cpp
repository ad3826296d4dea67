// gemm_test.cpp - products with several tokens: each token's rows are what gemv gives for it, and nothing else is written.
#include <gtest/gtest.h>

#include <cstring>

#include "kern/ref.h"
#include "ref/bits.h"
#include "ref/panels.h"

namespace nyb::test {
namespace {

constexpr size_t kPanels = 2, kTokens = 3, kRows = 16 * kPanels, kXGap = 2, kYGap = 5;
constexpr float kUntouched = -7.5f;

template <class X, class Gemv>
void rows_are_those_of_gemv(void (*gemm)(const GemmArgs*), GemmArgs args, const std::vector<X>& x, const Gemv& gemv) {
  args.x = x.data();
  args.panels = kPanels;
  args.tokens = kTokens;
  args.x_stride = args.groups + kXGap;
  args.y_stride = kRows + kYGap;
  std::vector<float> y(kTokens * args.y_stride, kUntouched), want = y;
  args.y = y.data();
  gemm(&args);
  for (size_t t = 0; t < kTokens; ++t) gemv(x.data() + t * args.x_stride, want.data() + t * args.y_stride);
  EXPECT_EQ(std::memcmp(y.data(), want.data(), y.size() * sizeof(float)), 0);
  EXPECT_NE(std::memcmp(y.data(), y.data() + args.y_stride, kRows * sizeof(float)), 0) << "the tokens differ";
}

TEST(Gemm, RowsOfQuantizedTypes) {
  Random rng(40);
  constexpr size_t groups = 8;
  const std::vector<QxGroup> x = random_groups(rng, kTokens * (groups + kXGap), 0);
  const std::vector<int8_t> q8 = random_ints(rng, kRows * groups * 32, -128, 127), q4 = random_ints(rng, q8.size(), -8, 7);
  std::vector<uint16_t> scales(kRows * groups);
  for (uint16_t& s : scales) s = static_cast<uint16_t>(rng.below(0x3c00));
  std::vector<float> row_scale(kRows);
  for (float& s : row_scale) s = rng.uniform(0.1f, 2.0f);

  const auto w8 = panels_q8(q8, kRows, groups);
  rows_are_those_of_gemv(ref::gemm_q8, {.w = w8.data(), .row_scale = row_scale.data(), .groups = groups}, x,
                         [&](const QxGroup* in, float* y) { ref::gemv_q8(w8.data(), row_scale.data(), in, y, groups, kPanels); });
  const auto check = [&](auto* gemm, auto* gemv, const std::vector<uint8_t>& w) {
    rows_are_those_of_gemv(gemm, {.w = w.data(), .groups = groups}, x,
                           [&](const QxGroup* in, float* y) { gemv(w.data(), in, y, groups, kPanels); });
  };
  check(ref::gemm_q4, ref::gemv_q4, panels_q4(q4, scales, kRows, groups));
  check(ref::gemm_q80, ref::gemv_q80, panels_q80(q8, scales, kRows, groups));
  std::vector<uint8_t> any(kPanels * 3360);
  for (uint8_t& b : any) b = static_cast<uint8_t>(rng.below(0x3c));  // as f16, no infinity
  check(ref::gemm_q4k, ref::gemv_q4k, any);
  check(ref::gemm_q6k, ref::gemv_q6k, any);
}

TEST(Gemm, RowsOfFloats) {
  Random rng(41);
  constexpr size_t cols = 11;
  std::vector<float> w(kRows * cols), x(kTokens * (cols + kXGap));
  for (float& v : w) v = rng.normal();
  for (float& v : x) v = rng.normal();
  const auto panels = panels_f32(w, kRows, cols);
  rows_are_those_of_gemv(ref::gemm_f32, {.w = panels.data(), .groups = cols}, x,
                         [&](const float* in, float* y) { ref::gemv_f32(panels.data(), in, y, cols, kPanels); });
}

}  // namespace
}  // namespace nyb::test
