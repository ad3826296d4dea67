// perf_test.cpp - what the measuring program says where it cannot measure. Its figures are no matter for a test.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include "kern/cpu.h"
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

Ran perf(const Args& args, const RunOptions& o = {}, const char* which = "perf") {
  Args all{program(which)};
  all.insert(all.end(), args.begin(), args.end());
  return run(all, o);
}

void expect_sentence(const Ran& r, int code, const std::string& says, const std::string& which = "perf") {
  EXPECT_EQ(r.code, code) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_TRUE(r.err.starts_with(which + ": ")) << r.err;
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  EXPECT_NE(r.err.find(says), std::string::npos) << "wanted '" << says << "' in: " << r.err;
}

bool kernels_run() { return cpu_missing(cpu_here(), Path::avx2).empty(); }

TEST(Perf, WhatIsWrongIsOneSentence) {
  if (!kernels_run()) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  struct Case {
    Args args;
    int code;
    const char* says;
  };
  for (const Case& c : std::vector<Case>{{{"--benchmark_filter=("}, 2, "'(' is no regular expression"},
                                         {{"--benchmark_filter=none such"}, 1, "no benchmark has 'none such' in its name"},
                                         {{"--benchmark_list_tests", "--benchmark_filter=none"}, 1, "no benchmark has 'none'"},
                                         {{"--benchmark_list_tests", "--benchmark_out=/no/x"}, 1, "cannot write '/no/x'"},
                                         {{"--kernel", "fast"}, 2, "fast"},
                                         {{"--rounds", "0", "--ratio"}, 2, "from 1 to 1000"},
                                         {{"--breakdown", "-o", "csv"}, 2, "--breakdown writes md or json"},
                                         {{"--breakdown", "--kernels"}, 2, "tasks of their own"},
                                         {{"--breakdown", "--benchmark_filter=x"}, 2, "'--benchmark_filter=x' beside --breakdown"},
                                         {{"--kernels", "-o", "jsonl"}, 2, "--kernels writes md or json"},
                                         {{"--kernels", "--load", "huge"}, 2, "--load is for whole models"},
                                         {{"--load", "disk"}, 2, "--load takes map and huge, not 'disk'"},
                                         {{"--ratio", "-o", "csv"}, 2, "--ratio writes md or json"},
                                         {{"--ratio", "--shape", "126m"}, 2, "--shape is for whole models"},
                                         {{"--kernels", "-n", "1"}, 2, "--gen is for whole models"},
                                         {{"--shape", "126m,foo"}, 2, "there is no shape 'foo'; there are 126m, "},
                                         {{"--kv", "f32,q2"}, 2, "f32, f16"},
                                         {{"-n", "0", "-p", "0"}, 2, "nothing to measure: -n and -p are both 0"},
                                         {{"--breakdown", "-n", "0"}, 2, "nothing to measure"},
                                         {{"--peer", "echo", "--peer-pattern", "(1)", "-n", "0", "-p", "0"}, 2, "nothing to"},
                                         {{"--bogus"}, 2, "--bogus"}}) {
    expect_sentence(perf(c.args), c.code, c.says);
  }
}

TEST(Perf, TheEnvironmentInPlaceOfOptions) {
  if (!kernels_run()) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  expect_sentence(perf({"--benchmark_list_tests"}, {.env = {"BENCHMARK_OUT=/no/x"}}), 1, "cannot write '/no/x'");
  expect_sentence(perf({"--benchmark_list_tests"}, {.env = {"BENCHMARK_FILTER=none"}}), 1, "no benchmark has 'none'");
  const std::string file = (tmp_dir() / "results.json").string();
  const Ran option = perf({"--benchmark_list_tests", "--benchmark_out=" + file}, {.env = {"BENCHMARK_OUT=/no/x"}});
  EXPECT_EQ(option.code, 0) << option.err;
}

// Whatever a terminal would obey is escaped, also in what Google Benchmark says itself.
TEST(Perf, NothingThatATerminalObeys) {
  const std::string odd = "\x1b[31m", shown = "\\x1b[31m";
  for (const char* option :
       {"--benchmark_out=/no/", "--benchmark_filter=(", "--benchmark_filter=none", "--benchmark_repetitions=",
        "--benchmark_format=", "--benchmark_bogus=", "--benchmark_color=", "--benchmark_time_unit=", "--bogus=", "--kernel="}) {
    const Ran r = perf({"--benchmark_list_tests", option + odd});
    if (option == std::string("--benchmark_color=") && r.code == 0) continue;  // any word is one of its values
    EXPECT_NE(r.code, 0) << option;
    EXPECT_EQ(r.err.find('\x1b'), std::string::npos) << r.err;
    expect_sentence(r, r.code, "");
  }
}

