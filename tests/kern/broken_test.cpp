// The tests tested: each kernel of broken.asm runs through the cases of vec_add, and exactly the checks meant for its fault must
// speak, whatever else is looked at.
#include <gtest/gtest.h>

#include <set>

#include "kern/cases.h"
#include "kern/cpu.h"
#include "kern/ref.h"

// name, what speaks on System V, what on Win64
#define BROKEN_KERNELS(X)                                                     \
  X(nothing, (), ())                                                          \
  X(rbx, (Check::saved_gpr), (Check::saved_gpr))                              \
  X(rbp, (Check::saved_gpr), (Check::saved_gpr))                              \
  X(r12, (Check::saved_gpr), (Check::saved_gpr))                              \
  X(r13, (Check::saved_gpr), (Check::saved_gpr))                              \
  X(r14, (Check::saved_gpr), (Check::saved_gpr))                              \
  X(r15, (Check::saved_gpr), (Check::saved_gpr))                              \
  X(rdi, (), (Check::saved_gpr))                                              \
  X(rsi, (), (Check::saved_gpr))                                              \
  X(xmm6, (), (Check::saved_xmm))                                             \
  X(xmm15, (), (Check::saved_xmm))                                            \
  X(write_past, (Check::guard, Check::slack), (Check::guard, Check::slack))   \
  X(write_before, (Check::guard, Check::slack), (Check::guard, Check::slack)) \
  X(read_past, (Check::guard), (Check::guard))                                \
  X(read_before, (Check::guard), (Check::guard))                              \
  X(write_input, (Check::guard), (Check::guard))                              \
  X(mxcsr, (Check::mxcsr), (Check::mxcsr))                                    \
  X(direction, (Check::direction), (Check::direction))                        \
  X(x87, (Check::x87), (Check::x87))                                          \
  X(mmx, (Check::x87), (Check::x87))                                          \
  X(upper, (Check::upper), (Check::upper))                                    \
  X(ud2, (Check::fault), (Check::fault))                                      \
  X(null, (Check::fault), (Check::fault))                                     \
  X(divide, (Check::fault), (Check::fault))                                   \
  X(stackless, (Check::fault), (Check::fault))                                \
  X(lost_return, (Check::fault), (Check::fault))                              \
  X(aligned, (Check::fault), (Check::fault))                                  \
  X(zeroed_gpr, (Check::fault), (Check::fault))                               \
  X(stack_below, (Check::stack_below), ())                                    \
  X(red_zone, (), ())                                                         \
  X(home_space, (), ())                                                       \
  X(canary, (Check::stack_canary), (Check::stack_canary))                     \
  X(ret_8, (Check::stack_pointer), (Check::stack_pointer))                    \
  X(zeroed_vector, (Check::result), (Check::result))                          \
  X(clean_upper, (Check::result), (Check::result))                            \
  X(one_lane, (Check::result), (Check::result))                               \
  X(tail, (Check::result), (Check::result))                                   \
  X(aliasing, (Check::result), (Check::result))

#define UNWRAP(...) __VA_ARGS__
extern "C" {
#define X(name, sysv, win64) void nyb_broken_##name##_avx2(), nyb_broken_##name##_avx2_ms();
BROKEN_KERNELS(X)
#undef X
void nyb_broken_narrow_avx2();
void nyb_broken_narrow_avx2_ms();
void nyb_broken_opmask_avx512();
void nyb_broken_opmask_avx512_ms();
}

