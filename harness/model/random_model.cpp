// random_model.cpp - random bytes where any will do, scales where not.
#include "model/random_model.h"
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>
#include "kern/splitmix.h"
#include "model/family.h"
#include "model/format.h"
#include "model/meta.h"
#include "model/rope.h"
#include "model/writer.h"

namespace nyb {
namespace {

void fill_bytes(uint8_t* p, size_t bytes, uint64_t& state) {
  size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    const uint64_t word = splitmix64(state);
    std::memcpy(p + at, &word, 8);
  }
  const uint64_t word = splitmix64(state);
  std::memcpy(p + at, &word, bytes - at);
}

// A power of two in f16, which is exact.
uint16_t f16_power(double about) {
  const int exponent = static_cast<int>(std::lround(std::log2(about)));
  return static_cast<uint16_t>(std::clamp(exponent + 15, 1, 30) << 10);
}

// Sums of `cols` products are as large as their inputs where the deviation of a weight is 1 / sqrt(cols). That of any int8 is 74,
// of any six bits 18.5, of any nibble 4.6, of -1..1 0.577.
double weight_size(uint64_t cols) { return 1 / std::sqrt(static_cast<double>(cols)); }

// `n` values of bits at `at` in each unit of so many bytes.
template <class T>
void put_all(uint8_t* p, size_t bytes, size_t unit, size_t at, size_t n, T v) {
  for (size_t from = 0; from + unit <= bytes; from += unit)
    for (size_t i = 0; i < n; i++) std::memcpy(p + from + at + i * sizeof(T), &v, sizeof(T));
}

// What stands beside the weights of Q4_K and Q6_K: the same for all of them, and for Q4_K so that zero is in the middle.
constexpr uint8_t kQ4kScale = 8, kQ4kMin = 60;  // 7.5 * 8
constexpr int8_t kQ6kScale = 4;

void block_scales(TType t, uint8_t* p, size_t bytes, uint64_t cols) {
  if (t == TType::q4k) {
    put_all(p, bytes, kQ4kBlockBytes, 0, 2 * kPanelRows, f16_power(weight_size(cols) / (4.6 * kQ4kScale)));
    for (size_t g = 0; g < kBlockGroups; g++) {
      const size_t group = kQ4kHeadBytes + g * kQ4kGroupBytes;
      put_all(p, bytes, kQ4kBlockBytes, group + kQ4kScaleAt, kPanelRows, kQ4kScale);
      put_all(p, bytes, kQ4kBlockBytes, group + kQ4kMinAt, kPanelRows, kQ4kMin);
    }
  } else {
    put_all(p, bytes, kQ6kBlockBytes, 0, kPanelRows, f16_power(weight_size(cols) / (18.5 * kQ6kScale)));
    for (size_t g = 0; g < kBlockGroups; g++)
      put_all(p, bytes, kQ6kBlockBytes, kQ6kHeadBytes + g * kQ6kGroupBytes + kQ6kScaleAt, 2 * kPanelRows, kQ6kScale);
  }
}

// Panels alone, of any number.
void fill_panels(TType t, uint8_t* p, size_t bytes, uint64_t cols, uint64_t seed) {
  if (t == TType::f32) {
    const auto size = static_cast<float>(weight_size(cols) / 0.577);
    for (size_t at = 0; at + 4 <= bytes; at += 4) {
      const float w = splitmix_unit(seed) * size;
      std::memcpy(p + at, &w, 4);
    }
    return;
  }
  fill_bytes(p, bytes, seed);
  if (t == TType::q4) put_all(p, bytes, kQ4GroupBytes, kQ4NibbleBytes, kPanelRows, f16_power(weight_size(cols) / 4.6));
  if (t == TType::q80) put_all(p, bytes, kQ80GroupBytes, kQ8GroupBytes, kPanelRows, f16_power(weight_size(cols) / 74));
  if (t == TType::q4k || t == TType::q6k) block_scales(t, p, bytes, cols);
}

std::vector<float> row_scales(uint64_t rows, uint64_t cols) {
  return std::vector<float>(panels_of(rows) * kPanelRows, static_cast<float>(weight_size(cols) / 74));
}

class Filler {
 public:
  Filler(MnmWriter& out, uint64_t total, const std::function<void(uint64_t, uint64_t)>& progress)
      : out_(out), total_(total), progress_(progress) {}

  void tensor(const TensorPlan& t) {
    if (t.type == TType::vec) {
      const std::vector<float> same(t.cols, t.name.ends_with("bias") ? 0.0f : 1.0f);
      return write(same.data(), same.size() * sizeof(float));
    }
    const uint64_t one = panel_bytes(t.type, t.cols), panels = panels_of(t.rows);
    const uint64_t at_once = std::clamp<uint64_t>((uint64_t{1} << 22) / one, 1, panels);
    std::vector<uint8_t> part(one * at_once);
    for (uint64_t p = 0; p < panels; p += at_once) {
      const size_t bytes = std::min(at_once, panels - p) * one;
      fill_panels(t.type, part.data(), bytes, t.cols, seed_++);
      write(part.data(), bytes);
    }
    if (t.type != TType::q8) return;
    const std::vector<float> scales = row_scales(t.rows, t.cols);
    write(scales.data(), scales.size() * sizeof(float));
  }

 private:
  void write(const void* p, size_t n) {
    out_.tensor(p, n);
    done_ += n;
    if (progress_) progress_(done_, total_);
  }
  MnmWriter& out_;
  uint64_t total_, done_ = 0, seed_ = 1;
  const std::function<void(uint64_t, uint64_t)>& progress_;
};

}  // namespace

void random_matrix_bytes(TType t, uint64_t rows, uint64_t cols, uint8_t* p, uint64_t seed) {
  const uint64_t panels = panels_of(rows) * panel_bytes(t, cols);
  fill_panels(t, p, panels, cols, seed);
  if (t != TType::q8) return;
  const std::vector<float> scales = row_scales(rows, cols);
  std::memcpy(p + panels, scales.data(), scales.size() * sizeof(float));
}

void random_model(const std::string& path, const NamedShape& shape, TType type, TType head,
                  const std::function<void(uint64_t done, uint64_t total)>& progress) {
  ModelShape s = shape.shape();
  RopeRule rope;
  rope.theta = shape.rope_base;
  s.rope_freqs = rope_frequencies(rope, s.head_dim);
  std::vector<TensorPlan> plan;
  uint64_t total = 0;
  for (const TensorSlot& t : model_slots(s, shape.tied)) {
    const bool is_head = t.name == "head" || (t.name == "embed" && shape.tied);
    plan.push_back({t.name, !t.matrix ? TType::vec : is_head ? head : type, t.rows, t.cols});
    total += tensor_bytes(plan.back().type, t.rows, t.cols);
  }
  Meta meta;
  meta.set(key::name, std::string(shape.name) + " (random weights)");
  family_meta(*family_find(shape.family), s, 1e-5, std::string(shape.name), meta);
  MnmWriter out(path, s, meta, plan);
  Filler filler(out, total, progress);
  for (const TensorPlan& t : plan) filler.tensor(t);
  out.finish();
}

}  // namespace nyb