TEST(Perf, WithoutKernelsItSaysSo) {
  const Ran list = perf({"--benchmark_list_tests"}, {}, "perf_bare");
  EXPECT_EQ(list.code, 0);
  EXPECT_NE(list.out.find("fork_join_empty/threads:1"), std::string::npos) << list.out;
  EXPECT_EQ(list.out.find("gemv"), std::string::npos) << list.out;
  EXPECT_TRUE(list.err.starts_with("perf_bare: this CPU lacks AVX, AVX2")) << list.err;
  EXPECT_TRUE(list.err.ends_with("so no kernel is measured, only fork and join\n")) << list.err;
  for (const Args& a :
       {Args{"--benchmark_filter=gemv"}, Args{"--kernels", "--kernel", "avx2"}, Args{"--ratio"}, Args{"--breakdown"}})
    expect_sentence(perf(a, {}, "perf_bare"), 1, "AVX2", "perf_bare");
}

TEST(Perf, TheRatioIsMeasured) {
  if (!kernels_run()) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  const Ran r = perf({"--ratio", "--mib", "64", "--rounds", "1", "--kernel", "avx2", "--threads", "2"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("  ratio  spread\n"), std::string::npos) << r.out;
  for (const char* row : {"in order    f32 ", "in order    q8 ", "by pages    q8 ", "in streams  q8 ", "in order    q4 ",
                          "by pages    q4 ", "in streams  q4 ", "by pages    q8_0", "in streams  q8_0", "by pages    q4_K",
                          "in streams  q4_K", "by pages    q6_K", "in streams  q6_K"})
    EXPECT_NE(r.out.find("\navx2    " + std::string(row)), std::string::npos) << r.out;
}

// The program's own options in both forms, beside Google Benchmark's.
TEST(Perf, OptionsOfBothKinds) {
  if (!kernels_run()) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  const Ran dashes = perf({"--kernel", "avx2", "--benchmark_list_tests"}),  // of this path alone
      seeds = perf({"kernel=avx2", "--benchmark_list_tests=true"});
  EXPECT_EQ(dashes.code, 0) << dashes.err;
  EXPECT_NE(dashes.out, "");
  EXPECT_EQ(seeds.out, dashes.out) << seeds.err;
  EXPECT_EQ(dashes.out.find("/ref/"), std::string::npos) << dashes.out;
  EXPECT_EQ(perf({"ratio=true", "rounds=1", "mib=64", "kernel=avx2"}).code, 0);
  for (const Args& wrong :
       std::vector<Args>{{"--benchmark_nonsense"}, {"--v=x"}, {"rounds=2"}, {"--kernel"}, {"kernel=fast"}, {"word"}})
    EXPECT_EQ(perf(wrong).code, 2) << wrong[0];
}

// Without a vector path as well: the scalar code is measured where it is asked for.
TEST(Perf, TheKernelsInJson) {
  const Ran r = perf({"--kernels", "--kernel", "ref", "--benchmark_filter=/768/warm", "--benchmark_min_time=0.001", "-o", "json",
                      "--benchmark_repetitions=2"},
                     {}, "perf_bare");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  const auto j = nlohmann::json::parse(r.out);
  std::set<std::string> kernels;
  for (const auto& row : j["rows"]) {
    EXPECT_EQ(row["path"], "ref");
    EXPECT_EQ(row["samples_nanoseconds"].size(), 2u);
    EXPECT_EQ(row["noisy"], row["spread"] > j["noisy_above"]);
    EXPECT_GT(row["gb_per_second"], 0);
    kernels.insert(row["kernel"]);
  }
  EXPECT_EQ(kernels, (std::set<std::string>{"exp8_vec", "f32_to_f16", "qx_vec", "rmsnorm", "softmax_num", "swiglu", "vec_above",
                                            "vec_add", "vec_max"}));
}

TEST(Perf, TheFileForTheResults) {
  const auto with = [](const std::string& file, const char* format) {
    return perf({"--kernels", "--kernel", "ref", "--benchmark_filter=vec_max/ref/768/warm", "--benchmark_min_time=0.001",
                 "--benchmark_out=" + file, std::string("--benchmark_out_format=") + format},
                {}, "perf_bare");
  };
  for (const char* format : {"json", "csv", "console"}) {
    const Ran full = with("/dev/full", format);
    EXPECT_EQ(full.code, 1) << format;
    EXPECT_EQ(full.err, "perf_bare: cannot write '/dev/full': No space left on device\n") << format;
    const std::string file = (tmp_dir() / (std::string("results.") + format)).string();
    const Ran r = with(file, format);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.out.find("| vec_max         | ref    | 768       | warm   | "), std::string::npos) << r.out;
    EXPECT_NE(read_file(file).find("vec_max/ref/768/warm"), std::string::npos) << format;
  }
}

