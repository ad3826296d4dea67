// weights_test.cpp - random matrices of every type, as the measurements have them.
#include "weights.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <span>

namespace nyb {
namespace {

TEST(Weights, EveryTypeHasAKernelOfTheList) {
  EXPECT_EQ(gemv_name(TType::q80), "gemv_q80");
  EXPECT_EQ(gemv_name(TType::q4k), "gemv_q4k");
  for (const TType t : kMatrixTypes) {
    const auto list = kern_list();
    EXPECT_TRUE(std::any_of(list.begin(), list.end(), [&](const KernInfo& k) { return k.name == gemv_name(t); })) << gemv_name(t);
  }
}

// Products neither vanish nor grow, so that a sweep measures what a model does.
TEST(Weights, ProductsHaveTheSizeOfTheirInputs) {
  constexpr size_t rows = 64, cols = 1024;
  for (const TType t : kMatrixTypes) {
    const Memory memory(weight_bytes(t, rows, cols), Memory::Pages::small);
    const Tensor w = random_matrix(t, rows, cols, memory.data(), 3);
    Vectors v(cols, rows);
    mat_panels(kern_table(Path::ref), w, 0, rows / kPanelRows, v.in(), 1, v.y.data(), 0);
    double sum = 0;
    for (const float y : std::span(v.y.data(), v.y.size())) sum += static_cast<double>(y) * static_cast<double>(y);
    const double size = std::sqrt(sum / rows);  // inputs are uniform within -1..1: 0.577
    EXPECT_GT(size, 0.1) << ttype_name(t);
    EXPECT_LT(size, 3) << ttype_name(t);
  }
}

// As rows of the engine's do.
TEST(Weights, RowsOfTheOutputBeginOnLines) {
  for (const size_t rows : {16, 48, 1536}) {
    Vectors v(64, rows, 3);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(v.y.data()) % kAlign, 0u);
    EXPECT_EQ(v.y_stride * sizeof(float) % kAlign, 0u);
    EXPECT_GE(v.y_stride, rows);
    EXPECT_EQ(v.y.size(), 3 * v.y_stride);
  }
}

}  // namespace
}  // namespace nyb
