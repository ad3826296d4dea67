// The choice of an order of reading by measurement.
#include "engine/read_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "engine/matvec.h"
#include "engine/weights.h"
#include "kern/cpu.h"

namespace nyb {
namespace {
using namespace test;

std::unique_ptr<Model> model(TType type, uint32_t layers, uint32_t ffn, uint32_t dim = 256) {
  const ModelShape s{.layers = layers, .dim = dim, .heads = 4, .kv_heads = 2, .head_dim = 64, .ffn = ffn, .vocab = 100, .ctx = 64};
  return make_model(random_weights(s, true, 9), all(type));
}

// Made-up time: only products take any.
double now = 0;
double made_up() { return now; }
size_t calls = 0, most = 0;  // products, and the bytes of the greatest

template <int kMicroseconds>
void takes(const void*, const float*, const QxGroup*, float*, size_t groups, size_t panels) {
  calls++;
  most = std::max(most, groups * panels * kQ8GroupBytes);
  now += kMicroseconds * 1e-6;
}

// Whose products of q8 take so many microseconds in order, by pages, in streams.
template <int kOrder, int kPages, int kStreams>
KernTable made_up_table() {
  KernTable t = kern_table(Path::avx2);
  t.gemv_q8 = takes<kOrder>;
  t.gemv_q8_pages = takes<kPages>;
  t.gemv_q8_streams = takes<kStreams>;
  return t;
}

TEST(ReadOrder, TheFastestOneIsTaken) {
  const auto m = model(TType::q8, 8, 512);
  const ReadOrder pages = read_order(made_up_table<300, 200, 250>(), *m, made_up),
                  order = read_order(made_up_table<200, 300, 250>(), *m, made_up),
                  streams = read_order(made_up_table<300, 250, 200>(), *m, made_up),
                  near = read_order(made_up_table<200, 198, 199>(), *m, made_up);
  EXPECT_EQ(pages.table.order, Order::pages);
  EXPECT_EQ(order.table.order, Order::in_order);
  EXPECT_EQ(streams.table.order, Order::streams);
  EXPECT_EQ(near.table.order, Order::in_order) << "what is no clear gain is left alone";
  EXPECT_EQ(read_order_told(pages), "weights read by pages, in order takes 1.50 times as long, in streams 1.25");
  EXPECT_EQ(read_order_told(order), "weights read in order, by pages takes 1.50 times as long, in streams 1.25");
  EXPECT_EQ(read_order_told(streams), "weights read in streams, in order takes 1.50 times as long, by pages 1.25");
}

// Each look takes so long and adds four costs, of which the second least counts: in order 1, by pages what is given, in streams
// always 4. How often it looks, and what it then says of pages.
std::pair<size_t, double> looks(const std::vector<double>& by_pages, double seconds = 0, double streams = 4) {
  size_t n = 0;
  const auto look = [&](ByOrder<std::vector<double>>& costs) {
    for (const double cost : {0.5, 1.0, 7.0, 9.0}) {
      costs[0].push_back(cost);
      costs[1].push_back(by_pages.at(n) * cost);
      costs[2].push_back(streams * cost);
    }
    n++;
    now += seconds;
  };
  const ByOrder<double> times = order_times(look, made_up);
  EXPECT_EQ(times[0], 1);
  EXPECT_EQ(times[2], streams);
  return {n, times[1]};
}

TEST(ReadOrder, LooksAgainWhereItIsNotClear) {
  using Said = std::pair<size_t, double>;
  for (const double clear : {0.25, 0.875, 1.125, 8.0}) EXPECT_EQ(looks({clear, clear}), Said(2, clear));
  for (const double near : {0.9375, 1.0, 1.0625}) EXPECT_EQ(looks(std::vector<double>(8, near)), Said(8, near));
  // Of eight costs the third least counts, of twelve the fourth: in order 1 both times, by pages 0.5, and 0.5 again.
  EXPECT_EQ(looks({1.0, 0.5}), Said(2, 0.5));
  EXPECT_EQ(looks({1.0, 1.0, 0.5}), Said(3, 0.5));
  EXPECT_EQ(looks({1.125, 0.5}), Said(2, 0.5625)) << "the first look alone would have said the opposite";
  // The fastest is to be clear, be it the third one; what follows it need not be.
  EXPECT_EQ(looks(std::vector<double>(8, 0.25), 0, 0.25), Said(8, 0.25));
  EXPECT_EQ(looks(std::vector<double>(8, 0.5), 0, 0.25), Said(2, 0.5));
  EXPECT_EQ(looks(std::vector<double>(8, 1.0), 0, 0.25), Said(2, 1.0));
}

// No look ends after twenty milliseconds but the first one.
TEST(ReadOrder, LooksNoLongerThanItMay) {
  const std::vector<double> near(8, 1.0);
  EXPECT_EQ(looks(near, 0.0024).first, 8u);
  EXPECT_EQ(looks(near, 0.0026).first, 7u);
  EXPECT_EQ(looks(near, 0.0066).first, 3u);
  EXPECT_EQ(looks(near, 0.0099).first, 2u);
  EXPECT_EQ(looks(near, 0.0101).first, 1u);
  EXPECT_EQ(looks(near, 1.0).first, 1u);
}

// Sixteen pairs of 512 KiB are read in a look at most, and eight looks where nothing is clear.
TEST(ReadOrder, ReadsNoMoreThanItSays) {
  const KernTable table = made_up_table<70, 70, 70>();
  const auto reads = [&](const Model& m, const Seconds& clock) {
    calls = most = 0;
    read_order(table, m, clock);
    return std::pair{calls, most};
  };
  const auto many = model(TType::q8, 20, 512), large = model(TType::q8, 4, 4096);
  EXPECT_EQ(reads(*many, made_up), std::pair(size_t{8} * 16 * 2, size_t{120} << 10)) << "30 of 32 panels";
  EXPECT_EQ(reads(*large, made_up), std::pair(size_t{8} * 8 * 2, size_t{504} << 10)) << "126 of 256";
  // Where getting ready takes long, eight pairs are enough, once.
  EXPECT_EQ(reads(*many, [] { return now += 0.005; }).first, 8u * 2);
}

// Six panels are more than 512 KiB there; fewer would not be read in streams.
TEST(ReadOrder, WidePanelsAreMeasuredBySix) {
  calls = most = 0;
  const auto m = model(TType::q8, 8, 128, 8192);
  EXPECT_EQ(read_order(made_up_table<300, 250, 200>(), *m, made_up).table.order, Order::streams);
  EXPECT_EQ(most, size_t{6} * 128 << 10);
}

TEST(ReadOrder, OnTheModelAsItIs) {
  if (const std::string lacks = cpu_missing(cpu_here(), Path::avx2); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  for (const TType type : {TType::q8, TType::q4}) {
    const auto m = model(type, 8, 1024);
    const ReadOrder o = read_order(kern_table(Path::avx2), *m);
    EXPECT_EQ(o.time[0], 1);
    EXPECT_EQ(o.table.path, Path::avx2);
    for (const double time : o.time) {
      EXPECT_GT(time, 0);
      EXPECT_LT(time, 1000);
    }
    const auto least = static_cast<Order>(std::min_element(o.time.begin(), o.time.end()) - o.time.begin());
    EXPECT_EQ(o.table.order, o.time[static_cast<size_t>(least)] < 0.97 ? least : Order::in_order);
  }
}

TEST(ReadOrder, NothingToMeasure) {
  const auto few = model(TType::q8, 1, 512), small = model(TType::q8, 8, 128), floats = model(TType::f32, 8, 512);
  for (const Model* m : {few.get(), small.get(), floats.get()}) {
    const ReadOrder o = read_order(made_up_table<300, 200, 250>(), *m, made_up);
    EXPECT_EQ(o.table.order, Order::in_order);
    EXPECT_EQ(o.time, ByOrder<double>{});
    EXPECT_EQ(read_order_told(o), "");
  }
  const auto m = model(TType::q8, 8, 512);
  EXPECT_EQ(read_order(kern_table(Path::ref), *m).time, ByOrder<double>{});
}

std::vector<GemmArgs> asked;
void keep(const GemmArgs* args) { asked.push_back(*args); }

std::vector<GemmArgs> asked_by(KernTable kern, const Tensor& w, size_t tokens) {
  kern.gemm_q8 = kern.gemm_q4 = kern.gemm_q80 = kern.gemm_q4k = kern.gemm_q6k = keep;
  asked.clear();
  float y = 0;
  mat_panels(kern, w, 0, panels_of(w.rows), {}, tokens, &y, 0);
  return asked;
}

// Products of several tokens ask for as much as passes, right after it, where reading by pages is faster.
TEST(ReadOrder, TheNextPanelsAreAskedFor) {
  for (const TType type : {TType::q8, TType::q4, TType::q80, TType::q4k, TType::q6k}) {
    const auto m = model(type, 1, 2304);
    const Tensor& w = *m->layers[0].gate;
    const size_t panel = panel_bytes(type, w.cols);
    for (const GemmArgs& a : asked_by(kern_table(Path::avx512), w, 7)) EXPECT_EQ(a.ahead_mask, SIZE_MAX);
    for (const Order order : {Order::pages, Order::streams}) {
      const std::vector<GemmArgs> calls = asked_by(with_order(kern_table(Path::avx512), order), w, 7);
      ASSERT_GT(calls.size(), 2u);
      EXPECT_LT(calls.back().panels, calls.front().panels);
      for (const GemmArgs& a : calls) {
        const uintptr_t end = reinterpret_cast<uintptr_t>(a.w) + a.panels * panel;
        EXPECT_EQ(a.ahead, end & ~uintptr_t{4095});
        EXPECT_EQ(a.ahead_end, end + a.panels * panel);
        EXPECT_EQ(a.ahead_mask, 1u);
      }
    }
  }
}

// A group asks for a line of each page where one tile passes, each second group where two or three do, and so on.
TEST(ReadOrder, MoreTilesAskLessOften) {
  struct Want {
    size_t tokens, wide, narrow;  // on avx512, on avx2
  };
  // Weights that are unpacked once pass once for up to thirty tokens.
  const Want few[] = {{2, 0, 0}, {3, 0, 0}, {4, 1, 1},  {5, 1, 0},  {6, 0, 1},
                      {7, 1, 1}, {9, 1, 1}, {10, 1, 1}, {16, 3, 3}, {19, 3, 3}},
             usual[] = {{20, 3, 3}, {50, 7, 7}, {64, 7, 7}}, four_bits[] = {{20, 3, 0}, {24, 3, 1}, {50, 7, 1}, {64, 7, 3}},
             six_bits[] = {{2, 0, 0}, {3, 1, 0}, {4, 0, 1},  {6, 1, 1},  {7, 1, 1},
                           {8, 1, 1}, {9, 1, 0}, {16, 3, 1}, {31, 7, 1}, {64, 15, 3}};
  const auto check = [](TType type, std::span<const Want> all) {
    const auto m = model(type, 1, 512);
    const auto mask = [&](Path p, size_t tokens) {
      return asked_by(with_order(kern_table(p), Order::pages), *m->layers[0].gate, tokens)[0].ahead_mask;
    };
    for (const Want& want : all) {
      EXPECT_EQ(mask(Path::avx512, want.tokens), want.wide) << want.tokens;
      EXPECT_EQ(mask(Path::avx2, want.tokens), want.narrow) << want.tokens;
    }
  };
  for (const TType type : {TType::q8, TType::q4, TType::q80, TType::q4k}) check(type, few);
  for (const TType type : {TType::q8, TType::q4, TType::q80}) check(type, usual);
  check(TType::q4k, four_bits);
  check(TType::q6k, six_bits);
}

}  // namespace
}  // namespace nyb