TEST(Perf, TheKernelsAtAShape) {
  const Ran r = perf({"--kernels", "--shape", "126m", "--kernel", "ref", "--benchmark_list_tests"}, {}, "perf_bare");
  EXPECT_EQ(r.code, 0) << r.err;
  for (const char* name : {"gemv_q8/ref/2048x768/cold\n", "gemv_q4/ref/32768x768/cold\n", "rope/ref/12x64/warm\n"})
    EXPECT_NE(r.out.find(name), std::string::npos) << name << " in\n" << r.out;
  for (const char* name : {"4096x4096", "fork_join"}) EXPECT_EQ(r.out.find(name), std::string::npos) << name;
}

TEST(Perf, AFilterForWhatIsLeftOut) {
  for (const Args& more : {Args{"--kernel", "ref"}, Args{"--kernel", "ref", "--shape", "126m"}}) {
    Args a = {"--kernels", "--benchmark_filter=fork_join"};
    a.insert(a.end(), more.begin(), more.end());
    expect_sentence(perf(a, {}, "perf_bare"), 1,
                    "no benchmark has 'fork_join' in its name (fork and join are not measured with --kernel or --shape)",
                    "perf_bare");
  }
}

TEST(Perf, TheKernelsInATable) {
  if (!kernels_run()) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  const Ran r = perf({"--kernels", "--kernel", "avx2", "--benchmark_filter=gemv_q8.*768x768/warm", "--benchmark_min_time=0.001"},
                     {.env = {"PATH=/no/such/folder"}});
  EXPECT_EQ(r.code, 0) << r.err;
  for (const char* text : {"\nllvm-mca: not installed\n", "\n| gemv_q8         | avx2   | 768x768   | warm   | ",
                           "\n| gemv_q80        | avx2   | 768x768   | warm   | "})
    EXPECT_NE(r.out.find(text), std::string::npos) << text << " in\n" << r.out;
}

TEST(Perf, TheBreakdownAddsUp) {
  const std::string model = (binary_dir() / "share/nybble/pocket.mnm").string();
  const Ran r =
      perf({"--breakdown", "--model", model, "--kernel", "ref", "-t", "1", "-n", "1", "-p", "3", "-r", "1", "-o", "json"});
  EXPECT_EQ(r.code, 0) << r.err;
  const auto j = nlohmann::json::parse(r.out);
  ASSERT_EQ(j["rows"].size(), 2u);
  for (const auto& row : j["rows"]) {
    double sum = 0;
    for (const auto& part : row["parts"]) sum += part["microseconds"].get<double>();
    EXPECT_NEAR(sum, row["microseconds"], 1e-3) << row["test"];
  }
  EXPECT_EQ(j["rows"][1]["test"], "pp3");
}

TEST(Perf, CtrlCEndsIt) {
  if (!kernels_run()) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  const Ran r = perf({"--benchmark_filter=gemv_q8.*warm", "--benchmark_min_time=0.2"},
                     {.interrupt_on = "gemv", .interrupt_after = std::chrono::milliseconds(0)});
  EXPECT_EQ(r.code, 130) << r.err;
  const Ran ratio = perf({"--ratio", "--rounds", "1000", "--mib", "64"},
                         {.interrupt_on = "", .interrupt_after = std::chrono::milliseconds(1500)});
  EXPECT_EQ(ratio.code, 130) << ratio.err;
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
