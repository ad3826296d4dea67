// dequant.cpp - the layouts of ggml-common.h, read as ggml-quants.c reads them.
#include "model/dequant.h"

#include <algorithm>
#include <cstring>

#include "kern/error.h"
#include "kern/f16.h"
#include "model/bytes.h"

namespace nyb {
namespace {

// The values that the nibbles of IQ4_NL and IQ4_XS stand for (ggml's kvalues_iq4nl).
constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

void fill_scales(GgmlValues& v, int8_t scale, int8_t min) {
  std::fill_n(v.scale, 16, scale);
  std::fill_n(v.min, 16, min);
}

// Sixteen bytes of 32 nibbles: byte j has value j below and 16 + j above.
void nibbles(const uint8_t* b, int8_t* q) {
  for (int j = 0; j < 16; j++) {
    q[j] = static_cast<int8_t>(b[j] & 15);
    q[16 + j] = static_cast<int8_t>(b[j] >> 4);
  }
}

// {f16 d; f16 m where there is one; 32 fifth bits where there are; 16 bytes of nibbles}
void small_block(const uint8_t* b, bool offset, bool fifth_bits, int zero, GgmlValues& v) {
  fill_scales(v, 1, -1);
  v.d = get_le<uint16_t>(b);
  b += 2;
  if (offset) {
    v.has_min = true;
    v.m = get_le<uint16_t>(b);
    b += 2;
  }
  uint32_t high = 0;
  if (fifth_bits) {
    high = get_le<uint32_t>(b);
    b += 4;
  }
  nibbles(b, v.q);
  for (unsigned i = 0; i < 32; i++) v.q[i] = static_cast<int8_t>(v.q[i] + static_cast<int>(high >> i & 1) * 16 - zero);
}

// {u8 scales[16]: scale below, minimum above; u8 qs[64]; f16 d, m}: of each 128 values 32 bytes, value 32 k + l in two bits of byte
// l
void q2_k(const uint8_t* b, GgmlValues& v) {
  v.has_min = true;
  v.d = get_le<uint16_t>(b + 80);
  v.m = get_le<uint16_t>(b + 82);
  for (int i = 0; i < 16; i++) {
    v.scale[i] = static_cast<int8_t>(b[i] & 15);
    v.min[i] = static_cast<int8_t>(b[i] >> 4);
  }
  for (int i = 0; i < 256; i++) v.q[i] = static_cast<int8_t>(b[16 + i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3);
}

// {u8 hmask[32]; u8 qs[64]; u8 scales[12]; f16 d}: qs as in Q2_K; bit k of byte l of hmask is the third bit of value 32 k + l; low
// nibbles of the sixteen scales in bytes 0..7, their two high bits in bytes 8..11
void q3_k(const uint8_t* b, GgmlValues& v) {
  v.d = get_le<uint16_t>(b + 108);
  const uint8_t* s = b + 96;
  for (int i = 0; i < 16; i++) {
    const int low = i < 8 ? s[i] & 15 : s[i - 8] >> 4;
    v.scale[i] = static_cast<int8_t>((low | (s[8 + i % 4] >> i / 4 * 2 & 3) << 4) - 32);
  }
  for (int i = 0; i < 256; i++) {
    const int low = b[32 + i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
    v.q[i] = static_cast<int8_t>((low | (b[i % 32] >> i / 32 & 1) << 2) - 4);
  }
}

// {f16 d, m; u8 scales[12]; of Q5_K u8 qh[32]; u8 qs[128]}: 32 bytes for each two groups of 32, the first in the low nibbles; bit k
// of byte l of qh is the fifth bit of value 32 k + l
void q45_k(const uint8_t* b, bool fifth_bits, GgmlValues& v) {
  v.has_min = true;
  v.d = get_le<uint16_t>(b);
  v.m = get_le<uint16_t>(b + 2);
  for (size_t g = 0; g < 8; g++) {
    const GgmlScaleMin s = ggml_scale_min(b + 4, g);
    std::fill_n(v.scale + 2 * g, 2, static_cast<int8_t>(s.scale));
    std::fill_n(v.min + 2 * g, 2, static_cast<int8_t>(s.min));
  }
  const uint8_t *qh = b + 16, *qs = fifth_bits ? b + 48 : b + 16;
  for (int i = 0; i < 256; i++) {
    const int low = qs[i / 64 * 32 + i % 32] >> i % 64 / 32 * 4 & 15;
    v.q[i] = static_cast<int8_t>(fifth_bits ? low | (qh[i % 32] >> i / 32 & 1) << 4 : low);
  }
}

// {u8 ql[128]; u8 qh[64]; int8 scales[16]; f16 d}: of each 128 values 64 bytes of nibbles, the first 64 values below; value 32 k +
// l has its two high bits in byte l of 32 of qh
void q6_k(const uint8_t* b, GgmlValues& v) {
  v.d = get_le<uint16_t>(b + 208);
  std::memcpy(v.scale, b + 192, 16);
  for (int i = 0; i < 256; i++) {
    const int low = b[i / 128 * 64 + i % 64] >> i % 128 / 64 * 4 & 15;
    const int high = b[128 + i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
    v.q[i] = static_cast<int8_t>((low | high << 4) - 32);
  }
}

// {f16 d; u16 high bits of scales; u8 low nibbles of scales[4]; u8 qs[128]}: groups of 32, each as in IQ4_NL
void iq4_xs(const uint8_t* b, GgmlValues& v) {
  v.d = get_le<uint16_t>(b);
  const auto high = get_le<uint16_t>(b + 2);
  for (int g = 0; g < 8; g++) {
    const int scale = (b[4 + g / 2] >> g % 2 * 4 & 15) | (high >> 2 * g & 3) << 4;
    std::fill_n(v.scale + ptrdiff_t{2} * g, 2, static_cast<int8_t>(scale - 32));
    nibbles(b + 8 + ptrdiff_t{16} * g, v.q + ptrdiff_t{32} * g);
  }
  for (int8_t& q : v.q) q = kIq4Values[q];
}

}  // namespace

bool ggml_is_read(uint32_t number) {
  switch (static_cast<GgmlType>(number)) {
    case GgmlType::f32:
    case GgmlType::f16:
    case GgmlType::q4_0:
    case GgmlType::q4_1:
    case GgmlType::q5_0:
    case GgmlType::q5_1:
    case GgmlType::q8_0:
    case GgmlType::q2_k:
    case GgmlType::q3_k:
    case GgmlType::q4_k:
    case GgmlType::q5_k:
    case GgmlType::q6_k:
    case GgmlType::iq4_nl:
    case GgmlType::iq4_xs:
    case GgmlType::bf16: return true;
  }
  return false;
}

GgmlScaleMin ggml_scale_min(const uint8_t* s, size_t i) {
  if (i < 4) return {static_cast<uint8_t>(s[i] & 63), static_cast<uint8_t>(s[i + 4] & 63)};
  return {static_cast<uint8_t>((s[i + 4] & 15) | s[i - 4] >> 6 << 4), static_cast<uint8_t>(s[i + 4] >> 4 | s[i] >> 6 << 4)};
}

GgmlValues ggml_unpack(GgmlType type, const uint8_t* b) {
  GgmlValues v;
  v.count = ggml_block(type).values;
  switch (type) {
    case GgmlType::q4_0: small_block(b, false, false, 8, v); break;
    case GgmlType::q4_1: small_block(b, true, false, 0, v); break;
    case GgmlType::q5_0: small_block(b, false, true, 16, v); break;
    case GgmlType::q5_1: small_block(b, true, true, 0, v); break;
    case GgmlType::q8_0:
      fill_scales(v, 1, 0);
      v.d = get_le<uint16_t>(b);
      std::memcpy(v.q, b + 2, 32);
      break;
    case GgmlType::iq4_nl:
      small_block(b, false, false, 0, v);
      for (int i = 0; i < 32; i++) v.q[i] = kIq4Values[v.q[i]];
      break;
    case GgmlType::q2_k: q2_k(b, v); break;
    case GgmlType::q3_k: q3_k(b, v); break;
    case GgmlType::q4_k: q45_k(b, false, v); break;
    case GgmlType::q5_k: q45_k(b, true, v); break;
    case GgmlType::q6_k: q6_k(b, v); break;
    case GgmlType::iq4_xs: iq4_xs(b, v); break;
    case GgmlType::f32:
    case GgmlType::f16:
    case GgmlType::bf16: throw Error("a block of floats has nothing to be taken apart");
  }
  return v;
}

void ggml_floats(const GgmlValues& v, float* out) {
  const float d = f16_to_f32(v.d), m = f16_to_f32(v.m);
  for (uint32_t i = 0; i < v.count; i++) {
    const float x = d * static_cast<float>(v.scale[i / 16]) * static_cast<float>(v.q[i]);
    out[i] = v.has_min ? x - m * static_cast<float>(v.min[i / 16]) : x;
  }
}

}  // namespace nyb
