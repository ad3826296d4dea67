// The choice of an order of reading by measurement.
#include "engine/read_order.h"

#include <gtest/gtest.h>

#include <chrono>

#include "engine/matvec.h"
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

std::vector<GemmArgs> asked;
void keep(const GemmArgs* args) { asked.push_back(*args); }

std::vector<GemmArgs> asked_by(KernTable kern, const Tensor& w, size_t tokens) {
  kern.gemm_q8 = keep;
  asked.clear();
  float y = 0;
  mat_panels(kern, w, 0, panels_of(w.rows), {}, tokens, &y, 0);
  return asked;
}

// Products of several tokens ask for the panels that come next, a line for each line that passes, where reading by pages is faster.
TEST(ReadOrder, TheNextPanelsAreAskedFor) {
  const auto m = model(TType::q8, 1, 2048);
  const Tensor& w = *m->layers[0].gate;
  for (const GemmArgs& a : asked_by(kern_table(Path::avx512), w, 7)) EXPECT_EQ(a.ahead_mask, SIZE_MAX);
  const std::vector<GemmArgs> calls = asked_by(pages_order(kern_table(Path::avx512)), w, 7);
  ASSERT_GT(calls.size(), 2u);
  for (size_t i = 0; i + 2 < calls.size(); i++) {
    const auto next = reinterpret_cast<uintptr_t>(calls[i + 1].w), after = reinterpret_cast<uintptr_t>(calls[i + 2].w);
    EXPECT_EQ(calls[i].ahead, next & ~uintptr_t{4095});
    EXPECT_EQ(calls[i].ahead_end, after);
  }
  const auto mask = [&](Path p, size_t tokens) { return asked_by(pages_order(kern_table(p)), w, tokens)[0].ahead_mask; };
  const std::pair<size_t, size_t> wide[] = {{2, 0}, {3, 0}, {4, 1}, {6, 0}, {7, 1}, {9, 1}, {10, 1}, {16, 3}, {23, 3}, {64, 7}},
                                  narrow[] = {{2, 0}, {3, 0}, {4, 1}, {6, 1}, {9, 1}, {10, 3}, {64, 15}};
  for (const auto& [tokens, want] : wide) EXPECT_EQ(mask(Path::avx512, tokens), want) << tokens;
  for (const auto& [tokens, want] : narrow) EXPECT_EQ(mask(Path::avx2, tokens), want) << tokens;
}

}  // namespace
}  // namespace nyb
