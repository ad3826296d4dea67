#include "llama_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "kern/error.h"
#include "support/npm.h"

namespace nyb::test {
namespace {

std::string said;  // by llama.cpp at the level of a warning or above, since it was last asked to do something

void listen(int level, const char* text, void*) {
  if (level >= 3) said += text;
}

[[noreturn]] void fail(const std::string& what) {
  std::string why;
  for (const char c : said) why += c == '\n' ? ';' : c;
  while (!why.empty() && (why.back() == ';' || why.back() == ' ')) why.pop_back();
  throw Error("llama.cpp " + what + (why.empty() ? "" : ": " + why));
}

void* opened(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) throw Error(file.string() + " is not there: " + npm_remedy());
  if (void* p = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return p;
  throw Error(std::string("llama.cpp: ") + dlerror());
}

}  // namespace

const LlamaLibrary& LlamaLibrary::get() {
  static const LlamaLibrary made;
  return made;
}

LlamaLibrary::LlamaLibrary() {
  const auto folder = npm_dir() / "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64";
  llama_ = opened(folder / "libllama.v0.4.0.so");
  ggml_ = opened(folder / "libggml.v0.4.0.so");
  function<void(void (*)(int, const char*, void*), void*)>("llama_log_set")(listen, nullptr);
  function<void(const char*)>("ggml_backend_load_all_from_path")(folder.c_str());
  function<void()>("llama_backend_init")();
  check_release();
}

void* LlamaLibrary::address(const char* name) const {
  void* p = dlsym(llama_, name);
  if (!p) p = dlsym(ggml_, name);
  if (!p) throw Error(std::string("llama.cpp has no ") + name);
  return p;
}

// The defaults of another release would not be these.
void LlamaLibrary::check_release() const {
  const auto c = context_defaults();
  const auto m = model_defaults();
  const auto q = quantize_defaults();
  const auto t = function<LlamaThreadpoolParams(int)>("ggml_threadpool_params_default")(3);
  if (c.ctx != 512 || c.batch != 2048 || c.ubatch != 512 || c.seq_max != 1 || c.yarn_ext_factor != -1 || c.type_k != 1 ||
      c.type_v != 1 || c.flash_attn_type != -1 || !c.offload_kqv || c.samplers || c.other || m.vocab_only || !m.use_extra_bufts ||
      m.kv_overrides || q.allow_requantize || !q.quantize_output || q.imatrix || t.threads != 3 || t.priority != 0 ||
      t.poll != 50 || t.strict_cpu || t.paused)
    throw Error("this llama.cpp is of another release than its structures here");
}

LlamaLibrary::Owned LlamaLibrary::load(const std::string& gguf, const LlamaModelParams& params) const {
  said.clear();
  void* model = function<void*(const char*, LlamaModelParams)>("llama_model_load_from_file")(gguf.c_str(), params);
  if (!model) fail("does not load " + gguf);
  return {model, function<void(void*)>("llama_model_free")};
}

LlamaLibrary::Owned LlamaLibrary::context(void* model, const LlamaContextParams& params) const {
  said.clear();
  void* ctx = function<void*(void*, LlamaContextParams)>("llama_init_from_model")(model, params);
  if (!ctx) fail("makes no context");
  return {ctx, function<void(void*)>("llama_free")};
}

void LlamaLibrary::decode(void* context, const LlamaBatch& batch) const {
  said.clear();
  if (function<int32_t(void*, LlamaBatch)>("llama_decode")(context, batch) != 0) fail("does not decode");
}

void LlamaLibrary::quantize(const std::string& in, const std::string& out, const LlamaQuantizeParams& params) const {
  said.clear();
  const auto made = function<uint32_t(const char*, const char*, const LlamaQuantizeParams*)>("llama_model_quantize");
  if (made(in.c_str(), out.c_str(), &params) != 0) fail("does not quantize " + in);
}

// These functions are the CPU backend's own, of which there are several for several CPUs.
LlamaLibrary::Owned LlamaLibrary::threadpool(int32_t threads) const {
  constexpr int kCpu = 0;
  void* device = function<void*(int)>("ggml_backend_dev_by_type")(kCpu);
  if (!device) throw Error("llama.cpp has no CPU");
  void* backend = function<void*(void*)>("ggml_backend_dev_backend_reg")(device);
  const auto find = [&](const char* name) {
    return function<void*(void*, const char*)>("ggml_backend_reg_get_proc_address")(backend, name);
  };
  const auto make = reinterpret_cast<void* (*)(const LlamaThreadpoolParams*)>(find("ggml_threadpool_new"));
  const auto end = reinterpret_cast<void (*)(void*)>(find("ggml_threadpool_free"));
  if (!make || !end) throw Error("llama.cpp has no threads of its own");
  const auto params = function<LlamaThreadpoolParams(int)>("ggml_threadpool_params_default")(threads);
  void* pool = make(&params);
  if (!pool) throw Error("llama.cpp starts no threads");
  return {pool, end};
}

}  // namespace nyb::test
