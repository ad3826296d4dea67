// Every kernel x every path that has a body of its own x both calling conventions: the bytes of the reference, through the
// checked call. A path that inherits a body is held to it in Tables.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "kern/cases.h"
#include "kern/cpu.h"
#include "kern/ref.h"
#include "support/vnni_emu.h"

namespace nyb::test {
namespace {

uint64_t seed() {
  const char* e = std::getenv("NYBBLE_TEST_SEED");
  return e ? std::strtoull(e, nullptr, 0) : 20240817;
}

struct Form {
  std::string_view name;
  Path path;
  Abi abi;
};

std::vector<Form> own_bodies() {
  std::vector<Form> v;
  for (const KernelForms& k : kernel_forms()) {
    for (const Path p : kAllPaths) {
      if (p == Path::ref || k.body[size_t(p)] != p) continue;
      for (const Abi abi : {Abi::sysv, Abi::win64}) v.push_back({k.name, p, abi});
    }
  }
  return v;
}

class Kernel : public testing::TestWithParam<Form> {
 protected:
  static void SetUpTestSuite() {
    install_fault_handlers();
    ASSERT_TRUE(vnni::install()) << "the signal frames of this system carry no AVX state";
  }
  static void TearDownTestSuite() { vnni::uninstall(); }
};

TEST_P(Kernel, GivesTheBytesOfTheReference) {
  const auto [name, path, abi] = GetParam();
  const KernelForms& forms = forms_of(name);
  const std::string missing = cannot_run(path);
  if (!missing.empty()) GTEST_SKIP() << "this CPU lacks " << missing << ", so " << name << "/" << path_name(path) << " is not run";

  const uint64_t emulated = vnni::count();
  const auto* fn = abi == Abi::sysv ? forms.sysv[size_t(path)] : forms.win64[size_t(path)];
  const Target target{std::string(name), std::string(path_name(path)), abi, fn, needs_emulation(path)};
  size_t calls = 0;
  for (int round = 0; round < (target.emulated ? 1 : 3) && !HasFailure(); round++) {  // traps are slow
    KernRun run(target, seed() + uint64_t(round));
    run_case(run, case_of(name));
    EXPECT_TRUE(run.findings().empty()) << run.report();
    calls += run.calls();
  }
  EXPECT_GT(calls, 300u);
  const uint64_t count = vnni::count() - emulated;
  if (needs_emulation(path)) {
    EXPECT_GT(count, 0u) << "nothing of " << path_name(path) << " was emulated, so its own instructions were not run";
    EXPECT_LT(count, 1000000u) << "too many traps for a test";
  } else {
    EXPECT_EQ(count, 0u) << "this CPU has the instructions of " << path_name(path) << ", and still one trapped";
  }
  RecordProperty("calls", int(calls));
  RecordProperty("emulated", int(count));
}

INSTANTIATE_TEST_SUITE_P(All, Kernel, testing::ValuesIn(own_bodies()), [](const auto& info) {
  const Form& f = info.param;
  return std::string(f.name) + "_" + std::string(path_name(f.path)) + "_" + abi_name(f.abi);
});

TEST(Cases, EveryKernelOfTheListHasOne) {
  std::set<std::string_view> listed, cased;
  for (const KernInfo& k : kern_list()) listed.insert(k.name);
  for (const KernelCase& c : kernel_cases()) EXPECT_TRUE(cased.insert(c.name).second) << "two cases for " << c.name;
  for (const auto name : listed) EXPECT_TRUE(cased.count(name)) << "kernels.def lists " << name << ", tests/kern/cases*.cpp do not";
  for (const auto name : cased)
    EXPECT_TRUE(listed.count(name)) << "tests/kern has a case for " << name << ", which kernels.def does not";
}

TEST(Tables, RefRunsTheReference) {
#define KERNEL(family, name, result, params, args, ...) EXPECT_EQ(kern_table(Path::ref).name, &ref::name) << #name;
#include "kern/kernels.def"
#undef KERNEL
}

// The table of a path holds the function that the list names: a body that is run above, the path's own or the one it inherits.
TEST(Tables, EachPathRunsABodyThatIsTested) {
  std::set<std::pair<std::string_view, Path>> run;
  for (const Form& f : own_bodies()) run.insert({f.name, f.path});
  for (const KernelForms& k : kernel_forms()) {
    for (const Path path : kAllPaths) {
      if (path == Path::ref) continue;
      const Path body = k.body[size_t(path)];
      EXPECT_TRUE(run.count({k.name, body})) << k.name << "/" << path_name(path) << " inherits from " << path_name(body);
      EXPECT_EQ(k.table[size_t(path)], k.sysv[size_t(body)]) << "the table of " << path_name(path) << " has another " << k.name;
      EXPECT_EQ(k.sysv[size_t(path)], k.sysv[size_t(body)]) << k.name << "/" << path_name(path);
      EXPECT_EQ(k.win64[size_t(path)], k.win64[size_t(body)]) << k.name << "/" << path_name(path);
    }
  }
}

TEST(Tables, EachPathSaysItsName) {
  for (const Path p : kAllPaths) EXPECT_EQ(kern_table(p).path, p) << path_name(p);
}

// Other functions in the places of the quantized products, and nothing else.
TEST(Tables, AnOrderChangesNoKernel) {
  for (const Path p : kAllPaths) {
    const KernTable& was = kern_table(p);
    EXPECT_EQ(was.order, Order::in_order);
    for (const Order o : kAllOrders) {
      const KernTable is = with_order(was, o);
      EXPECT_EQ(is.path, p);
      EXPECT_EQ(is.order, o);
#define KERNEL(family, name, ...) EXPECT_EQ(is.name, was.name) << path_name(p) << " " << #name;
#include "kern/kernels.def"
#undef KERNEL
    }
  }
}

// Of avx512 the products and of avx2 all else, in every order of reading; another path's table is what it was.
TEST(Tables, NarrowIsAvx2ButForProducts) {
  const KernTable& narrow = kern_table(Path::avx2);
  for (const Path p : kAllPaths)
    for (const Order o : kAllOrders) {
      const KernTable was = with_order(kern_table(p), o), is = narrow_table(was);
      EXPECT_EQ(is.path, p);
      EXPECT_EQ(is.order, o);
      const auto kept = [&](std::string_view family) { return p != Path::avx512 || family == "gemv" || family == "gemm"; };
#define KERNEL(family, name, ...) EXPECT_EQ(is.name, kept(#family) ? was.name : narrow.name) << path_name(p) << " " << #name;
#include "kern/kernels.def"
#undef KERNEL
      EXPECT_EQ(is.rope == was.rope, p != Path::avx512);
    }
}

TEST(Tables, AForcedPathIsTheOneThatRuns) {
  for (const Path p : kAllPaths) {
    if (!cpu_missing(cpu_here(), p).empty()) continue;  // kern_pick's refusal is tested with the reference
    const KernChoice choice = kern_pick(cpu_here(), path_name(p));
    EXPECT_EQ(choice.table.gemv_q8, kern_table(p).gemv_q8) << path_name(p);
    EXPECT_EQ(choice.table.path, p);
  }
}

}  // namespace
}  // namespace nyb::test
