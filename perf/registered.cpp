// registered.cpp - Google Benchmark reports its faults in its own ways, with exit code 0; here they become an Error.
#include "registered.h"
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <streambuf>
#include <utility>
#include "common/app.h"

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
    if (interrupted()) throw Interrupted{};  // between two benchmarks: each ends with a line
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

// Tells nothing. runs false: nothing is run either, for what Google Benchmark says of the filter.
class Nothing : public benchmark::BenchmarkReporter {
 public:
  explicit Nothing(bool runs) : runs_(runs) {}
  bool ReportContext(const Context&) override { return runs_; }
  void ReportRuns(const std::vector<Run>&) override {}

 private:
  bool runs_;
};

constexpr std::string_view kOut = "--benchmark_out=", kOutFormat = "--benchmark_out_format=";
constexpr const char* kRandom = "--benchmark_enable_random_interleaving=true";

// The file for the results, which Google Benchmark opens, writes and closes without a look at whether that works.
struct ResultsFile {
  std::string name, format;
} results;

template <class Reporter>
class Checked : public Reporter {
 public:
  using Reporter::Reporter;
  bool ReportContext(const benchmark::BenchmarkReporter::Context& c) override {
    const bool runs = Reporter::ReportContext(c);
    check();
    return runs;
  }
  void ReportRuns(const std::vector<benchmark::BenchmarkReporter::Run>& runs) override {
    Reporter::ReportRuns(runs);
    check();
  }
  void Finalize() override {
    Reporter::Finalize();
    check();
  }

 private:
  void check() {
    if (!this->GetOutputStream().flush()) throw Error(fmt::format("cannot write '{}': {}", results.name, std::strerror(errno)));
  }
};

// nullptr: no file is asked for.
std::unique_ptr<benchmark::BenchmarkReporter> file_reporter() {
  if (results.name.empty()) return nullptr;
  if (results.format == "console")
    return std::make_unique<Checked<benchmark::ConsoleReporter>>(benchmark::ConsoleReporter::OO_None);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // of csv, which its options still offer
  if (results.format == "csv") return std::make_unique<Checked<benchmark::CSVReporter>>();
#pragma GCC diagnostic pop
  return std::make_unique<Checked<benchmark::JSONReporter>>();
}

// The value of an option, or of the variable in its place.
std::string value_of(const std::vector<std::string>& words, std::string_view option, const char* variable) {
  const char* const env = std::getenv(variable);
  std::string value = env ? env : "";
  for (const std::string& w : words)
    if (w.starts_with(option)) value = w.substr(option.size());
  return value;
}

// std::cerr kept, not shown.
class Faults {
 public:
  Faults() : before_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~Faults() { std::cerr.rdbuf(before_); }
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

// Google Benchmark would end the program itself.
void check_file(const std::string& name) {
  if (name.empty() || std::ofstream(name, std::ios::app)) return;
  throw Error(fmt::format("cannot write '{}': {}", name, std::strerror(errno)));
}

void check_filter(const CpuFeatures& cpu, bool kernels, const std::string& left_out) {
  std::ostringstream list, faults;
  Nothing nothing(false);
  nothing.SetOutputStream(&list);
  nothing.SetErrorStream(&faults);
  if (benchmark::RunSpecifiedBenchmarks(&nothing)) return;
  const std::string filter = benchmark::GetBenchmarkFilter();
  if (faults.str().starts_with("Could not compile"))
    throw UsageError(fmt::format("'{}' is no regular expression; --benchmark_filter takes one, such as gemv.*cold", filter));
  if (const std::string missing = cpu_missing(cpu, Path::avx2); !kernels && !missing.empty())
    throw Error(fmt::format("this CPU lacks {}, so there is no kernel to measure", missing));
  throw Error(fmt::format("no benchmark has '{}' in its name{}{}; --benchmark_list_tests lists them", filter,
                          left_out.empty() ? "" : " ", left_out));
}

// All of them, to see whether the filter lets any through.
void register_checked(const CpuFeatures& cpu, bool kernels, const std::string& left_out, const Registers& all) {
  for (const auto& one : all) one();
  check_filter(cpu, kernels, left_out);
  if (const std::string missing = cpu_missing(cpu, Path::avx2); !kernels && !missing.empty())
    say(fmt::format("this CPU lacks {}, so no kernel is measured, only fork and join", missing));
}

void run(benchmark::BenchmarkReporter* display) {
  const auto file = file_reporter();
  benchmark::RunSpecifiedBenchmarks(display, file.get());
}

}  // namespace

void registered_options(std::vector<std::string> given) {
  static std::vector<std::string> words;  // Google Benchmark keeps a pointer to the first
  words = std::move(given);
  results = {value_of(words, kOut, "BENCHMARK_OUT"), value_of(words, kOutFormat, "BENCHMARK_OUT_FORMAT")};
  check_file(results.name);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  const Faults faults;
  struct Refused {};  // in place of its help and the end of the program
  try {
    benchmark::Initialize(&argc, argv.data(), [] { throw Refused{}; });
  } catch (const Refused&) {
    throw UsageError(
        fmt::format("Google Benchmark cannot use one of its options: {}", fmt::join(words.begin() + 1, words.end(), " ")));
  }
  if (argc > 1) throw UsageError(fmt::format("Google Benchmark cannot use the option '{}'", argv[1]));
  if (const std::string fault = faults.text(); !fault.empty()) throw UsageError(fault);
}

void run_registered(const CpuFeatures& cpu, bool kernels, const std::string& left_out, const Registers& all) {
  register_checked(cpu, kernels, left_out, all);
  const Out out;
  run(nullptr);
  benchmark::Shutdown();
}

void run_groups(const CpuFeatures& cpu, bool kernels, const std::string& left_out, const Registers& groups,
                benchmark::BenchmarkReporter& display, const std::function<void()>& done) {
  std::ostringstream unused;  // "failed to match", of each group that the filter leaves out
  display.SetOutputStream(&unused);
  display.SetErrorStream(&unused);
  register_checked(cpu, kernels, left_out, groups);
  if (!results.name.empty()) {
    run(&display);
    done();
  } else {
    for (const auto& group : groups) {
      benchmark::ClearRegisteredBenchmarks();
      group();
      run(&display);
      done();
    }
  }
  benchmark::Shutdown();
}

void run_interleaved() {
  registered_options({"perf", kRandom, "--benchmark_filter=all", "--benchmark_out="});
  Nothing quiet(true);
  std::ostringstream unused;
  quiet.SetOutputStream(&unused);
  quiet.SetErrorStream(&unused);
  benchmark::RunSpecifiedBenchmarks(&quiet);
  benchmark::ClearRegisteredBenchmarks();
}

}  // namespace nyb
