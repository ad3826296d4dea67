// Where each weight is in a panel, by indexing of its own; and that rows come back.
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>
#include "hf_folder.h"
#include "kern/error.h"
#include "model/quant.h"
#include "model/tensor.h"

namespace nyb {
namespace {

// f16 to double by the definition of the format, for finite values
double half(uint16_t h) {
  const int e = h >> 10 & 31, m = h & 1023;
  const double v = e == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, e - 25);
  return h & 0x8000 ? -v : v;
}

struct Packed {
  uint64_t rows, cols;
  std::vector<float> w;
  std::vector<uint8_t> bytes;
};

Packed pack(TType type, uint64_t rows, uint64_t cols, bool fit = true) {
  Packed p{rows, cols, test::plain_values(rows * cols, rows * 1000 + cols), {}};
  const uint64_t panels = (rows + 15) / 16, size = panel_bytes(type, cols);
  p.bytes.assign(tensor_bytes(type, rows, cols), 0xee);
  std::vector<float> scales(panels * 16);
  for (uint64_t i = 0; i < panels; i++)
    quant_panel(type, p.w.data() + i * 16 * cols, std::min<uint64_t>(16, rows - i * 16), cols, fit, p.bytes.data() + i * size,
                scales.data() + i * 16);
  if (type == TType::q8) std::memcpy(p.bytes.data() + panels * size, scales.data(), panels * 64);
  return p;
}

struct Size {
  uint64_t rows, cols;
};
void PrintTo(const Size& s, std::ostream* out) { *out << s.rows << "x" << s.cols; }

class Layout : public ::testing::TestWithParam<Size> {};
INSTANTIATE_TEST_SUITE_P(Sizes, Layout,
                         ::testing::Values(Size{1, 1}, Size{1, 2}, Size{2, 31}, Size{15, 32}, Size{16, 33}, Size{17, 64},
                                           Size{16, 15}, Size{19, 24}, Size{172, 64}, Size{64, 172}, Size{2043, 172}, Size{33, 100},
                                           Size{5, 4096}),
                         [](const auto& i) { return std::to_string(i.param.rows) + "x" + std::to_string(i.param.cols); });

TEST_P(Layout, SizesAreTheDocumented) {
  const auto [rows, cols] = GetParam();
  const uint64_t panels = (rows + 15) / 16, groups = (cols + 31) / 32;
  EXPECT_EQ(tensor_bytes(TType::f32, rows, cols), panels * 16 * cols * 4);
  EXPECT_EQ(tensor_bytes(TType::q8, rows, cols), panels * (groups * 512 + 64));
  EXPECT_EQ(tensor_bytes(TType::q4, rows, cols), panels * groups * 288);
  EXPECT_EQ(tensor_bytes(TType::q80, rows, cols), panels * groups * 544);
  EXPECT_EQ(tensor_bytes(TType::vec, 1, cols), cols * 4);
  for (const TType t : {TType::q4k, TType::q6k}) {
    EXPECT_EQ(tensor_bytes(t, rows, 256 * cols), panels * cols * (t == TType::q4k ? 2368 : 3360));
    if (cols % 256 == 0) continue;
    EXPECT_EQ(test::message_of([&] { tensor_bytes(t, rows, cols); }), std::string(ttype_name(t)) +
                                                                          " has blocks of 256 columns, of which " +
                                                                          std::to_string(cols) + " columns are no whole number");
  }
}

TEST_P(Layout, F32ColumnsOfSixteen) {
  const auto [rows, cols] = GetParam();
  const Packed p = pack(TType::f32, rows, cols);
  for (uint64_t i = 0; i < (rows + 15) / 16 * 16; i++)
    for (uint64_t k = 0; k < cols; k++) {
      float is;
      std::memcpy(&is, p.bytes.data() + ((i / 16 * cols + k) * 16 + i % 16) * 4, 4);
      ASSERT_EQ(is, i < rows ? p.w[i * cols + k] : 0.0f) << i << " " << k;
    }
}

TEST_P(Layout, Q8PiecesOfFour) {
  const auto [rows, cols] = GetParam();
  const Packed p = pack(TType::q8, rows, cols);
  const uint64_t panels = (rows + 15) / 16, groups = (cols + 31) / 32;
  for (uint64_t i = 0; i < panels * 16; i++) {
    float scale;
    std::memcpy(&scale, p.bytes.data() + panels * groups * 512 + i * 4, 4);
    float most = 0;
    if (i < rows)
      for (uint64_t k = 0; k < cols; k++) most = std::max(most, std::fabs(p.w[i * cols + k]));
    ASSERT_EQ(scale, most / 127) << i;
    for (uint64_t k = 0; k < groups * 32; k++) {
      const uint64_t g = k / 32, c = k % 32 / 4, b = k % 4;
      const auto q = static_cast<int8_t>(p.bytes[((i / 16 * groups + g) * 8 + c) * 64 + i % 16 * 4 + b]);
      const bool real = i < rows && k < cols && scale > 0;
      ASSERT_EQ(q, real ? static_cast<int>(std::nearbyint(p.w[i * cols + k] / scale)) : 0) << i << " " << k;
    }
  }
}

TEST_P(Layout, Q4NibblesAndTheirScales) {
  const auto [rows, cols] = GetParam();
  for (const bool fit : {false, true}) {
    const Packed p = pack(TType::q4, rows, cols, fit);
    const uint64_t groups = (cols + 31) / 32;
    for (uint64_t i = 0; i < (rows + 15) / 16 * 16; i++) {
      for (uint64_t g = 0; g < groups; g++) {
        const uint8_t* at = p.bytes.data() + (i / 16 * groups + g) * 288;
        uint16_t bits;
        std::memcpy(&bits, at + 256 + i % 16 * 2, 2);
        const double scale = half(bits);
        if (i >= rows) { ASSERT_EQ(bits, 0); }
        for (uint64_t k = 0; k < 32; k++) {
          const uint8_t byte = at[k % 16 / 4 * 64 + i % 16 * 4 + k % 4];
          const int q = (k < 16 ? byte & 15 : byte >> 4) - 8;
          if (i >= rows || g * 32 + k >= cols || scale == 0) {
            ASSERT_EQ(q, 0) << i << " " << g << " " << k;
          } else {
            // the nearest multiple of the scale within -8..7, whichever scale was found
            const float want =
                std::min(7.0f, std::max(-8.0f, std::nearbyint(p.w[i * cols + g * 32 + k] / static_cast<float>(scale))));
            ASSERT_EQ(q, want) << i << " " << g << " " << k;
          }
        }
      }
    }
  }
}

TEST_P(Layout, RowsComeBack) {
  const auto [rows, cols] = GetParam();
  for (const TType type : {TType::f32, TType::q8, TType::q4}) {
    const Packed p = pack(type, rows, cols);
    Tensor t;
    t.type = type;
    t.rows = rows;
    t.cols = cols;
    t.bytes = p.bytes.size();
    t.data = p.bytes.data();
    const uint64_t panels = (rows + 15) / 16, groups = (cols + 31) / 32;
    std::vector<float> out(cols + 1, -7.0f);
    for (uint64_t i = 0; i < rows; i++) {
      tensor_row(t, i, out.data());
      ASSERT_EQ(out[cols], -7.0f);
      for (uint64_t k = 0; k < cols; k++) {
        float want = p.w[i * cols + k];
        if (type == TType::q8) {
          float scale;
          std::memcpy(&scale, p.bytes.data() + panels * groups * 512 + i * 4, 4);
          want = static_cast<float>(
                     static_cast<int8_t>(p.bytes[((i / 16 * groups + k / 32) * 8 + k % 32 / 4) * 64 + i % 16 * 4 + k % 4])) *
                 scale;
        } else if (type == TType::q4) {
          const uint8_t* at = p.bytes.data() + (i / 16 * groups + k / 32) * 288;
          uint16_t bits;
          std::memcpy(&bits, at + 256 + i % 16 * 2, 2);
          const uint8_t byte = at[k % 16 / 4 * 64 + i % 16 * 4 + k % 4];
          want = static_cast<float>(((k % 32 < 16 ? byte & 15 : byte >> 4) - 8) * half(bits));
        }
        ASSERT_EQ(out[k], want) << ttype_name(type) << " " << i << " " << k;
      }
    }
  }
}

TEST(Sizes, OverflowIsAnError) {
  const uint64_t big = uint64_t{1} << 62;
  for (const TType t : {TType::vec, TType::f32, TType::q8, TType::q4, TType::q80, TType::q4k, TType::q6k}) {
    EXPECT_THROW(tensor_bytes(t, big, big), Error);
    EXPECT_THROW(tensor_bytes(t, 1, UINT64_MAX), Error);
    EXPECT_THROW(tensor_bytes(t, UINT64_MAX, 1), Error);
    EXPECT_THROW(tensor_bytes(t, UINT64_MAX, UINT64_MAX), Error);
    EXPECT_THROW(tensor_bytes(t, 1 << 20, uint64_t{1} << 50), Error);
    EXPECT_EQ(tensor_bytes(t, 0, 0), 0u);
  }
  // the weights alone would just fit
  EXPECT_EQ(tensor_bytes(TType::q4, uint64_t{1} << 34, uint64_t{1} << 28), 288ull << 53);
  EXPECT_EQ(tensor_bytes(TType::q6k, uint64_t{1} << 30, uint64_t{1} << 28), 3360ull << 46);
  EXPECT_THROW(tensor_bytes(TType::q6k, uint64_t{1} << 34, uint64_t{1} << 30), Error);
  EXPECT_THROW(tensor_bytes(TType::q8, uint64_t{1} << 34, uint64_t{1} << 29), Error);
  EXPECT_EQ(tensor_bytes(TType::q8, 16, uint64_t{1} << 32), (uint64_t{1} << 36) + 64);
  EXPECT_THROW(panel_bytes(static_cast<TType>(9), 1), Error);
}

}  // namespace
}  // namespace nyb
