// Which gemv a product with one token runs.
#include "engine/matvec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "engine/weights.h"

namespace nyb {
namespace {
using namespace test;

size_t calls = 0;

// The reference, in streams by name; its kernels count their calls.
KernTable counted() {
  KernTable t = kern_table(Path::ref);
  t.order = Order::streams;
  t.gemv_q8 = [](const void* w, const float* scale, const QxGroup* x, float* y, size_t groups, size_t panels) {
    calls++;
    kern_table(Path::ref).gemv_q8(w, scale, x, y, groups, panels);
  };
  t.gemv_q4 = [](const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) {
    calls++;
    kern_table(Path::ref).gemv_q4(w, x, y, groups, panels);
  };
  return t;
}

TEST(MatPanels, FewerThanSixAreReadInOrder) {
  const KernTable table = counted();
  for (const TType type : {TType::q8, TType::q4}) {
    const ModelShape s{.layers = 1, .dim = 64, .heads = 1, .kv_heads = 1, .head_dim = 64, .ffn = 224, .vocab = 40, .ctx = 64};
    const auto m = make_model(random_weights(s, true, 3), all(type));
    const Tensor& w = *m->layers[0].gate;
    std::vector<float> values(w.cols, 0.5f);
    std::vector<QxGroup> x(groups_of(w.cols));
    ASSERT_EQ(kern_table(Path::ref).qx_vec(values.data(), x.data(), values.size()), 0);
    const MatIn in{values.data(), values.size(), x.data(), x.size()};
    for (size_t from = 0; from < 3; from++)
      for (size_t count = 1; from + count <= panels_of(w.rows); count++) {
        std::vector<float> got(count * kPanelRows), want(count * kPanelRows);
        mat_panels(kern_table(Path::ref), w, from, from + count, in, 1, want.data(), 0);
        calls = 0;
        mat_panels(table, w, from, from + count, in, 1, got.data(), 0);
        EXPECT_EQ(calls, count >= kStreams ? 1u : 0u) << count;
        EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0) << count;
      }
  }
}

}  // namespace
}  // namespace nyb
