// perf_test.cpp - what the measuring program says where it cannot measure. Its figures are no matter for a test.
#include <gtest/gtest.h>
#include "kern/cpu.h"
#include "programs.h"

namespace nyb::test {
namespace {

Ran perf(const Args& args, const RunOptions& o = {}) {
  Args all{program("perf")};
  all.insert(all.end(), args.begin(), args.end());
  return run(all, o);
}

bool kernels_run() { return cpu_missing(cpu_here(), Path::avx2).empty(); }

TEST(Perf, WhatIsWrongIsOneSentence) {
  if (!kernels_run()) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  struct Case {
    Args args;
    int code;
    const char* says;
  };
  for (const Case& c : std::vector<Case>{{{"--benchmark_filter=("}, 1, "'(' is no regular expression"},
                                         {{"--benchmark_filter=none such"}, 1, "no benchmark has 'none such' in its name"},
                                         {{"--benchmark_list_tests", "--benchmark_filter=none"}, 1, "no benchmark has 'none'"},
                                         {{"--benchmark_list_tests", "--benchmark_out=/no/x"}, 1, "cannot write '/no/x'"},
                                         {{"--kernel", "fast"}, 2, "fast"},
                                         {{"--rounds", "0", "--ratio"}, 2, "from 1 to 1000"},
                                         {{"--bogus"}, 2, "--bogus"}}) {
    const Ran r = perf(c.args);
    EXPECT_EQ(r.code, c.code) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_EQ(r.err.compare(0, 6, "perf: "), 0) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_NE(r.err.find(c.says), std::string::npos) << r.err;
  }
}

TEST(Perf, TheListAndWhereItCannotBeWritten) {
  if (!kernels_run()) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  const Ran list = perf({"--benchmark_list_tests"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_NE(list.out.find("/avx2/"), std::string::npos) << list.out;
  EXPECT_EQ(perf({"--benchmark_list_tests"}, {.close_out_after = 0}).code, 0);
  const Ran full = run({"/bin/sh", "-c", program("perf") + " --benchmark_list_tests > /dev/full"});
  EXPECT_EQ(full.code, 1);
  EXPECT_EQ(full.err, "perf: cannot write to standard output: No space left on device\n");
}

}  // namespace
}  // namespace nyb::test
