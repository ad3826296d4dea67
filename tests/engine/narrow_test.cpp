// narrow_test.cpp - which of its kernels a step of the avx512 path runs. Its table here has avx512's name and reference kernels
// that count their calls, so that this is seen on any CPU with AVX2, which the kernels are that stand in for them.
#include <array>
#include <atomic>

#include "small_engine.h"

namespace nyb::test {
namespace {

enum Family { qx, gemv, gemm, exp8, norm, attn, kFamilies };
std::array<std::atomic<size_t>, kFamilies> calls;

#define KERNEL(family, name, result, params, args, ...) \
  result counted_##name params {                        \
    calls[family]++;                                    \
    return kern_table(Path::ref).name args;             \
  }
#include "kern/kernels.def"
#undef KERNEL

KernTable counted() {
  KernTable t;
  t.path = Path::avx512;
#define KERNEL(family, name, ...) t.name = &counted_##name;
#include "kern/kernels.def"
#undef KERNEL
  return t;
}

constexpr uint32_t kEnd = kNarrowPositions + 40;

const Model& long_model() {
  static const auto m = [] {
    ModelShape s = small_shape();
    s.ctx = kEnd;
    return make_model(random_weights(s, true, 12), all(TType::q8));
  }();
  return *m;
}

class Narrow : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string lacks = cannot_run(Path::avx2); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  }

  // The families of avx512 that ran in a step at pos; its logits are those of the reference, or the test fails.
  std::vector<bool> ran(size_t tokens, uint32_t pos, const KernTable& table = counted(), uint32_t chunk = 64) {
    Engine plain(long_model(), kern_table(Path::ref), pool()), e(long_model(), table, pool(), {.chunk = chunk});
    for (Engine* at : {&plain, &e}) eng_fill(*at, pos);
    const auto ids = count_up(tokens);
    const auto want = every_logit(plain, ids, pos);
    for (auto& c : calls) c = 0;
    EXPECT_TRUE(same(every_logit(e, ids, pos), want)) << tokens << " tokens at " << pos;
    std::vector<bool> any;
    any.reserve(kFamilies);
    for (const auto& c : calls) any.push_back(c > 0);
    return any;
  }
};

using Any = std::vector<bool>;  //   qx     gemv   gemm   exp8   norm   attn
const Any kProducts = {false, true, false, false, false, false};
const Any kAllOne = {true, true, false, true, true, true};
const Any kAllSeveral = {true, true, true, true, true, true};  // gemv: the rows that fill up the head's last panel

TEST_F(Narrow, OneTokenRunsTheProductsAlone) {
  EXPECT_EQ(ran(1, 0), kProducts);
  EXPECT_EQ(ran(1, kNarrowPositions - 1), kProducts);
  for (const Order o : kAllOrders) EXPECT_EQ(ran(1, 3, with_order(counted(), o)), kProducts) << order_name(o);
}

TEST_F(Narrow, OneTokenAtDepthRunsAll) { EXPECT_EQ(ran(1, kNarrowPositions), kAllOne); }

TEST_F(Narrow, SeveralTokensRunAll) {
  EXPECT_EQ(ran(2, 0), kAllSeveral);
  EXPECT_EQ(ran(20, kNarrowPositions - 10), kAllSeveral);
}

TEST_F(Narrow, ChunksOfOneAreStepsOfOne) {
  EXPECT_EQ(ran(3, 5, counted(), 1), kProducts);
  EXPECT_EQ(ran(3, kNarrowPositions - 1, counted(), 1), kAllOne);
}

TEST_F(Narrow, TheSamplersTableIsTheSteps) {
  const Engine e(long_model(), counted(), pool());
  EXPECT_EQ(e.narrow().vec_max, kern_table(Path::avx2).vec_max);
  EXPECT_EQ(e.narrow().gemv_q8, counted().gemv_q8);
  EXPECT_EQ(e.kern().vec_max, counted().vec_max);
}

}  // namespace
}  // namespace nyb::test
