// What the checked call takes a convention to be, against what the compiler takes it to be; and a debugger's view into a kernel.
#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <csignal>
#include <cstring>

#include "kern/cases.h"
#include "kern/ref.h"

namespace nyb::test {
namespace {

template <class R, class... P>
using MsAbi = R(__attribute__((ms_abi)) *)(P...);

// The Win64 form as a function that the compiler itself can call.
template <class R, class... P>
auto win64(std::string_view name, R (*)(P...)) {
  return reinterpret_cast<MsAbi<R, P...>>(const_cast<void*>(forms_of(name).win64[size_t(Path::avx2)]));
}

class MsAbiCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (!cannot_run(Path::avx2).empty()) GTEST_SKIP() << "this CPU lacks " << cannot_run(Path::avx2);
  }
  KernRun run_{{"", "", Abi::win64, nullptr, false}, 9};  // for its numbers
};

TEST_F(MsAbiCalls, IntegersOnTheStack) {  // gemv_q4 has 5, gemv_q8 6
  std::vector<QxGroup> x(3);
  std::vector<uint8_t> w(size_t(512) * 3 * 2);
  for (uint8_t& b : w) b = uint8_t(run_.bits());
  ASSERT_EQ(ref::qx_vec(run_.floats(96, Kind::normal).data(), x.data(), 96), 0u);
  const auto scale = run_.floats(32, Kind::normal);
  std::vector<float> want(32), got(32);
  ref::gemv_q8(w.data(), scale.data(), x.data(), want.data(), 3, 2);
  win64("gemv_q8", ref::gemv_q8)(w.data(), scale.data(), x.data(), got.data(), 3, 2);
  EXPECT_TRUE(same_bytes(got, want));
}

TEST_F(MsAbiCalls, FloatsInRegistersAndOnTheStack) {
  const auto x = run_.floats(70, Kind::normal), w = run_.floats(70, Kind::normal);
  std::vector<float> want(70), got(70);
  // the fourth argument in xmm3, the fifth on the stack, and a float returned
  const float sum = ref::softmax_num(x.data(), want.data(), 70, 2.0f, 0.75f);
  EXPECT_EQ(win64("softmax_num", ref::softmax_num)(x.data(), got.data(), 70, 2.0f, 0.75f), sum);
  EXPECT_TRUE(same_bytes(got, want));
  EXPECT_EQ(ref::rmsnorm(x.data(), w.data(), want.data(), 70, 1e-5f), 0u);
  EXPECT_EQ(win64("rmsnorm", ref::rmsnorm)(x.data(), w.data(), got.data(), 70, 1e-5f), 0u);
  EXPECT_TRUE(same_bytes(got, want));
  // a float behind five integers
  const auto k = run_.floats(size_t(16) * 4 * 2, Kind::normal);
  std::vector<float> s(32), t(32);
  ref::attn_score_f32(x.data(), k.data(), s.data(), 4, 2, 1, 0.5f);
  win64("attn_score_f32", ref::attn_score_f32)(x.data(), k.data(), t.data(), 4, 2, 1, 0.5f);
  EXPECT_TRUE(same_bytes(s, t));
}

// A fault inside of each kernel is unwound to its caller: what a debugger, a profiler and a crash report need.
void* frames[64];
int frame_count;
uint8_t* locked_page;
void on_segv(int /*sig*/) {
  frame_count = backtrace(frames, 64);
  mprotect(locked_page, 4096, PROT_READ | PROT_WRITE);  // and go on
}

extern "C" __attribute__((noinline)) void nyb_unwind_caller(const float* a, const float* b, float* y, Path p) {
  kern_table(p).vec_add(a, b, y, 40);
  __asm__ volatile("" ::: "memory");  // not a tail call
}

TEST(Unwind, ABacktraceCrossesAKernel) {
  backtrace(frames, 64);  // loads the unwinder before the signal
  struct sigaction sa {
  }, before{};
  sa.sa_handler = on_segv;
  for (const Path p : {Path::avx2, Path::avx512}) {
    if (!cannot_run(p).empty()) continue;
    void* m = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(m, MAP_FAILED);
    locked_page = static_cast<uint8_t*>(m);
    frame_count = 0;
    const std::vector<float> a(40, 1.0f);
    ASSERT_EQ(sigaction(SIGSEGV, &sa, &before), 0);
    nyb_unwind_caller(a.data(), a.data(), static_cast<float*>(m), p);
    sigaction(SIGSEGV, &before, nullptr);
    const auto kernel = reinterpret_cast<uint64_t>(forms_of("vec_add").sysv[size_t(p)]);
    const auto caller = reinterpret_cast<uint64_t>(&nyb_unwind_caller);
    int at = -1;
    for (int i = 0; i + 1 < frame_count; i++) {
      const auto pc = reinterpret_cast<uint64_t>(frames[i]);
      if (pc >= kernel && pc < kernel + 1024) at = i;
    }
    ASSERT_GE(at, 0) << path_name(p) << ": the kernel is not in the backtrace of " << frame_count << " frames";
    const auto next = reinterpret_cast<uint64_t>(frames[at + 1]);
    EXPECT_TRUE(next > caller && next < caller + 256) << path_name(p) << ": behind the kernel comes not its caller";
    EXPECT_GT(frame_count, at + 3) << "and behind that nothing";
    EXPECT_EQ(static_cast<float*>(m)[39], 2.0f);
    munmap(m, 4096);
  }
}

}  // namespace
}  // namespace nyb::test
