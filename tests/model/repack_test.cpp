// ggml's blocks in panels: every integer and scale in its documented place, and the floats that ggml makes of them.
#include "model/repack.h"
#include <gtest/gtest.h>
#include <xxhash.h>
#include <cstring>
#include "hf_folder.h"
#include "kern/f16.h"
#include "support/ggml_blocks.h"

namespace nyb::test {
namespace {

class Repack : public ::testing::TestWithParam<TType> {};
INSTANTIATE_TEST_SUITE_P(Types, Repack, ::testing::Values(TType::q80, TType::q4, TType::q4k, TType::q6k),
                         [](const auto& i) { return std::string(ttype_name(i.param)); });

constexpr uint64_t kCols = 768;

struct Packed {
  std::vector<std::vector<uint8_t>> rows;
  std::vector<uint8_t> panel;
};

Packed packed(TType type, size_t rows, uint64_t seed) {
  Packed p;
  std::vector<const uint8_t*> at;
  for (size_t r = 0; r < rows; r++) p.rows.push_back(ggml_random(type, kCols / ggml_form(type).cols, seed + r));
  for (const auto& row : p.rows) at.push_back(row.data());
  p.panel.assign(panel_bytes(type, kCols), 0xee);
  repack_panel(type, at, kCols, p.panel.data());
  return p;
}

// By the table of docs/model-file.md: the integer and what scales it, of row r and column k.
struct Element {
  int q = 0;
  GgmlRow::Part part{0};
};
Element element(TType type, const uint8_t* p, size_t r, size_t k) {
  const auto half = [](const uint8_t* at) { return f16_to_f32(static_cast<uint16_t>(at[0] | at[1] << 8)); };
  const size_t j = k % 32;
  const auto nibble = [&](const uint8_t* g) { return g[64 * (j % 16 / 4) + 4 * r + j % 4] >> (j < 16 ? 0 : 4) & 15; };
  switch (type) {
    case TType::q80: {
      const uint8_t* g = p + k / 32 * 544;
      return {static_cast<int8_t>(g[64 * (j / 4) + 4 * r + j % 4]), {half(g + 512 + 2 * r)}};
    }
    case TType::q4: {
      const uint8_t* g = p + k / 32 * 288;
      return {nibble(g) - 8, {half(g + 256 + 2 * r)}};
    }
    case TType::q4k: {
      const uint8_t *b = p + k / 256 * 2368, *g = b + 64 + 288 * (k / 32 % 8);
      return {nibble(g), {half(b + 2 * r), half(b + 32 + 2 * r), g[256 + r], g[272 + r]}};
    }
    default: {
      const uint8_t *b = p + k / 256 * 3360, *g = b + 32 + 416 * (k / 32 % 8);
      const int bit = j % 8 < 4 ? (j < 16 ? 4 : 6) : (j < 16 ? 2 : 0);
      const int high = g[256 + 64 * (j % 16 / 8) + 4 * r + j % 4] >> bit & 3;
      return {nibble(g) + 16 * high - 32, {half(b + 2 * r), 0, static_cast<int8_t>(g[384 + 16 * (j / 16) + r]), 0}};
    }
  }
}

TEST_P(Repack, PutsEverythingInItsPlace) {
  const TType type = GetParam();
  for (const size_t rows : {size_t{16}, size_t{5}, size_t{1}}) {
    const Packed p = packed(type, rows, 7);
    for (size_t r = 0; r < 16; r++) {
      GgmlRow want;
      if (r < rows) want = ggml_read(type, p.rows[r].data(), kCols);
      for (size_t k = 0; k < kCols; k++) {
        const Element is = element(type, p.panel.data(), r, k);
        const GgmlRow::Part part = r < rows ? want.parts[k / 16] : GgmlRow::Part{0, 0, type == TType::q80 || type == TType::q4, 0};
        ASSERT_EQ(is.q, r < rows ? want.q[k] : 0) << r << " " << k;
        ASSERT_EQ(is.part.d, part.d) << r << " " << k;
        ASSERT_EQ(is.part.dmin, part.dmin) << r << " " << k;
        ASSERT_EQ(is.part.sc, part.sc) << r << " " << k;
        ASSERT_EQ(is.part.m, part.m) << r << " " << k;
      }
    }
  }
}

TEST_P(Repack, RowsComeBack) {
  const TType type = GetParam();
  const Packed p = packed(type, 5, 8);
  std::vector<float> out(kCols + 1, -7.0f);
  for (size_t r = 0; r < 16; r++) {
    panel_row(type, p.panel.data(), nullptr, kCols, r, out.data());
    ASSERT_EQ(out[kCols], -7.0f);
    GgmlRow want;
    if (r < 5) want = ggml_read(type, p.rows[r].data(), kCols);
    for (size_t k = 0; k < kCols; k++) ASSERT_EQ(out[k], r < 5 ? want.value(k) : 0.0f) << r << " " << k;
  }
}

TEST_P(Repack, TheRowsComeOutAsTheyWent) {
  const TType type = GetParam();
  const Packed p = packed(type, 16, 300);
  for (size_t r = 0; r < 16; r++) {
    std::vector<uint8_t> row(p.rows[r].size() + 1, 0x5a);
    unpack_row(type, p.panel.data(), kCols, r, row.data());
    EXPECT_EQ(row.back(), 0x5a);
    row.pop_back();
    EXPECT_EQ(row, p.rows[r]) << r;
  }
}

// What dequantize_row_q8_0, _q4_0, _q4_K and _q6_K of ggml (libggml-base of node-llama-cpp 3.21.1) make of these blocks.
TEST_P(Repack, TheFloatsAreThoseOfGgml) {
  const TType type = GetParam();
  const Packed p = packed(type, 16, 100);
  std::vector<float> out(16 * kCols);
  for (size_t r = 0; r < 16; r++) panel_row(type, p.panel.data(), nullptr, kCols, r, out.data() + r * kCols);
  const uint64_t want = type == TType::q80   ? 0x0195207a9cd5d1ceu
                        : type == TType::q4  ? 0xcff17c552094913eu
                        : type == TType::q4k ? 0x213e0800ca27e92fu
                                             : 0x0be1260ae40add32u;
  EXPECT_EQ(XXH3_64bits(out.data(), out.size() * sizeof(float)), want);
}

TEST_P(Repack, SizesAreGgmls) {
  const TType type = GetParam();
  const GgmlForm form = ggml_form(type);
  EXPECT_EQ(ggml_row_bytes(type, 0), 0u);
  EXPECT_EQ(ggml_row_bytes(type, 3 * form.cols), 3 * form.bytes);
  for (const uint64_t cols : {uint64_t{1}, form.cols - 1, form.cols + 16}) {
    const std::string text = std::to_string(cols) + " columns are no whole number of ggml's blocks of " + std::to_string(form.cols);
    EXPECT_TRUE(says(message_of([&] { ggml_row_bytes(type, cols); }), text));
    uint8_t none = 0;
    EXPECT_TRUE(says(message_of([&] { repack_panel(type, {}, cols, &none); }), text));
  }
}

TEST(RepackOthers, AreRefused) {
  for (const TType type : {TType::vec, TType::f32, TType::q8})
    EXPECT_TRUE(
        says(message_of([&] { ggml_row_bytes(type, 256); }), "no block of ggml's is repacked as " + std::string(ttype_name(type))));
}

}  // namespace
}  // namespace nyb::test
