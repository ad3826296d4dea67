// Kernels against the reference over every input that can matter, where that is few enough to run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kern/kernels.h"
#include "kern/ref.h"
#include "kern/run.h"
#include "support/build.h"

namespace nyb::test {
namespace {

// Without optimization, or under a sanitizer, the reference takes minutes: then a part is run, and the test says which.
constexpr uint32_t kPart = kSlowBuild ? 97 : 1;

std::vector<Path> runnable(std::string_view kernel) {  // the paths that have a body of their own
  std::vector<Path> v;
  for (const Path p : kAllPaths) {
    if (p != Path::ref && forms_of(kernel).body[size_t(p)] == p && cannot_run(p).empty()) v.push_back(p);
  }
  return v;
}

class Exp8Sweep : public testing::Test {
 protected:
  // All floats with these bits, from first to last, and their negatives.
  void run(uint32_t first, uint32_t last, bool all_are_one) {
    constexpr uint32_t chunk = 1 << 15;
    std::vector<float> x(chunk), want(chunk), got(chunk);
    if (all_are_one) std::fill(want.begin(), want.end(), 1.0f);
    for (uint64_t at = first; at <= last; at += uint64_t(chunk) * kPart) {
      const auto n = size_t(std::min<uint64_t>(chunk, last - at + 1));
      for (const uint32_t sign : {0u, 0x80000000u}) {
        for (size_t i = 0; i < n; i++) x[i] = std::bit_cast<float>(uint32_t(at + i) | sign);
        if (!all_are_one) ref::exp8_vec(x.data(), want.data(), n);
        for (const Path p : runnable("exp8_vec")) {
          kern_table(p).exp8_vec(x.data(), got.data(), n);
          if (memcmp(got.data(), want.data(), 4 * n) == 0) continue;
          for (size_t i = 0; i < n; i++) {
            ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want[i]))
                << path_name(p) << ": exp8 of " << x[i] << ", bits " << std::hex << std::bit_cast<uint32_t>(x[i]);
          }
        }
      }
    }
    if (kPart > 1) RecordProperty("part", int(kPart));
  }
};

constexpr uint32_t kTiny = 0x32000000, kLimit = 0x42B0C0A5;  // 2^-27, and the float of 88.3762626647949

TEST_F(Exp8Sweep, EveryFloatWhoseExponentialIsNotOne) { run(kTiny, kLimit, false); }

TEST_F(Exp8Sweep, EveryFloatNearerToZeroGivesOne) { run(0, kTiny, true); }

TEST_F(Exp8Sweep, FloatsBeyondTheLimits) {
  std::vector<float> x, got, want;
  for (uint32_t b = kLimit - 3; b <= 0x7F800000; b += b < kLimit + 1000 ? 1 : 99991) {
    x.push_back(std::bit_cast<float>(b));
    x.push_back(-x.back());
  }
  got.resize(x.size());
  want.resize(x.size());
  ref::exp8_vec(x.data(), want.data(), x.size());
  for (const Path p : runnable("exp8_vec")) {
    kern_table(p).exp8_vec(x.data(), got.data(), x.size());
    EXPECT_TRUE(same_bytes(got, want)) << path_name(p);
  }
}

// Every significand of the greatest magnitude: where 127 / amax * amax rounds, and what is beside it.
TEST(QxSweep, EverySignificandOfAmax) {
  constexpr size_t groups = 1024;
  std::vector<float> x(32 * groups);
  std::vector<QxGroup> want(groups), got(groups);
  uint64_t rng = 3;
  for (uint32_t m = 0; m < 1u << 23; m += groups * kPart) {
    for (size_t g = 0; g < groups; g++) {
      const float amax = std::bit_cast<float>(0x3F800000u | ((m + uint32_t(g)) & 0x7FFFFF));
      const uint64_t r = next_random(rng);
      for (size_t i = 0; i < 32; i++) {  // amax, its negative, halves and what is near them
        const float part = (float((r >> i) % 127) + 0.5f) / 127.0f;
        x[32 * g + i] = i == r % 32 ? amax : i % 2 ? -amax * part : amax * part;
      }
    }
    ASSERT_EQ(ref::qx_vec(x.data(), want.data(), x.size()), 0u);
    for (const Path p : runnable("qx_vec")) {
      ASSERT_EQ(kern_table(p).qx_vec(x.data(), got.data(), x.size()), 0u);
      ASSERT_TRUE(same_bytes(got, want)) << path_name(p) << ", significands from " << m;
    }
    for (const QxGroup& g : want) {
      const auto [least, most] = std::minmax_element(g.q, g.q + 32);
      ASSERT_TRUE(*least >= -127 && *most <= 127 && (*least == -127 || *most == 127));
    }
  }
}

}  // namespace
}  // namespace nyb::test
