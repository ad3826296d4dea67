// The choice of an order of reading by measurement.
#include "engine/read_order.h"

#include <gtest/gtest.h>

#include <chrono>

#include "engine/weights.h"
#include "kern/cpu.h"

namespace nyb {
namespace {
using namespace test;

std::unique_ptr<Model> model(TType type, uint32_t layers, uint32_t ffn) {
  const ModelShape s{.layers = layers, .dim = 256, .heads = 4, .kv_heads = 2, .head_dim = 64, .ffn = ffn, .vocab = 100, .ctx = 64};
  return make_model(random_weights(s, true, 9), all(type));
}

void quick(const void*, const float*, const QxGroup*, float*, size_t, size_t) {}
void slow(const void*, const float*, const QxGroup*, float*, size_t, size_t) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  while (std::chrono::steady_clock::now() < end) {}
}

// Whose products of q8 take a millisecond in order, or by pages.
KernTable slow_table(bool pages) {
  KernTable t = kern_table(Path::avx2);
  t.gemv_q8 = pages ? quick : slow;
  t.gemv_q8_pages = pages ? slow : quick;
  return t;
}

TEST(ReadOrder, TheFasterOneIsTaken) {
  const auto m = model(TType::q8, 8, 512);
  const ReadOrder pages = read_order(slow_table(false), *m), order = read_order(slow_table(true), *m);
  EXPECT_TRUE(pages.table.pages);
  EXPECT_EQ(pages.table.gemv_q8, quick);
  EXPECT_GT(pages.other, 1);
  EXPECT_FALSE(order.table.pages);
  EXPECT_EQ(order.table.gemv_q8, quick);
  EXPECT_GT(order.other, 1);
  EXPECT_TRUE(read_order_told(pages).starts_with("weights read by pages, in order takes ")) << read_order_told(pages);
  EXPECT_TRUE(read_order_told(order).starts_with("weights read in order, by pages takes ")) << read_order_told(order);
}

TEST(ReadOrder, OnTheModelAsItIs) {
  if (const std::string lacks = cpu_missing(cpu_here(), Path::avx2); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  for (const TType type : {TType::q8, TType::q4}) {
    const auto m = model(type, 8, 1024);
    const ReadOrder o = read_order(kern_table(Path::avx2), *m);
    EXPECT_GT(o.other, 0.9);
    EXPECT_EQ(o.table.path, Path::avx2);
    EXPECT_EQ(o.table.gemv_q4, o.table.pages ? kern_table(Path::avx2).gemv_q4_pages : kern_table(Path::avx2).gemv_q4);
  }
}

TEST(ReadOrder, NothingToMeasure) {
  const auto few = model(TType::q8, 1, 512), small = model(TType::q8, 8, 128), floats = model(TType::f32, 8, 512);
  for (const Model* m : {few.get(), small.get(), floats.get()}) {
    const ReadOrder o = read_order(slow_table(false), *m);
    EXPECT_FALSE(o.table.pages);
    EXPECT_EQ(o.other, 0);
    EXPECT_EQ(read_order_told(o), "");
  }
  const auto m = model(TType::q8, 8, 512);
  EXPECT_EQ(read_order(kern_table(Path::ref), *m).other, 0);
}

}  // namespace
}  // namespace nyb
