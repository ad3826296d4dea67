// registered.cpp - Google Benchmark reports its faults in its own ways, with exit code 0; here they become an Error.
#include "registered.h"
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <iostream>
#include <sstream>
#include <streambuf>
#include "common/app.h"
#include "kern/cpu.h"

namespace nyb {
namespace {

// std::cout by way of out_write.
class Out : std::streambuf {
 public:
  Out() : before_(std::cout.rdbuf(this)) { std::cout.exceptions(std::ios::badbit); }
  ~Out() override {
    std::cout.exceptions(std::ios::goodbit);
    std::cout.rdbuf(before_);
  }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;

 private:
  std::streamsize xsputn(const char* s, std::streamsize n) override {
    out_write({s, static_cast<size_t>(n)});
    return n;
  }
  int overflow(int c) override {
    const char one = traits_type::to_char_type(c);
    if (c != traits_type::eof()) out_write({&one, 1});
    return traits_type::not_eof(c);
  }

  std::streambuf* before_;
};

// Runs nothing: for what Google Benchmark says of the filter.
class Nothing : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return false; }
  void ReportRuns(const std::vector<Run>&) override {}
};

void check_filter() {
  std::ostringstream list, faults;
  Nothing nothing;
  nothing.SetOutputStream(&list);
  nothing.SetErrorStream(&faults);
  if (benchmark::RunSpecifiedBenchmarks(&nothing)) return;
  const std::string filter = human_words(benchmark::GetBenchmarkFilter());
  if (faults.str().starts_with("Could not compile"))
    throw Error(fmt::format("'{}' is no regular expression; --benchmark_filter takes one, such as gemv.*cold", filter));
  if (const std::string missing = cpu_missing(cpu_here(), Path::avx2); !missing.empty())
    throw Error(fmt::format("this CPU lacks {}, so there is no kernel to measure", missing));
  throw Error(fmt::format("no benchmark has '{}' in its name; --benchmark_list_tests lists them", filter));
}

}  // namespace

void run_registered() {
  check_filter();
  const Out out;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

}  // namespace nyb
