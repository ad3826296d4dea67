// alignment_test.cpp - the reference takes pointers of any alignment and touches the stated elements only. Most telling in a
// build with sanitizers: the arrays end where their memory does, and start at odd addresses.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <vector>

#include "kern/ref.h"
#include "ref/bits.h"

namespace nyb::test {
namespace {

// Arrays of floats, halves or groups whose bytes start `shift` bytes into a block of their own that ends with them.
class Arrays {
 public:
  explicit Arrays(size_t shift) : shift_(shift), rng_(60) {}
  template <class T>
  T* zeros(size_t n) {
    blocks_.emplace_back(shift_ + n * sizeof(T));
    return reinterpret_cast<T*>(blocks_.back().data() + shift_);
  }
  float* floats(size_t n) {
    auto* out = zeros<float>(n);
    for (size_t i = 0; i < n; ++i) {
      const float v = rng_.uniform(0.1f, 2.0f);
      std::memcpy(blocks_.back().data() + shift_ + 4 * i, &v, 4);
    }
    return out;
  }
  uint16_t* halves(size_t n) {
    auto* out = zeros<uint16_t>(n);
    for (size_t i = 0; i < n; ++i) {
      const auto v = static_cast<uint16_t>(0x3000 + rng_.below(0x1000));
      std::memcpy(blocks_.back().data() + shift_ + 2 * i, &v, 2);
    }
    return out;
  }
  // All that the arrays hold, without the bytes in front of them.
  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> out;
    for (const auto& b : blocks_) out.insert(out.end(), b.begin() + static_cast<ptrdiff_t>(shift_), b.end());
    return out;
  }

 private:
  size_t shift_;
  Random rng_;
  std::deque<std::vector<uint8_t>> blocks_;
};

// Every kernel once; what all arrays hold afterwards.
std::vector<uint8_t> run_all(size_t shift) {
  Arrays a(shift);
  constexpr size_t n = 45, dim = 20;
  auto* groups = a.zeros<QxGroup>(2);
  EXPECT_EQ(ref::qx_vec(a.floats(n), groups, n), 0u);
  ref::gemv_q8(a.floats(256), a.floats(16), groups, a.zeros<float>(16), 2, 1);
  ref::gemv_q4(a.halves(288), groups, a.zeros<float>(16), 2, 1);
  ref::gemv_q80(a.halves(544), groups, a.zeros<float>(16), 2, 1);
  auto* block = a.zeros<QxGroup>(8);
  EXPECT_EQ(ref::qx_vec(a.floats(256), block, 256), 0u);
  ref::gemv_q4k(a.halves(1184), block, a.zeros<float>(16), 8, 1);
  ref::gemv_q6k(a.halves(1680), block, a.zeros<float>(16), 8, 1);
  ref::gemv_f32(a.floats(112), a.floats(7), a.zeros<float>(16), 7, 1);
  GemmArgs args{.w = a.halves(288), .x = groups, .y = a.zeros<float>(16), .groups = 2, .panels = 1, .tokens = 1};
  ref::gemm_q4(&args);
  float* x = a.floats(n);
  ref::exp8_vec(x, a.zeros<float>(n), n);
  EXPECT_EQ(ref::vec_max(x, a.zeros<float>(1), n), 0u);
  EXPECT_EQ(ref::vec_above(x, n, 1e30f), n);
  ref::softmax_num(x, a.zeros<float>(n), n, 1.0f, 0.5f);
  ref::swiglu(x, a.floats(n), a.zeros<float>(n), n);
  ref::vec_add(x, a.floats(n), a.zeros<float>(n), n);
  EXPECT_EQ(ref::rmsnorm(x, a.floats(n), a.zeros<float>(n), n, 1e-5f), 0u);
  ref::rope(a.floats(3 * dim), a.floats(dim / 2), a.floats(dim / 2), dim / 2, dim, 3);
  EXPECT_EQ(ref::f32_to_f16(x, a.zeros<uint16_t>(n), n), 0u);
  ref::attn_score_f32(x, a.floats(32 * dim), a.zeros<float>(256 + 32), dim, 2, 2, 0.5f);
  ref::attn_score_f16(x, a.halves(32 * dim), a.zeros<float>(256 + 32), dim, 2, 2, 0.5f);
  ref::attn_mix_f32(x, a.floats(n * dim), a.zeros<float>(dim), n, dim, 1);
  ref::attn_mix_f16(x, a.halves(n * dim), a.zeros<float>(dim), n, dim, 1);
  ref::attn_score_q8(groups, a.halves(2 * 288), a.zeros<float>(256 + 32), 1, 2, 2, 0.5f);
  ref::attn_mix_q8(x, a.halves(n * 18), a.zeros<float>(64), n, 32, 1);
  ref::attn_merge(a.floats(6), a.floats(3 * dim), a.zeros<float>(dim), 3, dim, dim);
  return a.bytes();
}

TEST(Ref, TakesAnyAlignment) {
  const std::vector<uint8_t> want = run_all(0);
  for (size_t shift = 1; shift < 8; ++shift) EXPECT_EQ(run_all(shift), want) << shift;
}

}  // namespace
}  // namespace nyb::test
