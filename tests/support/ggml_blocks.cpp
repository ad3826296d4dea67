#include "ggml_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kern/f16.h"
#include "kern/splitmix.h"

namespace nyb::test {
namespace {

// Where bits of column i of a block of 256 lie.
struct Place {
  size_t byte;
  unsigned shift;
};
Place q4k_nibble(size_t i) { return {16 + i / 64 * 32 + i % 32, i % 64 < 32 ? 0u : 4u}; }
Place q6k_low(size_t i) { return {i / 128 * 64 + i % 64, i % 128 < 64 ? 0u : 4u}; }
Place q6k_high(size_t i) { return {128 + i / 128 * 32 + i % 32, static_cast<unsigned>(i % 128 / 32 * 2)}; }

int take(const uint8_t* b, Place p, int mask) { return b[p.byte] >> p.shift & mask; }
void put(uint8_t* b, Place p, int bits) { b[p.byte] = static_cast<uint8_t>(b[p.byte] | bits << p.shift); }

float f16_at(const uint8_t* p) { return f16_to_f32(static_cast<uint16_t>(p[0] | p[1] << 8)); }
float put_f16(uint8_t* p, float f) {  // returns it as f16 has it
  const uint16_t h = f32_to_f16(f);
  p[0] = static_cast<uint8_t>(h & 255);
  p[1] = static_cast<uint8_t>(h >> 8);
  return f16_to_f32(h);
}

int nearest(float x, float step, int low, int high) {
  return step == 0 ? 0 : static_cast<int>(std::clamp(std::nearbyint(x / step), static_cast<float>(low), static_cast<float>(high)));
}
float greatest(const float* w, size_t n) {
  float most = 0;
  for (size_t i = 0; i < n; i++) most = std::max(most, std::fabs(w[i]));
  return most;
}

void q80_block(const float* w, uint8_t* b) {
  const float d = put_f16(b, greatest(w, 32) / 127);
  for (size_t i = 0; i < 32; i++) b[2 + i] = static_cast<uint8_t>(nearest(w[i], d, -127, 127));
}

void q4k_block(const float* w, uint8_t* b) {
  float step[8], least[8];
  for (size_t s = 0; s < 8; s++) {
    const auto [low, high] = std::minmax_element(w + 32 * s, w + 32 * s + 32);
    least[s] = std::max(-*low, 0.0f);
    step[s] = (std::max(*high, 0.0f) + least[s]) / 15;
  }
  const float d = put_f16(b, *std::max_element(step, step + 8) / 63),
              dmin = put_f16(b + 2, *std::max_element(least, least + 8) / 63);
  uint8_t* scales = b + 4;
  for (size_t s = 0; s < 8; s++) {
    const int sc = nearest(step[s], d, 0, 63), m = nearest(least[s], dmin, 0, 63);
    if (s < 4) {
      put(scales, {s, 0}, sc);
      put(scales, {s + 4, 0}, m);
    } else {
      put(scales, {s + 4, 0}, sc % 16 + m % 16 * 16);
      put(scales, {s - 4, 6}, sc / 16);
      put(scales, {s, 6}, m / 16);
    }
    for (size_t i = 32 * s; i < 32 * s + 32; i++)
      put(b, q4k_nibble(i), nearest(w[i] + dmin * static_cast<float>(m), d * static_cast<float>(sc), 0, 15));
  }
}

void q6k_block(const float* w, uint8_t* b) {
  float step[16];
  for (size_t s = 0; s < 16; s++) step[s] = greatest(w + 16 * s, 16) / 32;
  const float d = put_f16(b + 208, *std::max_element(step, step + 16) / 127);
  for (size_t s = 0; s < 16; s++) {
    const int sc = nearest(step[s], d, 0, 127) * (s % 2 == 0 ? 1 : -1);
    b[192 + s] = static_cast<uint8_t>(sc);
    for (size_t i = 16 * s; i < 16 * s + 16; i++) {
      const int n = nearest(w[i], d * static_cast<float>(sc), -32, 31) + 32;
      put(b, q6k_low(i), n % 16);
      put(b, q6k_high(i), n / 16);
    }
  }
}

}  // namespace

GgmlForm ggml_form(TType type) {
  switch (type) {
    case TType::q80: return {32, 34};
    case TType::q4: return {32, 18};
    case TType::q4k: return {256, 144};
    default: return {256, 210};
  }
}

std::vector<uint8_t> ggml_row(TType type, const std::vector<float>& w) {
  const GgmlForm form = ggml_form(type);
  std::vector<uint8_t> out(w.size() / form.cols * form.bytes);
  const auto block = type == TType::q80 ? q80_block : type == TType::q4k ? q4k_block : q6k_block;
  for (size_t i = 0; i < w.size() / form.cols; i++) block(w.data() + i * form.cols, out.data() + i * form.bytes);
  return out;
}

std::vector<uint8_t> ggml_random(TType type, size_t count, uint64_t seed) {
  const size_t bytes = ggml_form(type).bytes;
  std::vector<uint8_t> out(count * bytes);
  for (uint8_t& b : out) b = static_cast<uint8_t>(splitmix64(seed));
  for (size_t at = 0; at < out.size(); at += bytes) {  // two bits of the exponent away
    if (type == TType::q6k) {
      out[at + 209] &= 0xbb;
    } else {
      out[at + 1] &= 0xbb;
      if (type == TType::q4k) out[at + 3] &= 0xbb;
    }
  }
  return out;
}

float GgmlRow::value(size_t col) const {
  const Part& p = parts[col / 16];
  return static_cast<float>(q[col]) * (p.d * static_cast<float>(p.sc)) - p.dmin * static_cast<float>(p.m);
}

GgmlRow ggml_read(TType type, const uint8_t* row, size_t cols) {
  const GgmlForm form = ggml_form(type);
  GgmlRow out;
  for (size_t col = 0; col < cols; col++) {
    const uint8_t* b = row + col / form.cols * form.bytes;
    const size_t i = col % form.cols, s = i / 32;
    GgmlRow::Part part{f16_at(b)};
    if (type == TType::q80) {
      out.q.push_back(static_cast<int8_t>(b[2 + i]));
    } else if (type == TType::q4) {
      out.q.push_back(take(b, {2 + i % 16, i < 16 ? 0u : 4u}, 15) - 8);
    } else if (type == TType::q4k) {
      const uint8_t* scales = b + 4;
      part.dmin = f16_at(b + 2);
      part.sc = s < 4 ? scales[s] % 64 : scales[s + 4] % 16 + scales[s - 4] / 64 * 16;
      part.m = s < 4 ? scales[s + 4] % 64 : scales[s + 4] / 16 + scales[s] / 64 * 16;
      out.q.push_back(take(b, q4k_nibble(i), 15));
    } else {
      part.d = f16_at(b + 208);
      part.sc = static_cast<int8_t>(b[192 + i / 16]);
      out.q.push_back(take(b, q6k_low(i), 15) + 16 * take(b, q6k_high(i), 3) - 32);
    }
    if (col % 16 == 0) out.parts.push_back(part);
  }
  return out;
}

}  // namespace nyb::test
