// Products of panels with the vectors of several tokens.
#include <algorithm>

#include "kern/cases.h"
#include "kern/cases_panels.h"
#include "kern/ref.h"

namespace nyb::test {
namespace {

constexpr size_t kFewTokens = 11;
constexpr size_t kGap = 3;  // between a token's rows of y and the next one's, and its groups of x and the next one's

// Never, at each group, at each second, at each fourth; of pages that are there and, later, of some that are not.
void ask(GemmArgs& args) {
  constexpr size_t masks[] = {SIZE_MAX, 0, 1, 3};
  args.ahead = reinterpret_cast<uintptr_t>(args.w) & ~uintptr_t{4095};
  args.ahead_end = args.ahead + 80000;
  args.ahead_mask = masks[(args.groups + args.panels + args.tokens) % 4];
}

// Its arrays, everything between two tokens' included, are compared; sizes: groups, panels, tokens.
template <class X>
void check(KernRun& run, void (*ref)(const GemmArgs*), const void* w, const float* row_scale, const std::vector<X>& x,
           const Shape& s, float* y, void* room = nullptr) {
  const size_t stride = 16 * s[1] + kGap;
  std::vector<float> want(stride * s[2]);
  if (!want.empty()) memset(want.data(), 0xA7, want.size() * sizeof(float));  // as KernRun::out fills what is left alone
  GemmArgs args{w, row_scale, x.data(), want.data(), s[0], s[1], s[2], s[0] + kGap, stride};
  ref(&args);
  ask(args);
  args.x = run.in(x);
  args.y = y;
  args.room = room;
  const GemmArgs* given = run.in(std::vector<GemmArgs>{args});
  run.call(ref, given);
  run.expect(y, want, "y");
}

// Tokens' x apart from each other.
template <class X>
std::vector<X> apart(const std::vector<X>& x, size_t n, size_t tokens) {
  std::vector<X> all(tokens * (n + kGap));
  for (size_t t = 0; t < tokens; t++) std::copy_n(x.begin() + ptrdiff_t(t * n), n, all.begin() + ptrdiff_t(t * (n + kGap)));
  if (tokens > 0) all.resize(all.size() - kGap);
  return all;
}

// From so many tokens on weights are unpacked once, on avx2.
template <const Panels& P>
constexpr size_t kRoomFrom = &P == &kQ4k   ? 20
                             : &P == &kQ6k ? 9
                                           : SIZE_MAX;

// Without and with room for unpacked weights, which few tokens and other paths leave alone.
template <const Panels& P, auto Ref>
void gemm(KernRun& run, const Shape& s, Kind kind) {
  const auto [groups, panels, tokens] = s;
  const bool emulated = run.target().emulated;  // traps make it few
  if (emulated && tokens > kFewTokens) return;
  const PanelInput in = panel_input(run, P, groups, panels, tokens, kind);
  for (size_t room = 0; room < 2; room++) {
    run.open({{"groups", groups}, {"panels", panels}, {"tokens", tokens}, {"room", room}}, kind);
    const uint8_t* w = run.in(in.w);
    const float* row_scale = run.in(in.row_scale);
    float* y = run.out<float>((16 * panels + kGap) * tokens);
    uint8_t* const lent = room ? run.out<uint8_t>(kGemmRoom) : nullptr;
    check(run, Ref, w, row_scale, apart(in.x, groups, tokens), s, y, lent);
    if (lent && (run.target().path != "avx2" || tokens < kRoomFrom<P>))
      run.expect(lent, std::vector<uint8_t>(kGemmRoom, 0xA7), "room");
    if (emulated) return;
  }
}

void gemm_f32(KernRun& run, const Shape& s, Kind kind) {
  const auto [cols, panels, tokens] = s;
  const FloatInput in = float_input(run, cols, panels, tokens, kind);
  run.open({{"cols", cols}, {"panels", panels}, {"tokens", tokens}}, kind);
  const float* w = run.in(in.w);
  float* y = run.out<float>((16 * panels + kGap) * tokens);
  check(run, ref::gemm_f32, w, nullptr, apart(in.x, cols, tokens), s, y);
}

// Every number of tokens with one panel and several, and a model's sizes: too many instructions for traps.
template <const Panels& P, auto Ref>
void more(KernRun& run) {
  if (run.target().emulated) return;
  for (size_t tokens = 0; tokens < 68; tokens++)
    for (const size_t panels : {1, 2, 5}) gemm<P, Ref>(run, {P.unit_groups * 2, panels, tokens}, Kind::normal);
  gemm<P, Ref>(run, {P.unit_groups == 8 ? size_t{16} : 18, 40, 14}, Kind::normal);
}

}  // namespace

std::vector<KernelCase> gemm_cases() {
  using enum Kind;
  const std::vector<Kind> quantized = {normal, wide, tiny, large, zero, halfway, extreme, outlier};
  // each tile and each pair of them, with one panel, and with a pair and one more; traps make it few
  std::vector<Shape> shapes = grid({2}, {1}, {0, 1, 2, 3, 4, 5, 7, 11});
  for (const Shape& s : {Shape{1, 0, 2}, Shape{1, 2, 1}, Shape{3, 3, 3}, Shape{5, 2, 6}}) shapes.push_back(s);
  std::vector<Shape> blocks = grid({8}, {1}, {0, 1, 2, 3, 5});
  for (const Shape& s : {Shape{8, 0, 1}, Shape{8, 2, 1}, Shape{8, 3, 1}, Shape{16, 0, 2}, Shape{16, 1, 1}}) blocks.push_back(s);
  for (const Shape& s : {Shape{8, 0, 31}, Shape{16, 1, 11}, Shape{8, 2, 23}, Shape{8, 1, 33}}) blocks.push_back(s);
  const auto few = grid({2}, {2}, {4}), few_blocks = grid({8}, {1}, {3});
  return {
      {"gemm_q8", shapes, few, quantized, gemm<kQ8, ref::gemm_q8>, more<kQ8, ref::gemm_q8>},
      {"gemm_q4", shapes, few, quantized, gemm<kQ4, ref::gemm_q4>, more<kQ4, ref::gemm_q4>},
      {"gemm_q80", shapes, few, quantized, gemm<kQ80, ref::gemm_q80>, more<kQ80, ref::gemm_q80>},
      {"gemm_q4k", blocks, few_blocks, quantized, gemm<kQ4k, ref::gemm_q4k>, more<kQ4k, ref::gemm_q4k>},
      {"gemm_q6k", blocks, few_blocks, quantized, gemm<kQ6k, ref::gemm_q6k>, more<kQ6k, ref::gemm_q6k>},
      {"gemm_f32",
       grid({1, 2, 7, 40}, {0, 1, 2, 3}, {0, 1, 2, 3, 4, 6, 9, 17}),
       grid({5}, {3}, {7}),
       {normal, wide, tiny, large, zero, halfway},
       gemm_f32,
       nullptr},
  };
}

}  // namespace nyb::test
