// Attention: scores, the mix of values, and the merge of segments.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kern/cases.h"
#include "kern/f16.h"
#include "kern/ref.h"

namespace nyb::test {
namespace {

// Keys and values in either type, from a float that the type holds.
void put(float& to, KernRun& run, Kind kind) { to = run.number(kind); }
void put(uint16_t& to, KernRun& run, Kind kind) { to = run.f16(kind); }
void put_exact(float& to, float v) { to = v; }
void put_exact(uint16_t& to, float v) { to = f32_to_f16(v); }

constexpr size_t kRow = 256;  // scores of a query

template <class T, class Reference>
void score(KernRun& run, const Shape& s, Kind kind, Reference* reference) {
  const size_t head_dim = s[0], blocks = s[1], queries = s[2];
  auto q = run.floats(head_dim * queries, kind);
  std::vector<T> k(16 * head_dim * blocks);
  for (T& v : k) put(v, run, kind);
  float scale = kind == Kind::zero ? 0.125f : run.number(kind);
  if (kind == Kind::halfway) {  // one pair of dimensions leaves a speck and the middle, the others nothing
    scale = 1.0f;
    std::fill(k.begin(), k.end(), T(0));
    const size_t d = head_dim >= 2 ? run.below(head_dim - 1) : 0;
    for (size_t t = 0; t < 16 * blocks && head_dim >= 2; t++) {
      const size_t at = (t / 16 * head_dim + d) * 16 + t % 16;
      const Halfway h = halfway(run);
      for (size_t i = 0; i < queries; i++) {
        q[d * queries + i] = h.speck_a;
        q[(d + 1) * queries + i] = 13421.0f;  // times an odd number of 11 bits from 1251 on: 25 bits
      }
      put_exact(k[at], run.below(2) ? h.speck_b : -h.speck_b);
      put_exact(k[at + 16], float(1251 + 2 * run.below(398)));
    }
  }
  // up to the last query's last score: what follows it need not be there
  std::vector<float> want(blocks ? kRow * (queries - 1) + 16 * blocks : 0);
  run.open({{"head_dim", head_dim}, {"blocks", blocks}, {"queries", queries}}, kind);
  const float* pq = run.in(q);
  const T* pk = run.in(k);
  float* out = run.out<float>(want.size());
  if (!want.empty()) memcpy(want.data(), out, want.size() * sizeof(float));  // what lies between the rows' scores stays
  reference(q.data(), k.data(), want.data(), head_dim, blocks, queries, scale);
  run.call(reference, pq, pk, out, head_dim, blocks, queries, scale);
  run.expect(out, want, "s");
}

template <class T, class Reference>
void mix(KernRun& run, const Shape& s, Kind kind, Reference* reference) {
  const size_t n = s[0], width = s[1], queries = s[2];
  auto p = run.floats(n ? kRow * (queries - 1) + n : 0, kind), o = run.floats(queries * width, kind);
  std::vector<T> v(n * width);
  for (T& x : v) put(x, run, kind);
  if (kind == Kind::halfway && n >= 2) {
    const size_t t = run.below(n - 1);
    std::fill(v.begin(), v.end(), T(0));
    std::fill(o.begin(), o.end(), 0.0f);
    for (size_t i = 0; i < queries; i++) {
      p[kRow * i + t] = 0x1p-50f;
      p[kRow * i + t + 1] = 13421.0f;
    }
    for (size_t d = 0; d < width; d++) {
      put_exact(v[t * width + d], run.below(2) ? 0.25f : -0.25f);
      put_exact(v[(t + 1) * width + d], float(1251 + 2 * run.below(398)));
    }
  }
  std::vector<float> want = o;
  reference(p.data(), v.data(), want.data(), n, width, queries);
  run.open({{"n", n}, {"width", width}, {"queries", queries}}, kind);
  const float* pp = run.in(p);
  const T* pv = run.in(v);
  float* to = run.inout(o);
  run.call(reference, pp, pv, to, n, width, queries);
  run.expect(to, want, "o");
}

template <class T, auto kReference>
void score_of(KernRun& run, const Shape& s, Kind kind) {
  score<T>(run, s, kind, kReference);
}
template <class T, auto kReference>
void mix_of(KernRun& run, const Shape& s, Kind kind) {
  mix<T>(run, s, kind, kReference);
}

// Groups as a quantized cache has them: any bytes but -128, and a scale.
int8_t weight(KernRun& run, Kind kind) {
  return kind == Kind::extreme ? int8_t(run.below(2) ? 127 : -127) : kind == Kind::zero ? int8_t(0) : int8_t(run.below(255)) - 127;
}

void score_q8(KernRun& run, const Shape& s, Kind kind) {
  const size_t groups = s[0], blocks = s[1], queries = s[2];
  const Kind numbers = kind == Kind::extreme ? Kind::normal : kind;
  std::vector<QxGroup> q(groups * queries);
  for (QxGroup& g : q) {
    g = {};
    for (size_t i = 0; i < 32; i++) {
      g.q[i] = weight(run, kind);
      g.sum += g.q[i];
      if (i >= 16) g.sum_hi += g.q[i];
    }
    g.scale = run.number(numbers);
    g.xsum = 0x1p100f;  // nobody's business here
  }
  std::vector<uint8_t> k;
  for (size_t g = 0; g < groups * blocks; g++) {
    for (size_t i = 0; i < 512; i++) k.push_back(uint8_t(weight(run, kind)));
    const auto scales = run.floats(16, numbers);
    const auto* bytes = reinterpret_cast<const uint8_t*>(scales.data());
    k.insert(k.end(), bytes, bytes + 64);
  }
  const float scale = run.number(numbers);
  std::vector<float> want(blocks ? kRow * (queries - 1) + 16 * blocks : 0);
  run.open({{"groups", groups}, {"blocks", blocks}, {"queries", queries}}, kind);
  const QxGroup* pq = run.in(q);
  const void* pk = run.in(k);
  float* out = run.out<float>(want.size());
  if (!want.empty()) memcpy(want.data(), out, want.size() * sizeof(float));
  ref::attn_score_q8(q.data(), k.data(), want.data(), groups, blocks, queries, scale);
  run.call(ref::attn_score_q8, pq, pk, out, groups, blocks, queries, scale);
  run.expect(out, want, "s");
}

void mix_q8(KernRun& run, const Shape& s, Kind kind) {
  const size_t n = s[0], width = s[1], queries = s[2];
  const Kind numbers = kind == Kind::extreme ? Kind::normal : kind;
  const auto p = run.floats(n ? kRow * (queries - 1) + n : 0, numbers), o = run.floats(queries * width, numbers);
  std::vector<uint8_t> v;
  for (size_t g = 0; g < n * width / 32; g++) {
    const float scale = run.number(numbers);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&scale);
    v.insert(v.end(), bytes, bytes + sizeof(float));
    for (size_t i = 0; i < 32; i++) v.push_back(uint8_t(weight(run, kind)));
  }
  std::vector<float> want = o;
  ref::attn_mix_q8(p.data(), v.data(), want.data(), n, width, queries);
  run.open({{"n", n}, {"width", width}, {"queries", queries}}, kind);
  const float* pp = run.in(p);
  const void* pv = run.in(v);
  float* to = run.inout(o);
  run.call(ref::attn_mix_q8, pp, pv, to, n, width, queries);
  run.expect(to, want, "o");
}

void merge(KernRun& run, const Shape& s, Kind kind) {
  const size_t segments = s[0], head_dim = s[1], stride = head_dim + s[2];
  std::vector<float> ml(2 * segments);
  for (size_t i = 0; i < segments; i++) {
    ml[2 * i] = run.number(kind) * (kind == Kind::normal ? 30.0f : 1.0f);
    ml[2 * i + 1] = 1.0f + std::fabs(run.number(Kind::normal)) * 100;  // at least the greatest position's 1
  }
  const auto o = run.floats((segments - 1) * stride + head_dim, kind);
  std::vector<float> want(head_dim);
  ref::attn_merge(ml.data(), o.data(), want.data(), segments, head_dim, stride);
  run.open({{"segments", segments}, {"head_dim", head_dim}, {"stride", stride}}, kind);
  const float *pm = run.in(ml), *po = run.in(o);
  float* out = run.out<float>(head_dim);
  run.call(ref::attn_merge, pm, po, out, segments, head_dim, stride);
  run.expect(out, want, "out");
}

// Every f16 that is finite, as a key and as a value.
void score_f16_extra(KernRun& run) {
  std::vector<uint16_t> k;
  for (uint32_t h = 0; h < 0x10000; h++) {
    if ((h & 0x7C00) != 0x7C00) k.push_back(uint16_t(h));
  }
  const std::vector<float> q = {1.0f};
  for (size_t from = 0; from < k.size() && !run.full(); from += kRow) {
    const std::vector<uint16_t> part(k.begin() + ptrdiff_t(from), k.begin() + ptrdiff_t(std::min(from + kRow, k.size())));
    const size_t blocks = part.size() / 16;
    std::vector<float> want(part.size());
    ref::attn_score_f16(q.data(), part.data(), want.data(), 1, blocks, 1, 1.0f);
    run.open({{"head_dim", 1}, {"blocks", blocks}}, Kind::wide);
    const float* pq = run.in(q);
    const uint16_t* pk = run.in(part);
    float* out = run.out<float>(part.size());
    run.call(ref::attn_score_f16, pq, pk, out, 1, blocks, 1, 1.0f);
    run.expect(out, want, "s");
  }
}

}  // namespace

