// self_check.cpp - every kernel of the list on made-up inputs of given shapes, two tables side by side, bytes compared.
// A kernel of kernels.def without a check here does not link.
#include "engine/self_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/attention.h"
#include "kern/f16.h"
#include "kern/mxcsr.h"
#include "kern/splitmix.h"

namespace nyb {
namespace {

constexpr uint64_t kMostPanels = 64;  // of a matrix: a thousand rows say as much as a hundred thousand

// Seeded by a constant: a difference found once is found again.
struct Random {
  uint64_t state = 0x6e7962626c65;
  uint64_t next() { return splitmix64(state); }
  float unit() { return static_cast<float>(static_cast<int32_t>(next() >> 32)) * 0x1p-31f; }  // -1..1
  // Activations: mostly small, some large, some zero.
  float value() {
    const uint64_t kind = next() % 64;
    return kind == 0 ? 0.0f : kind == 1 ? unit() * 50 : unit() * 2;
  }
  std::vector<float> values(size_t n) {
    std::vector<float> v(n);
    for (float& x : v) x = value();
    return v;
  }
  std::vector<uint8_t> bytes(size_t n) {
    std::vector<uint8_t> v(n);
    for (uint8_t& x : v) x = static_cast<uint8_t>(next());
    return v;
  }
  std::vector<uint16_t> halves(size_t n) {
    std::vector<uint16_t> v(n);
    for (uint16_t& x : v) x = f32_to_f16(value());
    return v;
  }
};

struct Check {
  const KernTable &ref, &t;
  const CheckShapes& s;
  Random rnd;
};

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
bool same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

// f(table, y) on both tables, y of n elements: the same bytes.
template <class T, class F>
bool both(const Check& c, size_t n, F&& f) {
  std::vector<T> a(n), b(n);
  return f(c.ref, a) == f(c.t, b) && same(a, b);
}
// The same for a kernel that returns nothing.
template <class T, class F>
bool both_void(const Check& c, size_t n, F&& f) {
  return both<T>(c, n, [&](const KernTable& t, std::vector<T>& y) {
    f(t, y);
    return 0;
  });
}

// Every length of the model, and one that fills no vector.
template <class F>
bool lengths(Check& c, F&& f) {
  std::vector<uint64_t> all = c.s.lengths;
  all.push_back(c.s.lengths.front() + 13);
  return std::all_of(all.begin(), all.end(), f);
}

template <class F>
bool matrices(Check& c, F&& f) {
  return std::all_of(c.s.matrices.begin(), c.s.matrices.end(), [&](const CheckShapes::Matrix& m) {
    return f(groups_of(m.cols), std::min(panels_of(m.rows), kMostPanels), m.cols);
  });
}

std::vector<QxGroup> activations(Check& c, uint64_t groups) {
  const std::vector<float> x = c.rnd.values(groups * kGroup);
  std::vector<QxGroup> q(groups);
  c.ref.qx_vec(x.data(), q.data(), x.size());
  return q;
}

bool check_qx_vec(Check& c) {
  return lengths(c, [&](uint64_t n) {
    const std::vector<float> x = c.rnd.values(n);
    return both<QxGroup>(c, groups_of(n), [&](const KernTable& t, auto& y) { return t.qx_vec(x.data(), y.data(), n); });
  });
}

// Panels in units of so many groups and bytes, any bytes but for `halves` f16 from `at`.
struct Unit {
  uint64_t groups, bytes, at, halves;
};
constexpr Unit kQ8{1, kQ8GroupBytes, 0, 0}, kQ4{1, kQ4GroupBytes, kQ4NibbleBytes, kPanelRows},
    kQ80{1, kQ80GroupBytes, kQ8GroupBytes, kPanelRows}, kQ4k{kBlockGroups, kQ4kBlockBytes, 0, 2 * kPanelRows},
    kQ6k{kBlockGroups, kQ6kBlockBytes, 0, kPanelRows};

std::vector<uint8_t> panels(Check& c, const Unit& u, uint64_t units) {
  std::vector<uint8_t> w = c.rnd.bytes(units * u.bytes);
  for (uint64_t i = 0; i < units && u.halves > 0; ++i) {
    const std::vector<uint16_t> scale = c.rnd.halves(u.halves);
    std::memcpy(w.data() + i * u.bytes + u.at, scale.data(), scale.size() * sizeof(uint16_t));
  }
  return w;
}

// f(weights, row scales, groups, panels): whether both tables agree.
template <class F>
bool products(Check& c, const Unit& u, uint64_t most_panels, F&& f) {
  return matrices(c, [&](uint64_t true_groups, uint64_t all_panels, uint64_t) {
    const uint64_t units = (true_groups + u.groups - 1) / u.groups, n = std::min(all_panels, most_panels);
    return f(panels(c, u, n * units), c.rnd.values(n * kPanelRows), units * u.groups, n);
  });
}

using GemvQ8 = decltype(KernTable::gemv_q8) KernTable::*;
bool check_gemv_q8(Check& c, GemvQ8 kernel) {
  return products(c, kQ8, kMostPanels, [&](const auto& w, const auto& scale, uint64_t groups, uint64_t n) {
    const std::vector<QxGroup> x = activations(c, groups);
    return both_void<float>(c, n * kPanelRows, [&](const KernTable& t, auto& y) {
      (t.*kernel)(w.data(), scale.data(), x.data(), y.data(), groups, n);
    });
  });
}

bool check_gemv_q8(Check& c) { return check_gemv_q8(c, &KernTable::gemv_q8); }
bool check_gemv_q8_pages(Check& c) { return check_gemv_q8(c, &KernTable::gemv_q8_pages); }
bool check_gemv_q8_streams(Check& c) { return check_gemv_q8(c, &KernTable::gemv_q8_streams); }

template <class Kernel>
bool check_gemv(Check& c, const Unit& u, Kernel KernTable::*kernel) {
  return products(c, u, kMostPanels, [&](const auto& w, const auto&, uint64_t groups, uint64_t n) {
    const std::vector<QxGroup> x = activations(c, groups);
    return both_void<float>(c, n * kPanelRows,
                            [&](const KernTable& t, auto& y) { (t.*kernel)(w.data(), x.data(), y.data(), groups, n); });
  });
}

bool check_gemv_q4(Check& c) { return check_gemv(c, kQ4, &KernTable::gemv_q4); }
bool check_gemv_q80(Check& c) { return check_gemv(c, kQ80, &KernTable::gemv_q80); }
bool check_gemv_q4k(Check& c) { return check_gemv(c, kQ4k, &KernTable::gemv_q4k); }
bool check_gemv_q6k(Check& c) { return check_gemv(c, kQ6k, &KernTable::gemv_q6k); }
bool check_gemv_q4_pages(Check& c) { return check_gemv(c, kQ4, &KernTable::gemv_q4_pages); }
bool check_gemv_q80_pages(Check& c) { return check_gemv(c, kQ80, &KernTable::gemv_q80_pages); }
bool check_gemv_q4k_pages(Check& c) { return check_gemv(c, kQ4k, &KernTable::gemv_q4k_pages); }
bool check_gemv_q6k_pages(Check& c) { return check_gemv(c, kQ6k, &KernTable::gemv_q6k_pages); }
bool check_gemv_q4_streams(Check& c) { return check_gemv(c, kQ4, &KernTable::gemv_q4_streams); }
bool check_gemv_q80_streams(Check& c) { return check_gemv(c, kQ80, &KernTable::gemv_q80_streams); }
bool check_gemv_q4k_streams(Check& c) { return check_gemv(c, kQ4k, &KernTable::gemv_q4k_streams); }
bool check_gemv_q6k_streams(Check& c) { return check_gemv(c, kQ6k, &KernTable::gemv_q6k_streams); }

bool check_gemv_f32(Check& c) {
  return matrices(c, [&](uint64_t, uint64_t panels, uint64_t cols) {
    const std::vector<float> w = c.rnd.values(panels * kPanelRows * cols), x = c.rnd.values(cols);
    return both_void<float>(c, panels * kPanelRows,
                            [&](const KernTable& t, auto& y) { t.gemv_f32(w.data(), x.data(), y.data(), cols, panels); });
  });
}

constexpr uint64_t kFewPanels = 3;  // a pair and one more
// Tiles of several sizes: each by itself, and, of more tokens, at once where there is room.
constexpr uint64_t kFewTokens = 8, kTokens = 23;

bool check_gemm(Check& c, GemmArgs args, void (*KernTable::*kernel)(const GemmArgs*)) {
  std::byte room[kGemmRoom];
  args.x_stride = args.groups;
  args.y_stride = args.panels * kPanelRows;
  const auto check = [&](uint64_t tokens) {
    args.tokens = tokens;
    return both_void<float>(c, tokens * args.y_stride, [&](const KernTable& t, auto& y) {
      args.y = y.data();
      (t.*kernel)(&args);
    });
  };
  if (!check(kFewTokens)) return false;
  args.room = room;
  return check(kTokens);
}

bool check_gemm(Check& c, const Unit& u, void (*KernTable::*kernel)(const GemmArgs*)) {
  return products(c, u, kFewPanels, [&](const auto& w, const auto& scale, uint64_t groups, uint64_t n) {
    const std::vector<QxGroup> x = activations(c, groups * kTokens);
    return check_gemm(c, {.w = w.data(), .row_scale = scale.data(), .x = x.data(), .groups = groups, .panels = n}, kernel);
  });
}

bool check_gemm_q8(Check& c) { return check_gemm(c, kQ8, &KernTable::gemm_q8); }
bool check_gemm_q4(Check& c) { return check_gemm(c, kQ4, &KernTable::gemm_q4); }
bool check_gemm_q80(Check& c) { return check_gemm(c, kQ80, &KernTable::gemm_q80); }
bool check_gemm_q4k(Check& c) { return check_gemm(c, kQ4k, &KernTable::gemm_q4k); }
bool check_gemm_q6k(Check& c) { return check_gemm(c, kQ6k, &KernTable::gemm_q6k); }

bool check_gemm_f32(Check& c) {
  return matrices(c, [&](uint64_t, uint64_t all_panels, uint64_t cols) {
    const uint64_t n = std::min(all_panels, kFewPanels);
    const std::vector<float> w = c.rnd.values(n * kPanelRows * cols), x = c.rnd.values(cols * kTokens);
    return check_gemm(c, {.w = w.data(), .x = x.data(), .groups = cols, .panels = n}, &KernTable::gemm_f32);
  });
}

bool check_exp8_vec(Check& c) {
  return lengths(c, [&](uint64_t n) {
    std::vector<float> x = c.rnd.values(n);
    for (float& v : x) v *= 2;
    return both_void<float>(c, n, [&](const KernTable& t, auto& y) { t.exp8_vec(x.data(), y.data(), n); });
  });
}

bool check_vec_max(Check& c) {
  return lengths(c, [&](uint64_t n) {
    const std::vector<float> x = c.rnd.values(n);
    return both<float>(c, 1, [&](const KernTable& t, auto& y) { return t.vec_max(x.data(), y.data(), n); });
  });
}

bool check_vec_above(Check& c) {
  return lengths(c, [&](uint64_t n) {
    const std::vector<float> x = c.rnd.values(n);
    const float most = *std::max_element(x.begin(), x.end());
    return std::all_of(x.begin(), x.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(n, 100)),
                       [&](float at) {
                         const float bound = at < most ? at : 0;
                         return c.ref.vec_above(x.data(), n, bound) == c.t.vec_above(x.data(), n, bound);
                       }) &&
           c.t.vec_above(x.data(), n, most) == n;
  });
}

bool check_softmax_num(Check& c) {
  return lengths(c, [&](uint64_t n) {
    const std::vector<float> x = c.rnd.values(n);
    const float max = *std::max_element(x.begin(), x.end());
    std::vector<float> a(n), b(n);
    return same(c.ref.softmax_num(x.data(), a.data(), n, max, 1.25f), c.t.softmax_num(x.data(), b.data(), n, max, 1.25f)) &&
           same(a, b);
  });
}

bool check_swiglu(Check& c) {
  return lengths(c, [&](uint64_t n) {
    const std::vector<float> g = c.rnd.values(n), u = c.rnd.values(n);
    return both_void<float>(c, n, [&](const KernTable& t, auto& y) { t.swiglu(g.data(), u.data(), y.data(), n); });
  });
}

bool check_vec_add(Check& c) {
  return lengths(c, [&](uint64_t n) {
    const std::vector<float> a = c.rnd.values(n), b = c.rnd.values(n);
    return both_void<float>(c, n, [&](const KernTable& t, auto& y) { t.vec_add(a.data(), b.data(), y.data(), n); });
  });
}

bool check_rmsnorm(Check& c) {
  return lengths(c, [&](uint64_t n) {
    const std::vector<float> x = c.rnd.values(n), w = c.rnd.values(n);
    return both<float>(c, n, [&](const KernTable& t, auto& y) { return t.rmsnorm(x.data(), w.data(), y.data(), n, c.s.eps); });
  });
}

bool check_rope(Check& c) {
  const size_t stride = c.s.head_dim, half = c.s.rope_half;
  const std::vector<float> x = c.rnd.values(c.s.heads * stride), cs = c.rnd.values(half), sn = c.rnd.values(half);
  return both_void<float>(c, x.size(), [&](const KernTable& t, auto& y) {
    y = x;
    t.rope(y.data(), cs.data(), sn.data(), half, stride, c.s.heads);
  });
}

bool check_f32_to_f16(Check& c) {
  return lengths(c, [&](uint64_t n) {
    const std::vector<float> x = c.rnd.values(n);
    return both<uint16_t>(c, n, [&](const KernTable& t, auto& y) { return t.f32_to_f16(x.data(), y.data(), n); });
  });
}

// A full segment, and one whose last block stands alone.
constexpr size_t kBlocks[] = {kSegment / kKeyBlock, 3, 1};

// f(queries, positions or blocks) for each of `counts`, with every number of queries.
template <size_t N, class F>
bool every_tile(const size_t (&counts)[N], F&& f) {
  for (size_t queries = 1; queries <= kMostQueries; queries++)
    for (const size_t count : counts)
      if (!f(queries, count)) return false;
  return true;
}

template <class T, class Kernel>
bool check_score(Check& c, const std::vector<T>& k, Kernel KernTable::*kernel) {
  return every_tile(kBlocks, [&](size_t queries, size_t blocks) {
    const std::vector<float> q = c.rnd.values(c.s.head_dim * queries);
    return both_void<float>(c, queries * kSegment, [&](const KernTable& t, auto& y) {
      (t.*kernel)(q.data(), k.data(), y.data(), c.s.head_dim, blocks, queries, c.s.attn_scale);
    });
  });
}

bool check_attn_score_f32(Check& c) { return check_score(c, c.rnd.values(kSegment * c.s.head_dim), &KernTable::attn_score_f32); }
bool check_attn_score_f16(Check& c) { return check_score(c, c.rnd.halves(kSegment * c.s.head_dim), &KernTable::attn_score_f16); }
bool check_attn_score_f32_pages(Check& c) {
  return check_score(c, c.rnd.values(kSegment * c.s.head_dim), &KernTable::attn_score_f32_pages);
}
bool check_attn_score_f16_pages(Check& c) {
  return check_score(c, c.rnd.halves(kSegment * c.s.head_dim), &KernTable::attn_score_f16_pages);
}

bool check_attn_score_q8(Check& c) {
  const size_t groups = groups_of(c.s.head_dim);
  const std::vector<float> scales = c.rnd.values(kKeyBlock);
  std::vector<uint8_t> k = c.rnd.bytes(kSegment / kKeyBlock * groups * kKeyGroupBytes);
  for (uint8_t& b : k) b += b == 0x80;  // never -128
  for (size_t at = kKeyGroupBytes; at <= k.size(); at += kKeyGroupBytes)
    std::memcpy(k.data() + at - scales.size() * sizeof(float), scales.data(), scales.size() * sizeof(float));
  return every_tile(kBlocks, [&](size_t queries, size_t blocks) {
    const std::vector<QxGroup> q = activations(c, groups * queries);
    return both_void<float>(c, queries * kSegment, [&](const KernTable& t, auto& y) {
      t.attn_score_q8(q.data(), k.data(), y.data(), groups, blocks, queries, c.s.attn_scale);
    });
  });
}

constexpr size_t kPositions[] = {kSegment, 37, 1};

template <class T, class Kernel>
bool check_mix(Check& c, const std::vector<T>& v, size_t width, Kernel KernTable::*kernel) {
  return every_tile(kPositions, [&](size_t queries, size_t n) {
    const std::vector<float> p = c.rnd.values(queries * kSegment), o = c.rnd.values(queries * width);
    return both_void<float>(c, o.size(), [&](const KernTable& t, auto& y) {
      y = o;
      (t.*kernel)(p.data(), v.data(), y.data(), n, width, queries);
    });
  });
}

bool check_mix_f32(Check& c, decltype(KernTable::attn_mix_f32) KernTable::*kernel) {
  const size_t width = kv_width(KvType::f32, c.s.head_dim);
  return check_mix(c, c.rnd.values(kSegment * width), width, kernel);
}
bool check_attn_mix_f32(Check& c) { return check_mix_f32(c, &KernTable::attn_mix_f32); }
bool check_attn_mix_f32_pages(Check& c) { return check_mix_f32(c, &KernTable::attn_mix_f32_pages); }

bool check_mix_f16(Check& c, decltype(KernTable::attn_mix_f16) KernTable::*kernel) {
  const size_t width = kv_width(KvType::f16, c.s.head_dim);
  return check_mix(c, c.rnd.halves(kSegment * width), width, kernel);
}
bool check_attn_mix_f16(Check& c) { return check_mix_f16(c, &KernTable::attn_mix_f16); }
bool check_attn_mix_f16_pages(Check& c) { return check_mix_f16(c, &KernTable::attn_mix_f16_pages); }

bool check_attn_mix_q8(Check& c) {
  const size_t width = kv_width(KvType::q8, c.s.head_dim);
  std::vector<uint8_t> v = c.rnd.bytes(kSegment * width / kGroup * kValueGroupBytes);
  for (size_t at = 0; at < v.size(); at += kValueGroupBytes) {
    const float scale = c.rnd.value();
    std::memcpy(v.data() + at, &scale, sizeof(scale));
  }
  return check_mix(c, v, width, &KernTable::attn_mix_q8);
}

bool check_attn_merge(Check& c) {
  constexpr size_t kCounts[] = {1, 2, 5};
  const size_t stride = c.s.head_dim + 3;
  return std::all_of(std::begin(kCounts), std::end(kCounts), [&](size_t segments) {
    std::vector<float> ml = c.rnd.values(2 * segments);
    for (size_t i = 0; i < segments; ++i) ml[2 * i + 1] = 1 + std::abs(ml[2 * i + 1]);  // l: a sum that holds exp8(0)
    const std::vector<float> o = c.rnd.values(segments * stride);
    return both_void<float>(c, c.s.head_dim, [&](const KernTable& t, auto& y) {
      t.attn_merge(ml.data(), o.data(), y.data(), segments, c.s.head_dim, stride);
    });
  });
}

struct Named {
  const char* name;
  bool (*check)(Check&);
};
constexpr Named kChecks[] = {
#define KERNEL(family, name, ...) {#name, check_##name},
#include "kern/kernels.def"
#undef KERNEL
};

template <class T>
void add_once(std::vector<T>& all, const T& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

}  // namespace

CheckShapes check_shapes(const Model& m) {
  CheckShapes s;
  for (const Tensor& t : m.tensors)
    if (t.type != TType::vec) add_once(s.matrices, {t.type, t.rows, t.cols});
  const ModelShape& shape = m.shape;
  for (const uint64_t n : {uint64_t{shape.dim}, uint64_t{shape.ffn}, uint64_t{shape.heads} * shape.head_dim, uint64_t{shape.vocab}})
    add_once(s.lengths, n);
  if (shape.qk_norm) add_once(s.lengths, uint64_t{shape.head_dim});
  if (shape.qkv_bias) add_once(s.lengths, uint64_t{shape.kv_heads} * shape.head_dim);
  s.heads = shape.heads;
  s.head_dim = shape.head_dim;
  s.rope_half = shape.rope_freqs.size();
  s.eps = shape.norm_eps;
  s.attn_scale = shape.attn_scale;
  return s;
}

std::vector<std::string> self_check(const KernTable& t, const CheckShapes& shapes) {
  const MxcsrScope float_rules;  // as the engine runs them
  std::vector<std::string> different;
  for (const Named& k : kChecks) {
    Check c{kern_table(Path::ref), t, shapes, {}};
    if (!k.check(c)) different.emplace_back(k.name);
  }
  return different;
}

}  // namespace nyb
