// ggml's types as floats, bit for bit as its own library has them.
#include <gtest/gtest.h>

#include <cstring>

#include "ggml.h"
#include "model/dequant.h"
#include "model/measure.h"
#include "model/source.h"
#include "random_damage.h"

namespace nyb {
namespace {
using test::Ggml;

SourceTensor tensor(uint32_t type, const std::string& blocks, uint64_t values) {
  SourceTensor t;
  t.block = static_cast<GgmlType>(type);
  t.type = t.block == GgmlType::f32    ? SourceType::f32
           : t.block == GgmlType::f16  ? SourceType::f16
           : t.block == GgmlType::bf16 ? SourceType::bf16
                                       : SourceType::ggml;
  t.shape = {values};
  t.data = reinterpret_cast<const uint8_t*>(blocks.data());
  t.bytes = blocks.size();
  return t;
}

void expect_equal(uint32_t type, const std::string& blocks, const Ggml& ggml) {
  const std::vector<float> want = ggml.dequantize(type, blocks);
  std::vector<float> is(want.size());
  const SourceTensor t = tensor(type, blocks, want.size());
  source_read(t, 0, is.size(), is.data());
  for (size_t i = 0; i < is.size(); i++)
    ASSERT_EQ(std::memcmp(&is[i], &want[i], 4), 0) << ggml.name(type) << " value " << i << ": " << is[i] << ", not " << want[i];
  // any part, as read in pieces
  for (const auto& [first, n] : {std::pair<size_t, size_t>{7, 300}, {31, 2}, {255, 1}, {256, 513}}) {
    std::vector<float> part(n);
    source_read(t, first, n, part.data());
    ASSERT_EQ(std::memcmp(part.data(), want.data() + first, n * 4), 0) << ggml.name(type) << " from " << first;
  }
}

class EachType : public testing::TestWithParam<GgmlType> {
 protected:
  uint32_t type() const { return static_cast<uint32_t>(GetParam()); }
};

TEST_P(EachType, RowsThatGgmlQuantized) {
  const Ggml* ggml = Ggml::get();
  ASSERT_TRUE(ggml);
  std::vector<float> values = normal_values(8 * 1024, 3);
  for (size_t i = 0; i < values.size(); i++) values[i] *= i < 4096 ? 0.02F : i < 5120 ? 1e-6F : i < 6144 ? 300.0F : 0.0F;
  expect_equal(type(), ggml->quantize(type(), values, 1024), *ggml);
}

// Any bits at all, but scales that are finite: also negative ones and those below what f16 holds in full.
TEST_P(EachType, BlocksOfNoise) {
  const Ggml* ggml = Ggml::get();
  ASSERT_TRUE(ggml);
  const GgmlBlock& b = ggml_block(GetParam());
  test::Random r{99};
  std::string blocks(static_cast<size_t>(b.bytes) * 2048 / b.values * 8, '\0');
  for (char& c : blocks) c = static_cast<char>(r.next() >> 20);
  std::vector<size_t> scales;  // where the f16s of a block are
  switch (GetParam()) {
    case GgmlType::f32:
    case GgmlType::bf16: break;
    case GgmlType::q2_k: scales = {80, 82}; break;
    case GgmlType::q3_k: scales = {108}; break;
    case GgmlType::q6_k: scales = {208}; break;
    case GgmlType::q4_1:
    case GgmlType::q5_1:
    case GgmlType::q4_k:
    case GgmlType::q5_k: scales = {0, 2}; break;
    default: scales = {0};
  }
  for (size_t at = 0; at < blocks.size(); at += b.bytes)
    for (const size_t s : scales)
      if ((blocks[at + s + 1] & 0x7c) == 0x7c) blocks[at + s + 1] = static_cast<char>(blocks[at + s + 1] & 0x83);
  for (size_t at = 0; at < blocks.size() && (type() == 0 || type() == 30); at += b.bytes)  // no NaN, which have no one spelling
    if ((blocks[at + b.bytes - 1] & 0x7f) == 0x7f) blocks[at + b.bytes - 1] = 0x3f;
  expect_equal(type(), blocks, *ggml);
}

constexpr GgmlType kRead[] = {GgmlType::f32,  GgmlType::f16,  GgmlType::bf16, GgmlType::q4_0,   GgmlType::q4_1,
                              GgmlType::q5_0, GgmlType::q5_1, GgmlType::q8_0, GgmlType::q2_k,   GgmlType::q3_k,
                              GgmlType::q4_k, GgmlType::q5_k, GgmlType::q6_k, GgmlType::iq4_nl, GgmlType::iq4_xs};
INSTANTIATE_TEST_SUITE_P(Ggml, EachType, testing::ValuesIn(kRead),
                         [](const auto& info) { return std::string(ggml_block(info.param).name); });

// Every number that the library knows, and no other.
TEST(GgmlType, TheTableIsGgmls) {
  const Ggml* ggml = Ggml::get();
  ASSERT_TRUE(ggml);
  size_t read = 0;
  for (uint32_t n = 0; n < test::kGgmlTypes; n++) {
    const GgmlBlock* b = ggml_block(n);
    ASSERT_EQ(b != nullptr, ggml->block_values(n) != 0) << n;
    read += ggml_is_read(n);
    if (!b) continue;
    EXPECT_EQ(b->number, n);
    EXPECT_EQ(b->name, ggml->name(n));
    EXPECT_EQ(b->values, ggml->block_values(n)) << b->name;
    EXPECT_EQ(b->bytes, ggml->block_bytes(n)) << b->name;
  }
  EXPECT_EQ(read, std::size(kRead));
  for (const GgmlType t : kRead) EXPECT_TRUE(ggml_is_read(static_cast<uint32_t>(t)));
  EXPECT_EQ(ggml_block(test::kGgmlTypes), nullptr);
  EXPECT_FALSE(ggml_is_read(28));  // f64
}

}  // namespace
}  // namespace nyb
