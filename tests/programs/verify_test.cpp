// verify_test.cpp - that --verify's comparison sees a wrong kernel: each kernel of the list, broken on purpose by one bit.
#include <gtest/gtest.h>
#include "engine/self_check.h"
#include "kern/ref.h"
#include "programs.h"

namespace nyb::test {
namespace {

// Flips the lowest bit of the first element of a kernel's one output; what it only reads, and numbers, stay.
template <class T>
void spoil_output(const T*) {}
template <class T>
void spoil_output(T* p) {
  *reinterpret_cast<unsigned char*>(p) ^= 1;
}
void spoil_output(const GemmArgs* a) { spoil_output(a->y); }
void spoil_output(float) {}
void spoil_output(size_t) {}
template <class... A>
void spoil_all(A... a) {
  (spoil_output(a), ...);
}

// Of a kernel that gives nothing but a number, the number.
template <class F>
auto spoiled(F&& f) {
  if constexpr (std::is_same_v<decltype(f()), size_t>)
    return f() + 1;
  else
    return f();
}

#define KERNEL(family, name, result, params, args, ...) \
  result broken_##name params {                         \
    struct Spoil {                                      \
      std::function<void()> f;                          \
      ~Spoil() { f(); }                                 \
    } after{[&] { spoil_all args; }};                   \
    return spoiled([&] { return ref::name args; });     \
  }
#include "kern/kernels.def"
#undef KERNEL

TEST(Verify, EachBrokenKernelIsNamed) {
  const auto model = eng_load(pocket_model());
  const CheckShapes shapes = check_shapes(*model);
  const KernTable& good = kern_table(Path::ref);
  EXPECT_TRUE(self_check(good, shapes).empty());
#define KERNEL(family, name, ...)                                                  \
  {                                                                                \
    KernTable t = good;                                                            \
    t.name = broken_##name;                                                        \
    EXPECT_EQ(self_check(t, shapes), std::vector<std::string>{#name}) << "broken"; \
  }
#include "kern/kernels.def"
#undef KERNEL
}

// A kernel that is right in its bytes and wrong in what it returns.
uint32_t finite_after_all(const float* x, QxGroup* out, size_t n) { return ref::qx_vec(x, out, n) + 1; }
float wrong_sum(const float* x, float* p, size_t n, float max, float mul) { return ref::softmax_num(x, p, n, max, mul) + 1; }

TEST(Verify, AWrongResultIsNamed) {
  const auto model = eng_load(pocket_model());
  KernTable t = kern_table(Path::ref);
  t.qx_vec = finite_after_all;
  t.softmax_num = wrong_sum;
  EXPECT_EQ(self_check(t, check_shapes(*model)), (std::vector<std::string>{"qx_vec", "softmax_num"}));
}

}  // namespace
}  // namespace nyb::test