namespace nyb::test {
namespace {

using Checks = std::set<Check>;
struct Broken {
  const char* name;
  const void* sysv;
  const void* win64;
  Checks on_sysv, on_win64;
};

template <class F>
const void* address(F* f) {
  return reinterpret_cast<const void*>(f);
}

const Broken kBrokenKernels[] = {
#define X(name, sysv, win64) \
  {#name, address(nyb_broken_##name##_avx2), address(nyb_broken_##name##_avx2_ms), Checks({UNWRAP sysv}), Checks({UNWRAP win64})},
    BROKEN_KERNELS(X)
#undef X
};

std::string words(const Checks& checks) {
  std::string s;
  for (const Check c : checks) s += std::string(s.empty() ? "" : ", ") + check_name(c);
  return s.empty() ? "none" : s;
}

Checks spoken(const KernRun& run) {
  Checks c;
  for (const Finding& f : run.findings()) c.insert(f.check);
  return c;
}

class BrokenKernel : public testing::TestWithParam<Broken> {};

TEST_P(BrokenKernel, IsCaughtByTheCheckMeantForIt) {
  if (!cannot_run(Path::avx2).empty()) GTEST_SKIP() << "this CPU lacks " << cannot_run(Path::avx2);
  const Broken& b = GetParam();
  for (const Abi abi : {Abi::sysv, Abi::win64}) {
    KernRun run({b.name, "broken", abi, abi == Abi::sysv ? b.sysv : b.win64, false}, 5);
    run.limit(1000000);
    run_case(run, case_of("vec_add"));
    const Checks &got = spoken(run), &want = abi == Abi::sysv ? b.on_sysv : b.on_win64;
    EXPECT_EQ(got, want) << abi_name(abi) << ": spoken " << words(got) << ", expected " << words(want) << "\n"
                         << (run.findings().empty() ? "" : run.findings()[0].text);
    for (const Finding& f : run.findings()) {  // it names the kernel, the convention and the seed
      ASSERT_NE(f.text.find(std::string(b.name) + "/broken/" + abi_name(abi)), std::string::npos) << f.text;
      ASSERT_NE(f.text.find("seed 5"), std::string::npos) << f.text;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, BrokenKernel, testing::ValuesIn(kBrokenKernels),
                         [](const auto& info) { return std::string(info.param.name); });

// The right sum of a 64-bit length, called as a kernel of a 32-bit one: the garbage above must be what it trips on.
void narrow_reference(const float* a, const float* b, float* y, uint32_t n) { ref::vec_add(a, b, y, n); }

TEST(BrokenKernels, GarbageAboveANarrowArgument) {
  if (!cannot_run(Path::avx2).empty()) GTEST_SKIP() << "this CPU lacks " << cannot_run(Path::avx2);
  for (const Abi abi : {Abi::sysv, Abi::win64}) {
    const void* fn = abi == Abi::sysv ? address(nyb_broken_narrow_avx2) : address(nyb_broken_narrow_avx2_ms);
    KernRun run({"narrow", "broken", abi, fn, false}, 5);
    run.limit(1000000);
    for (uint32_t n = 1; n < 70; n++) {
      const auto a = run.floats(n, Kind::normal), b = run.floats(n, Kind::normal);
      std::vector<float> want(n);
      narrow_reference(a.data(), b.data(), want.data(), n);
      run.open({{"n", n}}, Kind::normal);
      const float *pa = run.in(a), *pb = run.in(b);
      float* y = run.out<float>(n);
      run.call(narrow_reference, pa, pb, y, n);
      run.expect(y, want, "y");
    }
    // garbage of either sign: a great n runs into the guard page, a negative one does nothing
    EXPECT_EQ(spoken(run), (Checks{Check::guard, Check::result})) << abi_name(abi) << ": " << words(spoken(run)) << run.report();
    EXPECT_EQ(run.findings().size(), 69u);
  }
}

TEST(BrokenKernels, OpmaskTakenForAllOnes) {
  if (!cannot_run(Path::avx512).empty()) GTEST_SKIP() << "this CPU lacks " << cannot_run(Path::avx512);
  for (const Abi abi : {Abi::sysv, Abi::win64}) {
    const void* fn = abi == Abi::sysv ? address(nyb_broken_opmask_avx512) : address(nyb_broken_opmask_avx512_ms);
    KernRun run({"opmask", "broken", abi, fn, false}, 5);
    run.limit(1000000);
    run_case(run, case_of("vec_add"));
    EXPECT_EQ(spoken(run), Checks{Check::result}) << abi_name(abi) << ": " << words(spoken(run));
  }
}

}  // namespace
}  // namespace nyb::test
