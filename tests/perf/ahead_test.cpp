// ahead_test.cpp - what gemm and attention ask for ahead: prefetches change no byte, so a call is stepped through and their
// addresses are noted.
#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>
#include "kern/cpu.h"
#include "kern/kern.h"
#include "step_call.h"

namespace nyb {
namespace {

constexpr size_t kMostBytes = size_t{1} << 16;  // of a kernel
constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

struct Watch {
  uintptr_t code = 0;
  size_t steps = 0, count = 0;
  std::array<uintptr_t, 4096> asked;
} watch;

// The address of the prefetcht0 at p (0f 18 /1) by base, index and displacement; false: it is something else.
bool prefetch_at(const uint8_t* p, const greg_t* regs, uintptr_t& address) {
  const unsigned rex = (*p & 0xf0) == 0x40 ? *p++ : 0u;
  if (p[0] != 0x0f || p[1] != 0x18 || (p[2] >> 3 & 7) != 1) return false;
  const auto reg = [&](unsigned low, unsigned high) { return static_cast<uintptr_t>(regs[kRegisters[low | (high & 1) << 3]]); };
  const unsigned mode = p[2] >> 6;
  p += 3;
  unsigned base = p[-1] & 7u;
  address = 0;
  if (base == 4) {  // scale, index, base follow
    const unsigned scale = *p >> 6, index = *p >> 3 & 7u;
    base = *p++ & 7u;
    if (index != 4 || (rex & 2) != 0) address = reg(index, rex >> 1) << scale;
  }
  int32_t far = 0;
  if (mode == 2) std::memcpy(&far, p, sizeof far);
  const int32_t near = mode == 1 ? static_cast<int8_t>(*p) : 0;
  address += reg(base, rex) + static_cast<uintptr_t>(intptr_t{far + near});
  return true;
}

void on_step(const greg_t* regs) {
  const auto at = static_cast<uintptr_t>(regs[REG_RIP]);
  if (at - watch.code >= kMostBytes) return;
  watch.steps++;
  uintptr_t address = 0;
  const auto* const code = reinterpret_cast<const uint8_t*>(at);  // NOLINT(performance-no-int-to-ptr): a register's value
  if (watch.count < watch.asked.size() && prefetch_at(code, regs, address)) watch.asked[watch.count++] = address;
}

template <class Kernel, class... Args>
std::vector<uintptr_t> asked_by(Kernel* kernel, Args... args) {
  watch = {};
  watch.code = reinterpret_cast<uintptr_t>(kernel);
  step_call(on_step, [&] { kernel(args...); });
  return {watch.asked.begin(), watch.asked.begin() + static_cast<ptrdiff_t>(watch.count)};
}

// What is asked for beyond kFar, and what is not: the former are made up, the latter lines of y.
constexpr uintptr_t kFar = uintptr_t{1} << 60;
struct Asked {
  std::vector<uintptr_t> ahead, y;
};
Asked asked_by(void (*gemm)(const GemmArgs*), const GemmArgs& args) {
  Asked a;
  for (const uintptr_t at : asked_by(gemm, &args)) (at < kFar ? a.y : a.ahead).push_back(at);
  std::sort(a.y.begin(), a.y.end());
  return a;
}

bool can_step() {
  watch = {};
  step_call([](const greg_t*) { watch.steps++; }, [] {});
  return watch.steps > 0;
}

struct Kernel {
  const char* name;
  void (*KernTable::*gemm)(const GemmArgs*);
  size_t most[3];   // tokens of a tile: on avx2, vnni and vnni8, avx512
  size_t lines[2];  // of a page, each time: elsewhere, on avx512
  size_t in_y;      // tokens of kTokens that belong to tiles with sums in y, on avx2
};
constexpr Kernel kKernels[] = {{"q8", &KernTable::gemm_q8, {5, 3, 6}, {1, 2}, 5},
                               {"q4", &KernTable::gemm_q4, {5, 3, 6}, {1, 1}, 5},
                               {"q80", &KernTable::gemm_q80, {5, 3, 6}, {1, 2}, 5},
                               {"q4k", &KernTable::gemm_q4k, {5, 3, 6}, {1, 1}, 5},
                               {"q6k", &KernTable::gemm_q6k, {3, 2, 4}, {1, 2}, 6}};
constexpr size_t kGroups = 8, kPanels = 5, kTokens = 7;

// The next panel's line of each token whose sums are in y, panel by panel; sorted.
std::vector<uintptr_t> lines_of_y(const GemmArgs& args, size_t tokens) {
  std::vector<uintptr_t> all;
  for (size_t t = 0; t < tokens; t++)
    for (size_t p = 1; p <= args.panels; p++) all.push_back(reinterpret_cast<uintptr_t>(args.y + t * args.y_stride + 16 * p));
  std::sort(all.begin(), all.end());
  return all;
}

// Tiles of `most` tokens, then half as many, and so on.
size_t tiles(size_t most) {
  size_t n = 0;
  for (size_t left = kTokens; left > 0; n++) {
    while (most > left) most = (most + 1) / 2;
    left -= most;
  }
  return n;
}

// Eight pages at once, line after line, chunk after chunk, and from the beginning again behind the end.
std::vector<uintptr_t> expected(const GemmArgs& args, size_t times, size_t lines) {
  std::vector<uintptr_t> all;
  for (uintptr_t at = args.ahead, i = 0; i < times; i++) {
    for (size_t page = 0; page < 8; page++)
      for (size_t line = 0; line < lines; line++) all.push_back(at + 4096 * page + 64 * line);
    at += 64 * lines;
    if (at % 4096 == 0 && (at += size_t{7} * 4096) >= args.ahead_end) at = args.ahead;
  }
  return all;
}

TEST(Ahead, GemmAsksForWhatItIsTold) {
  if (!can_step()) GTEST_SKIP() << "this machine lacks single steps";
  const std::vector<uint8_t> w(kPanels * kGroups * 600);
  const std::vector<QxGroup> x(kTokens * kGroups);
  const std::vector<float> scale(kPanels * 16), values(kTokens * kGroups);
  std::vector<float> y(kTokens * kPanels * 16);
  for (const Path p : {Path::avx2, Path::vnni, Path::vnni8, Path::avx512}) {
    if (!cpu_missing(cpu_here(), p).empty()) continue;
    const size_t wide = p == Path::avx512, set = p == Path::avx2 ? 0 : 1 + wide, passed = wide ? (kPanels + 1) / 2 : kPanels;
    GemmArgs args{w.data(), scale.data(), x.data(), y.data(), kGroups, kPanels, kTokens, kGroups, kPanels * 16};
    for (const Kernel& k : kKernels) {
      SCOPED_TRACE(testing::Message() << path_name(p) << ' ' << k.name);
      args.ahead = kFar;
      args.ahead_mask = SIZE_MAX;
      args.tokens = 1;
      EXPECT_EQ(asked_by(kern_table(p).*k.gemm, &args), std::vector<uintptr_t>());
      args.tokens = kTokens;
      const std::vector<uintptr_t> y_lines = lines_of_y(args, p == Path::avx2 ? k.in_y : 0);
      const Asked none = asked_by(kern_table(p).*k.gemm, args);
      EXPECT_EQ(none.ahead, std::vector<uintptr_t>());
      EXPECT_EQ(none.y, y_lines);
      const bool first = &k == kKernels;  // steps take their time
      for (const auto& [bytes, mask] : {std::pair<size_t, size_t>{30000, 0}, {70000, 0}, {30000, 3}}) {
        args.ahead_end = args.ahead + bytes;
        args.ahead_mask = mask;
        const Asked asked = asked_by(kern_table(p).*k.gemm, args);
        EXPECT_EQ(asked.ahead, expected(args, tiles(k.most[set]) * passed * (kGroups / (mask + 1)), k.lines[wide]))
            << bytes << ' ' << mask;
        EXPECT_EQ(asked.y, y_lines);
        if (!first) break;
      }
    }
    args.x = values.data();
    args.tokens = 1;
    args.ahead_mask = 0;
    EXPECT_EQ(asked_by(kern_table(p).gemm_f32, &args), std::vector<uintptr_t>()) << "it takes no groups";
  }
}

// Weights that are unpacked once for thirty tokens pass once for them, and the rest by tiles.
TEST(Ahead, GemmInARoomAsksOnce) {
  if (!can_step()) GTEST_SKIP() << "this machine lacks single steps";
  if (const std::string lacks = cpu_missing(cpu_here(), Path::avx2); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  constexpr size_t panels = 2, most = 40;
  const std::vector<uint8_t> w(panels * kGroups * 600);
  const std::vector<QxGroup> x(most * kGroups);
  std::vector<float> y(most * panels * 16);
  std::vector<std::byte> room(kGemmRoom);
  GemmArgs args{w.data(), nullptr, x.data(), y.data(), kGroups, panels, 0, kGroups, panels * 16};
  args.ahead = kFar;
  args.ahead_end = args.ahead + 70000;
  args.ahead_mask = 0;
  args.room = room.data();
  struct Want {
    void (*KernTable::*gemm)(const GemmArgs*);
    size_t tokens, passes;
  };
  for (const Want want : {Want{&KernTable::gemm_q4k, 19, 5},
                          {&KernTable::gemm_q4k, 20, 1},
                          {&KernTable::gemm_q4k, 39, 4},
                          {&KernTable::gemm_q6k, 8, 3},
                          {&KernTable::gemm_q6k, 9, 1},
                          {&KernTable::gemm_q6k, 40, 3}}) {
    args.tokens = want.tokens;
    EXPECT_EQ(asked_by(kern_table(Path::avx2).*want.gemm, args).ahead, expected(args, want.passes * panels * kGroups, 1))
        << want.tokens;
  }
}

constexpr uintptr_t kChunk = uintptr_t{8} * 4096;

// A line in each page of the eight behind those that `from` is in, as far into them as from is into its own: `bytes` of them.
std::vector<uintptr_t> by_pages(uintptr_t from, size_t bytes) {
  std::vector<uintptr_t> all;
  for (uintptr_t line = from / kChunk * 512 + from % kChunk / 512 * 8; all.size() < bytes / 64; line += 8) {
    const uintptr_t chunk = line / 512 + 1;
    for (uintptr_t page = 0; page < 8; page++) all.push_back(chunk * kChunk + page * 4096 + line % 512 / 8 * 64);
  }
  return all;
}

constexpr size_t kMostInputs = size_t{8} * 256, kDim = 32, kBlocks = 5, kRows = 32;

template <class T, class Score, class Mix>
void attention_asks(Score* in_order, Score* score, Mix* mix, const std::vector<T>& cache, size_t queries) {
  const std::vector<float> in(kMostInputs);
  std::vector<float> out(kMostInputs);
  const size_t width = queries < 4 ? 144 : 48;
  const T* const from = cache.data() + (2 * kChunk - 2048 - reinterpret_cast<uintptr_t>(cache.data()) % kChunk) / sizeof(T);
  EXPECT_EQ(asked_by(in_order, in.data(), from, out.data(), kDim, 1, queries, 1.0f), std::vector<uintptr_t>());
  EXPECT_EQ(asked_by(score, in.data(), from, out.data(), kDim, kBlocks, queries, 1.0f),
            by_pages(reinterpret_cast<uintptr_t>(from), kDim * kBlocks * 16 * sizeof(T)));
  EXPECT_EQ(asked_by(mix, in.data(), from, out.data(), kRows, width, queries),
            by_pages(reinterpret_cast<uintptr_t>(from), kRows * width * sizeof(T)));
}

TEST(Ahead, AttentionAsksForWhatFollows) {
  if (!can_step()) GTEST_SKIP() << "this machine lacks single steps";
  const std::vector<float> f32(1 << 16);
  const std::vector<uint16_t> f16(1 << 16);
  for (const Path p : {Path::avx2, Path::avx512}) {
    if (!cpu_missing(cpu_here(), p).empty()) continue;
    const KernTable& t = kern_table(p);
    for (const size_t queries : {1, 2, 6, 7}) {  // steps take their time
      SCOPED_TRACE(testing::Message() << path_name(p) << ' ' << queries << " queries");
      attention_asks(t.attn_score_f32, t.attn_score_f32_pages, t.attn_mix_f32_pages, f32, queries);
      attention_asks(t.attn_score_f16, t.attn_score_f16_pages, t.attn_mix_f16_pages, f16, queries);
    }
  }
}

}  // namespace
}  // namespace nyb
