// kernel_test.cpp - every kernel of the list can be measured, and what is asked about its loops is what it executes.
#include <gtest/gtest.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include "kern/error.h"
#include "kernel_bench.h"
#include "kernel_call.h"
#include "kernel_report.h"
#include "mca.h"
#include "model/tensor.h"
#include "paths.h"
#include "refused.h"
#include "support/data.h"
#include "trace.h"
#include "weights.h"

namespace nyb::test {
namespace {

using nlohmann::json;

bool kernels_run() { return cpu_missing(cpu_here(), Path::avx2).empty(); }

TEST(KernelCalls, CoverTheList) {
  for (const KernInfo& info : kern_list()) {
    const std::vector<KernelCall> calls = kernel_calls(info.name);
    EXPECT_FALSE(calls.empty()) << info.name << ": write a call in perf/kernel_call.cpp";
    EXPECT_NE(kernel_code(kern_table(Path::ref), info.name), nullptr) << info.name;
    std::set<std::string> shapes;
    for (const KernelCall& c : calls) {
      EXPECT_EQ(c.kernel, info.name);
      EXPECT_EQ(c.set_bytes % 64, 0u) << c.kernel;
      EXPECT_LE(c.bytes, static_cast<double>(c.set_bytes)) << c.kernel;
      EXPECT_GT(c.elements, 0) << c.kernel;
      EXPECT_TRUE(shapes.insert(c.shape).second) << c.kernel << ' ' << c.shape;
    }
  }
  EXPECT_TRUE(kernel_calls("no such kernel").empty());
}

// A call writes within its set, and the same bytes on every path; called again on the same set it does the same.
TEST(KernelCalls, EveryPathWritesTheSame) {
  constexpr std::byte kGuard{0x5a};
  constexpr size_t kAround = 4096;
  for (const KernInfo& info : kern_list()) {
    if (kernel_calls(info.name).empty()) continue;  // the test above says so
    const KernelCall call = small_call(info.name);
    std::vector<std::byte> expected;
    for (const Path p : kAllPaths) {
      if (!cpu_missing(cpu_here(), p).empty()) continue;
      const Memory memory(call.set_bytes + 2 * kAround, Memory::Pages::small);
      std::fill_n(memory.data(), memory.size(), kGuard);
      std::byte* const set = memory.data() + kAround;
      call.fill(set);
      call.run(kern_table(p), set);
      std::vector<std::byte> got(memory.data(), memory.data() + memory.size());
      if (expected.empty()) expected = got;
      EXPECT_EQ(got, expected) << info.name << ' ' << path_name(p);
      call.run(kern_table(p), set);
      EXPECT_EQ(std::memcmp(got.data(), memory.data(), got.size()), 0) << info.name << ' ' << path_name(p) << " again";
      EXPECT_TRUE(std::all_of(got.begin(), got.begin() + kAround, [&](std::byte b) { return b == kGuard; })) << info.name;
      EXPECT_TRUE(std::all_of(got.end() - kAround, got.end(), [&](std::byte b) { return b == kGuard; })) << info.name;
    }
  }
}

// A shape's own matrices, vectors and heads, each once; a type of blocks has none that it cannot have.
TEST(KernelCalls, AtAShapesSizes) {
  const KernelSizes s = shape_sizes({shape_find("126m"), shape_find("smollm2-135m")});
  const std::vector<KernelSize> matrices = {{32768, 768}, {768, 768}, {256, 768}, {2048, 768}, {768, 2048},
                                            {49152, 576}, {576, 576}, {192, 576}, {1536, 576}, {576, 1536}};
  EXPECT_TRUE(std::is_permutation(s.matrices.begin(), s.matrices.end(), matrices.begin(), matrices.end())) << s.matrices.size();
  EXPECT_EQ(kernel_calls("gemv_q8", s).size(), 10u);
  std::set<std::string> blocks;
  for (const KernelCall& c : kernel_calls("gemv_q4k", s)) blocks.insert(c.shape);
  EXPECT_EQ(blocks, (std::set<std::string>{"32768x768", "768x768", "256x768", "2048x768", "768x2048", "576x1536"}));
  EXPECT_EQ(kernel_calls("gemm_q8", s).size(), 8u) << "no head";
  EXPECT_EQ(kernel_calls("rope", s).size(), 2u);
  EXPECT_NO_THROW(check_kernels({Path::ref}, s));
}

TEST(Kernels, AWrongOneIsRefused) {
  KernTable wrong = kern_table(Path::ref);
  wrong.rmsnorm = [](const float* x, const float* w, float* y, size_t n, float eps) {
    const uint32_t flag = kern_table(Path::ref).rmsnorm(x, w, y, n, eps);
    y[n / 2] += 1;
    return flag;
  };
  EXPECT_NO_THROW(check_kernels({Path::ref}));
  expect_refused([&] { check_kernels({Path::ref}, usual_sizes(), [&](Path) -> const KernTable& { return wrong; }); }, "ref",
                 "rmsnorm");
}

TEST(Paths, RefOnlyWhereItIsAskedFor) {
  std::vector<std::string> missing;
  EXPECT_TRUE(measured_paths(CpuFeatures{}, {}, missing).empty());
  EXPECT_EQ(missing.size(), 4u);
  EXPECT_EQ(measured_paths(CpuFeatures{}, {Path::ref}, missing), std::vector<Path>{Path::ref});
  EXPECT_THROW(measured_paths(CpuFeatures{}, {Path::avx2}, missing), Error);
  for (const Path p : measured_paths(cpu_here(), {}, missing)) EXPECT_NE(p, Path::ref);
}

// Four panels of eight groups: the loop of the groups is gone round 32 times, whatever the path makes of it.
TEST(Trace, FindsTheLoopOfAProduct) {
  if (!kernels_run()) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  const KernTable& k = kern_table(Path::avx2);
  const KernelCall call = small_call("gemv_q8");
  ASSERT_EQ(call.shape, "64x256");
  const Memory memory(call.set_bytes, Memory::Pages::small);
  call.fill(memory.data());
  const CallTrace t = trace_call(kernel_code(k, "gemv_q8"), [&] { call.run(k, memory.data()); });
  if (t.instructions == 0) GTEST_SKIP() << "this machine lacks the signal after each instruction";
  ASSERT_FALSE(t.loops.empty());
  EXPECT_EQ(t.loops[0].turns, 32u);
  EXPECT_GT(t.loops[0].instructions, t.instructions * 9 / 10);
  EXPECT_LE(t.loops[0].instructions, t.instructions);
  EXPECT_EQ(t.loops[0].instructions % 32, 0u) << "no branch within";
  const std::vector<uint8_t>& code = t.loops[0].code;
  EXPECT_TRUE(code[code.size() - 2] == 0x75 || code[code.size() - 5] == 0x85) << "ends with its jne";
  const auto* const begin = static_cast<const uint8_t*>(kernel_code(k, "gemv_q8"));
  EXPECT_NE(std::search(begin, begin + 4096, code.begin(), code.end()), begin + 4096);
  // whatever else is called is not counted
  const CallTrace none = trace_call(kernel_code(k, "gemv_q4"), [&] { call.run(k, memory.data()); });
  EXPECT_EQ(none.instructions, 0u);
  EXPECT_TRUE(none.loops.empty());
}

// Tools of our own in the place of LLVM's.
class Tools {
 public:
  explicit Tools(const char* mca) : folder_(tmp_dir() / "tools"), before_(std::getenv("PATH")) {
    std::filesystem::create_directories(folder_);
    write("llvm-mc", "#!/bin/sh\necho nop\n");
    write(
        "llvm-mca",
        std::string("#!/bin/sh\n[ \"$1\" = --version ] && printf '  LLVM version 99.1\\n  Host CPU: somelake\\n' && exit\n") + mca);
    setenv("PATH", (folder_.string() + ":/bin:/usr/bin").c_str(), 1);
  }
  ~Tools() { setenv("PATH", before_.c_str(), 1); }
  Tools(const Tools&) = delete;
  Tools& operator=(const Tools&) = delete;

