// llama_speed.cpp - times a GGUF under llama.cpp as its llama-bench does, and writes the JSON that that writes: perf --peer reads
// it. llama-bench itself is not in the package that the libraries come from.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

#include "../llama_library.h"
#include "common/app.h"
#include "common/options.h"
#include "engine/threads.h"
#include "list.h"
#include "model/gguf.h"

namespace nyb::test {
namespace {

constexpr uint32_t kBatch = 512;

struct Options {
  std::string model;
  std::vector<uint32_t> threads, prompt{512}, gen{128};
  uint32_t repetitions = 5;
};

// Either `prompt` tokens together or `gen` tokens one after the other, from nothing.
struct Test {
  uint32_t prompt, gen, threads;
};

// What a model runs in, with threads that stay from token to token.
class Runner {
 public:
  Runner(const LlamaLibrary& lib, void* model, const Test& test)
      : lib_(lib), test_(test), pool_(lib.threadpool(static_cast<int32_t>(test.threads))), context_(context(model)) {
    lib.function<void(void*, void*, void*)>("llama_attach_threadpool")(context_.get(), pool_.get(), nullptr);
    vocab_ = lib.vocab_tokens(lib.vocab(model));
  }

  void warm_up() { run(test_.prompt, std::min(test_.gen, 1u)); }
  double sample() {  // tokens a second
    const auto began = std::chrono::steady_clock::now();
    run(test_.prompt, test_.gen);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    return (test_.prompt + test_.gen) / took.count();
  }

 private:
  LlamaLibrary::Owned context(void* model) const {
    auto params = lib_.context_defaults();  // with the cache in f16
    params.ctx = test_.prompt + test_.gen;
    params.batch = params.ubatch = kBatch;
    params.threads = params.threads_batch = static_cast<int32_t>(test_.threads);
    params.flash_attn_type = 1;
    return lib_.context(model, params);
  }

  void run(uint32_t prompt, uint32_t gen) {
    void* memory = lib_.function<void*(void*)>("llama_get_memory")(context_.get());
    lib_.function<void(void*, bool)>("llama_memory_clear")(memory, false);
    for (uint32_t done = 0, n = 0; done < prompt; done += n) step(n = std::min(prompt - done, kBatch));
    for (uint32_t i = 0; i < gen; i++) step(1);
  }

  // The logits are those of the last token alone. Which tokens they are is no matter, but none comes twice in a row.
  void step(uint32_t n) {
    std::vector<int32_t> ids(n);
    for (int32_t& id : ids) id = static_cast<int32_t>((next_ = next_ * 1103515245 + 12345) / 65536 % vocab_);
    lib_.decode(context_.get(), {static_cast<int32_t>(n), ids.data(), nullptr, nullptr, nullptr, nullptr, nullptr});
    lib_.function<void(void*)>("llama_synchronize")(context_.get());
  }

  const LlamaLibrary& lib_;
  Test test_;
  LlamaLibrary::Owned pool_, context_;  // the context goes first
  uint32_t vocab_, next_ = 1;
};

nlohmann::json measured(const LlamaLibrary& lib, void* model, const Test& test, const Options& o) {
  Runner runner(lib, model, test);
  runner.warm_up();
  std::vector<double> samples;
  for (uint32_t i = 0; i < o.repetitions; i++) {
    if (interrupted()) throw Interrupted{};
    samples.push_back(runner.sample());
  }
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  return {{"model_filename", o.model}, {"n_batch", kBatch}, {"n_ubatch", kBatch},
          {"n_threads", test.threads}, {"type_k", "f16"},   {"type_v", "f16"},
          {"flash_attn", true},        {"use_mmap", false}, {"n_prompt", test.prompt},
          {"n_gen", test.gen},         {"n_depth", 0},      {"avg_ts", sum / static_cast<double>(samples.size())},
          {"samples_ts", samples}};
}

int run(const Options& o) {
  std::vector<Test> tests;
  for (const uint32_t threads : o.threads) {
    for (const uint32_t n : o.prompt)
      if (n) tests.push_back({n, 0, threads});
    for (const uint32_t n : o.gen)
      if (n) tests.push_back({0, n, threads});
  }
  if (tests.empty()) throw UsageError("nothing to measure: -n and -p are both 0");
  { const Gguf checked(o.model); }  // says more clearly than llama.cpp what is wrong with a file
  const LlamaLibrary& lib = LlamaLibrary::get();
  auto params = lib.model_defaults();
  params.gpu_layers = 0;
  params.load_mode = lib.function<int32_t(const char*)>("llama_load_mode_from_str")("none");  // read, not mapped
  const LlamaLibrary::Owned model = lib.load(o.model, params);
  auto all = nlohmann::json::array();
  for (const Test& test : tests) all.push_back(measured(lib, model.get(), test, o));
  out_write(all.dump(1) + "\n");
  return 0;
}

// glibc asks for huge pages for large blocks where this stood in the environment when the program started.
void ask_for_huge_pages(char** argv) {
  constexpr const char* kTunables = "GLIBC_TUNABLES";
  if (std::getenv(kTunables)) return;
  setenv(kTunables, "glibc.malloc.hugetlb=1", 1);
  execv("/proc/self/exe", argv);
}

int speed_main(int argc, char** argv) {
  CLI::App app("Times a GGUF under llama.cpp as llama-bench does, and writes its JSON.", "llama_speed");
  Options o;
  o.threads = {threads_default().count};
  const auto numbers = [&](const char* names, std::vector<uint32_t>& where, uint32_t low, uint32_t high, const char* help) {
    opt_text(
        app, names, [=, &where](const std::string& s) { where = read_list(names, s, low, high); }, help)
        ->type_name("LIST");
  };
  app.add_option("-m", o.model, "A GGUF")->required()->type_name("FILE");
  numbers("-t", o.threads, 1, 512, "Threads (what helps here)");
  numbers("-p", o.prompt, 0, 1u << 20, "Tokens of prompt (512)");
  numbers("-n", o.gen, 0, 1u << 20, "Tokens of decode (128)");
  opt_whole(
      app, "-r", 1, 1000, [&](uint64_t v) { o.repetitions = static_cast<uint32_t>(v); }, "Samples of each (5)");
  return app_run(app, argc, argv, [&] { return run(o); });
}

}  // namespace
}  // namespace nyb::test

int main(int argc, char** argv) {
  nyb::test::ask_for_huge_pages(argv);
  return nyb::test::speed_main(argc, argv);
}