std::vector<KernelCase> attn_cases() {
  using enum Kind;
  const std::vector<Kind> all = {normal, wide, tiny, large, zero, halfway}, quantized = {normal, wide, tiny, zero, extreme};
  const std::vector<size_t> queries = range(1, 8);
  const auto most = range(1, 20, {32, 63, 64, 65, 80, 96, 128, 512});
  // every number of queries against every number of blocks or vectors, the rest at a few sizes
  auto score_shapes = grid({2, 10}, range(0, 9, {16}), queries);
  for (const Shape& x : grid({4, 5, 7, 8, 16, 40, 64, 128}, {0, 3}, {1, 3, 6, 7})) score_shapes.push_back(x);
  score_shapes.push_back({512, 3, 2});
  auto q8_shapes = grid({1, 3}, {1}, queries);  // not many: where instructions are emulated each takes a trap
  for (const Shape& x : grid({0, 2}, {0, 3}, {1, 4, 5, 8})) q8_shapes.push_back(x);
  for (const Shape& x : {Shape{4, 2, 6}, Shape{1, 16, 2}, Shape{8, 1, 7}}) q8_shapes.push_back(x);
  auto mix_shapes = grid({0, 1, 5}, {0, 16, 32, 48, 64, 80, 112, 128, 144, 272}, queries);
  for (const size_t n : {3, 17, 255, 256})
    for (const size_t q : {1, 2, 6, 8}) mix_shapes.push_back({n, 48, q});
  return {
      {"attn_score_f32", score_shapes, grid({7}, {5}, {1, 5, 7}), all, score_of<float, ref::attn_score_f32>, nullptr},
      {"attn_score_f16", score_shapes, grid({7}, {5}, {1, 5, 7}), all, score_of<uint16_t, ref::attn_score_f16>, score_f16_extra},
      {"attn_mix_f32", mix_shapes, grid({5}, {48}, {1, 5, 7}), all, mix_of<float, ref::attn_mix_f32>, nullptr},
      {"attn_mix_f16", mix_shapes, grid({5}, {48}, {1, 5, 7}), all, mix_of<uint16_t, ref::attn_mix_f16>, nullptr},
      {"attn_score_f32_pages", score_shapes, grid({7}, {5}, {1, 5, 7}), all, score_of<float, ref::attn_score_f32_pages>, nullptr},
      {"attn_score_f16_pages", score_shapes, grid({7}, {5}, {1, 5, 7}), all, score_of<uint16_t, ref::attn_score_f16_pages>,
       nullptr},
      {"attn_mix_f32_pages", mix_shapes, grid({5}, {48}, {1, 5, 7}), all, mix_of<float, ref::attn_mix_f32_pages>, nullptr},
      {"attn_mix_f16_pages", mix_shapes, grid({5}, {48}, {1, 5, 7}), all, mix_of<uint16_t, ref::attn_mix_f16_pages>, nullptr},
      {"attn_score_q8", q8_shapes, grid({2}, {1}, {1, 5, 7}), quantized, score_q8, nullptr},
      {"attn_mix_q8", grid({0, 1, 5, 256}, {0, 32, 64, 96, 128, 160, 288}, queries), grid({5}, {96}, {1, 5, 7}), quantized, mix_q8,
       nullptr},
      {"attn_merge", grid(range(1, 9, {16, 17}), most, {0, 5}), grid({5}, {45}, {3}), {normal, wide, tiny, zero}, merge, nullptr},
  };
}

}  // namespace nyb::test