 private:
  void write(const char* name, const std::string& text) {
    const auto path = folder_ / name;
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  std::filesystem::path folder_;
  std::string before_;
};

TEST(Mca, ReadsWhatItSays) {
  if (!kernels_run()) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  const Tools tools("cat > /dev/null; printf 'Iterations:        100\\nTotal Cycles:      1600\\n'");
  Mca mca;
  EXPECT_EQ(mca.what(), "llvm-mca 99.1, somelake");
  EXPECT_DOUBLE_EQ(mca.turn_cycles(std::vector<uint8_t>{0x90, 0x75, 0xfd}), 16);
  const McaBound& b = mca.bound(kern_table(Path::avx2), "gemv_q8");
  if (b.problem.find("step through") != std::string::npos) GTEST_SKIP() << "this machine lacks the signal after each instruction";
  EXPECT_EQ(b.problem, "");
  EXPECT_DOUBLE_EQ(b.cycles, 16.0 * 32 / (64 * 256)) << "sixteen cycles for 32 turns";
  EXPECT_GT(b.share, 0.9);
  EXPECT_TRUE(mca.problems().empty());
}

TEST(Mca, SaysWhatItCannot) {
  if (!kernels_run()) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  const Tools tools("echo 'error: found an unsupported instruction' >&2; exit 1");
  Mca mca;
  const McaBound& b = mca.bound(kern_table(Path::avx2), "vec_add");
  EXPECT_NE(b.problem, "");
  ASSERT_EQ(mca.problems().size(), 1u);
  EXPECT_TRUE(mca.problems()[0].starts_with("llvm-mca on vec_add/avx2: ")) << mca.problems()[0];
  setenv("PATH", "/no/such/folder", 1);
  Mca none;
  EXPECT_EQ(none.what(), "llvm-mca: not installed");
  EXPECT_EQ(none.bound(kern_table(Path::avx2), "vec_add").problem, "not installed");
  EXPECT_TRUE(none.problems().empty());
}

TEST(KernelReport, WordsAndJson) {
  const KernelRow r{"gemv_q8/avx2/768x768/warm",
                    "",
                    {100, 300, 200},
                    {{"GB/s", {1, 3, 2}},
                     {"GMAC/s", {4}},
                     {"cycles_per_byte", {0.5}},
                     {"cycles_per_element", {0.25}},
                     {"mca_cycles_per_element", {0.125}},
                     {"mca_share", {0.7}}}};
  const KernelRow failed{"fork_join_all/threads:8", "too many threads", {}, {}};
  const Machine m{"a CPU", "2026-01-01T00:00:00Z", "0", "perf --kernels", 4, 32 << 20, "abc123"};
  EXPECT_NE(kernel_head({"llvm-mca: not installed"}, m).find("\nllvm-mca: not installed\n"), std::string::npos);
  EXPECT_EQ(
      kernel_line(r),
      "| gemv_q8         | avx2   | 768x768   | warm   |      200.0 |  100 % |    2.00 |    4.00 |      0.5000 |         0.2500 | "
      "0.1250 (70 %) "
      "|\n");
  EXPECT_TRUE(kernel_line(failed).starts_with("| fork_join_all   |        | threads:8 |        | too many threads |"));
  const json j = json::parse(kernel_json({r, failed}, {"a note"}, m));
  EXPECT_EQ(j["machine"]["cpu"], "a CPU");
  EXPECT_EQ(j["notes"], json({"a note"}));
  EXPECT_EQ(j["rows"][0]["kernel"], "gemv_q8");
  EXPECT_EQ(j["rows"][0]["memory"], "warm");
  EXPECT_EQ(j["rows"][0]["gb_per_second"], 2);
  EXPECT_EQ(j["rows"][0]["samples_nanoseconds"], json({100.0, 300.0, 200.0}));
  EXPECT_EQ(j["rows"][0]["spread"], 1.0);
  EXPECT_EQ(j["rows"][0]["noisy"], true);
  EXPECT_EQ(j["rows"][0]["samples_gb_per_second"], json({1.0, 3.0, 2.0}));
  EXPECT_EQ(j["rows"][1]["problem"], "too many threads");
  EXPECT_EQ(j["rows"][1].count("nanoseconds"), 0u);
}

}  // namespace
}  // namespace nyb::test
