// Attention: scores, the mix of values, and the merge of segments.
#include <cmath>

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

template <class T, class Reference>
void score(KernRun& run, const Shape& s, Kind kind, Reference* reference) {
  const size_t head_dim = s[0], blocks = s[1];
  auto q = run.floats(head_dim, kind);
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
      q[d] = h.speck_a;
      q[d + 1] = 13421.0f;  // times an odd number of 11 bits from 1251 on: 25 bits
      put_exact(k[at], run.below(2) ? h.speck_b : -h.speck_b);
      put_exact(k[at + 16], float(1251 + 2 * run.below(398)));
    }
  }
  std::vector<float> want(16 * blocks);
  reference(q.data(), k.data(), want.data(), head_dim, blocks, scale);
  run.open({{"head_dim", head_dim}, {"blocks", blocks}}, kind);
  const float* pq = run.in(q);
  const T* pk = run.in(k);
  float* out = run.out<float>(16 * blocks);
  run.call(reference, pq, pk, out, head_dim, blocks, scale);
  run.expect(out, want, "s");
}

template <class T, class Reference>
void mix(KernRun& run, const Shape& s, Kind kind, Reference* reference) {
  const size_t n = s[0], head_dim = s[1];
  auto p = run.floats(n, kind);
  std::vector<T> v(n * head_dim);
  for (T& x : v) put(x, run, kind);
  if (kind == Kind::halfway && n >= 2) {
    const size_t t = run.below(n - 1);
    std::fill(v.begin(), v.end(), T(0));
    p[t] = 0x1p-50f;
    p[t + 1] = 13421.0f;
    for (size_t d = 0; d < head_dim; d++) {
      put_exact(v[t * head_dim + d], run.below(2) ? 0.25f : -0.25f);
      put_exact(v[(t + 1) * head_dim + d], float(1251 + 2 * run.below(398)));
    }
  }
  std::vector<float> want(head_dim);
  reference(p.data(), v.data(), want.data(), n, head_dim);
  run.open({{"n", n}, {"head_dim", head_dim}}, kind);
  const float* pp = run.in(p);
  const T* pv = run.in(v);
  float* o = run.out<float>(head_dim);
  run.call(reference, pp, pv, o, n, head_dim);
  run.expect(o, want, "o");
}

void score_f32(KernRun& run, const Shape& s, Kind kind) { score<float>(run, s, kind, ref::attn_score_f32); }
void score_f16(KernRun& run, const Shape& s, Kind kind) { score<uint16_t>(run, s, kind, ref::attn_score_f16); }
void mix_f32(KernRun& run, const Shape& s, Kind kind) { mix<float>(run, s, kind, ref::attn_mix_f32); }
void mix_f16(KernRun& run, const Shape& s, Kind kind) { mix<uint16_t>(run, s, kind, ref::attn_mix_f16); }

void merge(KernRun& run, const Shape& s, Kind kind) {
  const size_t segments = s[0], head_dim = s[1];
  std::vector<float> ml(2 * segments);
  for (size_t i = 0; i < segments; i++) {
    ml[2 * i] = run.number(kind) * (kind == Kind::normal ? 30.0f : 1.0f);
    ml[2 * i + 1] = 1.0f + std::fabs(run.number(Kind::normal)) * 100;  // at least the greatest position's 1
  }
  const auto o = run.floats(segments * head_dim, kind);
  std::vector<float> want(head_dim);
  ref::attn_merge(ml.data(), o.data(), want.data(), segments, head_dim);
  run.open({{"segments", segments}, {"head_dim", head_dim}}, kind);
  const float *pm = run.in(ml), *po = run.in(o);
  float* out = run.out<float>(head_dim);
  run.call(ref::attn_merge, pm, po, out, segments, head_dim);
  run.expect(out, want, "out");
}

// Every f16 that is finite, as a key and as a value.
void score_f16_extra(KernRun& run) {
  std::vector<uint16_t> k;
  for (uint32_t h = 0; h < 0x10000; h++) {
    if ((h & 0x7C00) != 0x7C00) k.push_back(uint16_t(h));
  }
  const std::vector<float> q = {1.0f};
  const size_t blocks = k.size() / 16;
  std::vector<float> want(k.size());
  ref::attn_score_f16(q.data(), k.data(), want.data(), 1, blocks, 1.0f);
  run.open({{"head_dim", 1}, {"blocks", blocks}}, Kind::wide);
  const float* pq = run.in(q);
  const uint16_t* pk = run.in(k);
  float* out = run.out<float>(k.size());
  run.call(ref::attn_score_f16, pq, pk, out, 1, blocks, 1.0f);
  run.expect(out, want, "s");
}

}  // namespace

std::vector<KernelCase> attn_cases() {
  using enum Kind;
  const std::vector<Kind> all = {normal, wide, tiny, large, zero, halfway};
  const auto dims = range(1, 20, {32, 40, 64, 80, 96, 128}), most = range(1, 20, {32, 63, 64, 65, 80, 96, 128, 512});
  auto score_shapes = grid(dims, range(0, 9, {16}));
  score_shapes.push_back({512, 3, 0});
  auto mix_shapes = grid(range(0, 9, {15, 16, 17, 31, 32, 33}), most);
  for (const size_t n : {255, 256}) mix_shapes.push_back({n, 64, 0});
  return {
      {"attn_score_f32", score_shapes, grid({7}, {5}), all, score_f32, nullptr},
      {"attn_score_f16", score_shapes, grid({7}, {5}), all, score_f16, score_f16_extra},
      {"attn_mix_f32", mix_shapes, grid({5}, {45}), all, mix_f32, nullptr},
      {"attn_mix_f16", mix_shapes, grid({5}, {45}), all, mix_f16, nullptr},
      {"attn_merge", grid(range(1, 9, {16, 17}), most), grid({5}, {45}), {normal, wide, tiny, zero}, merge, nullptr},
  };
}

}  // namespace nyb::test
