// Which gemv a product with one token runs.
#include "engine/matvec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "engine/weights.h"

namespace nyb {
namespace {
using namespace test;

std::string ran;  // the kernels that were called, by name

// The reference, whose kernels leave their names.
KernTable named() {
  KernTable t = kern_table(Path::ref);
#define NAMED(kernel, params, args)    \
  t.kernel = [] params {               \
    ran += #kernel " ";                \
    kern_table(Path::ref).kernel args; \
  }
#define ALL_ORDERS(type, params, args)      \
  NAMED(gemv_##type, params, args);         \
  NAMED(gemv_##type##_pages, params, args); \
  NAMED(gemv_##type##_streams, params, args)
#define PANELS (const void* w, const QxGroup* x, float* y, size_t groups, size_t panels)
  ALL_ORDERS(q8, (const void* w, const float* scale, const QxGroup* x, float* y, size_t groups, size_t panels),
             (w, scale, x, y, groups, panels));
  ALL_ORDERS(q4, PANELS, (w, x, y, groups, panels));
  ALL_ORDERS(q80, PANELS, (w, x, y, groups, panels));
  ALL_ORDERS(q4k, PANELS, (w, x, y, groups, panels));
  ALL_ORDERS(q6k, PANELS, (w, x, y, groups, panels));
#undef PANELS
#undef ALL_ORDERS
#undef NAMED
  return t;
}

TEST(MatPanels, TheTypesGemvOfTheTablesOrderInStreamsFromSixPanelsOn) {
  const ModelShape s{.layers = 1, .dim = 256, .heads = 4, .kv_heads = 2, .head_dim = 64, .ffn = 256, .vocab = 40, .ctx = 64};
  for (const auto& [type, name] : {std::pair{TType::q8, "gemv_q8"},
                                   {TType::q4, "gemv_q4"},
                                   {TType::q80, "gemv_q80"},
                                   {TType::q4k, "gemv_q4k"},
                                   {TType::q6k, "gemv_q6k"}}) {
    const auto m = make_model(random_weights(s, true, 3), all(type));
    const Tensor& w = *m->layers[0].gate;
    std::vector<float> values(w.cols, 0.5f);
    std::vector<QxGroup> x(groups_of(w.cols));
    ASSERT_EQ(kern_table(Path::ref).qx_vec(values.data(), x.data(), values.size()), 0);
    const MatIn in{values.data(), values.size(), x.data(), x.size()};
    for (const Order o : kAllOrders)
      for (size_t count = 1; count <= panels_of(w.rows); count++) {
        std::vector<float> got(count * kPanelRows), want(count * kPanelRows);
        mat_panels(kern_table(Path::ref), w, 0, count, in, 1, want.data(), 0);
        ran.clear();
        mat_panels(with_order(named(), o), w, 0, count, in, 1, got.data(), 0);
        const char* form = o == Order::pages ? "_pages" : o == Order::streams && count >= 6 ? "_streams" : "";
        EXPECT_EQ(ran, std::string(name) + form + " ") << order_name(o) << ", " << count << " panels";
        EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0) << ran << count;
      }
  }
}

}  // namespace
}  // namespace nyb
