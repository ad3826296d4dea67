#include "llama.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "support/npm.h"

namespace nyb::test {
namespace {

// The structures that are passed by value, as llama.h of the release that scripts/npm.sh names lays them out. The defaults that the
// library gives are looked at before anything else is: of another release they would not be these.
struct ModelParams {
  void* devices;
  const void* overrides;
  int32_t gpu_layers, split_mode, load_mode, lazy_mode, main_gpu;
  const float* tensor_split;
  void *progress, *progress_data;
  const void* kv_overrides;
  bool vocab_only, check_tensors, use_extra_bufts, no_host, no_alloc, load_mtp;
};

struct ContextParams {
  uint32_t ctx, batch, ubatch, seq_max, rs_seq, outputs_max, outputs_max_per_seq;
  int32_t threads, threads_batch;
  int32_t ctx_type, rope_scaling_type, pooling_type, attention_type, flash_attn_type;
  float rope_freq_base, rope_freq_scale, yarn_ext_factor, yarn_attn_factor, yarn_beta_fast, yarn_beta_slow;
  uint32_t yarn_orig_ctx;
  float defrag_thold;
  void *eval, *eval_data;
  int32_t type_k, type_v;
  void *abort, *abort_data;
  bool embeddings, offload_kqv, no_perf, op_offload, swa_full, kv_unified;
  void* samplers;
  size_t sampler_count;
  void* other;
};

struct QuantizeParams {
  int32_t threads, ftype, output_type, embedding_type;
  bool allow_requantize, quantize_output, only_copy, pure, keep_split, dry_run;
  const void *imatrix, *kv_overrides, *tensor_types, *prune_layers;
  size_t most_bytes;
};

struct Batch {
  int32_t n_tokens;
  int32_t* token;
  float* embd;
  int32_t *pos, *n_seq_id, **seq_id;
  int8_t* logits;
};

std::string said;  // by llama.cpp at the level of a warning or above, since it was last asked

void listen(int level, const char* text, void*) {
  if (level >= 3) said += text;
}

// Functions by their names in the libraries.
class Library {
 public:
  static const Library* get() {
    static const std::unique_ptr<Library> made = open();
    return made.get();
  }

  template <class F>
  F* function(const char* name) const {
    void* p = dlsym(llama_, name);
    if (!p) p = dlsym(ggml_, name);
    if (!p) throw std::runtime_error(std::string("llama.cpp has no ") + name);
    return reinterpret_cast<F*>(p);
  }

 private:
  static std::unique_ptr<Library> open() {
    const auto folder = npm_file("@node-llama-cpp/linux-x64/bins/linux-x64/libllama.v0.4.0.so").parent_path();
    auto l = std::make_unique<Library>();
    l->llama_ = dlopen((folder / "libllama.v0.4.0.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    l->ggml_ = dlopen((folder / "libggml.v0.4.0.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!l->llama_ || !l->ggml_) {
      ADD_FAILURE() << "llama.cpp: " << dlerror();
      return nullptr;
    }
    l->function<void(void (*)(int, const char*, void*), void*)>("llama_log_set")(listen, nullptr);
    l->function<void(const char*)>("ggml_backend_load_all_from_path")(folder.c_str());
    l->function<void()>("llama_backend_init")();
    const auto c = l->function<ContextParams()>("llama_context_default_params")();
    const auto m = l->function<ModelParams()>("llama_model_default_params")();
    const auto q = l->function<QuantizeParams()>("llama_model_quantize_default_params")();
    if (c.ctx != 512 || c.batch != 2048 || c.ubatch != 512 || c.seq_max != 1 || c.yarn_ext_factor != -1 || c.type_k != 1 ||
        c.type_v != 1 || c.flash_attn_type != -1 || !c.offload_kqv || c.samplers || c.other || m.vocab_only || !m.use_extra_bufts ||
        m.kv_overrides || q.allow_requantize || !q.quantize_output || q.imatrix) {
      ADD_FAILURE() << "this llama.cpp is of another release than its structures here";
      return nullptr;
    }
    return l;
  }

  void *llama_ = nullptr, *ggml_ = nullptr;
};

}  // namespace

struct Llama::Impl {
  const Library& lib;
  void* model = nullptr;
  const void* vocab = nullptr;

  // A context for `n` positions, with what `use` does of it.
  void with_context(size_t n, const std::function<void(void*)>& use) const {
    auto params = lib.function<ContextParams()>("llama_context_default_params")();
    params.ctx = params.batch = params.ubatch = static_cast<uint32_t>(n);
    params.threads = params.threads_batch = 1;
    params.flash_attn_type = 0;
    params.type_k = params.type_v = 0;  // f32
    said.clear();
    void* ctx = lib.function<void*(void*, ContextParams)>("llama_init_from_model")(model, params);
    if (!ctx) throw std::runtime_error("llama.cpp makes no context: " + said);
    const std::unique_ptr<void, void (*)(void*)> owner(ctx, lib.function<void(void*)>("llama_free"));
    use(ctx);
  }

  // Appends the logits of each of `ids` at positions from `first` on.
  void decode(void* ctx, const std::vector<int32_t>& ids, size_t first, std::vector<float>& out) const {
    std::vector<int32_t> tokens = ids, pos, counts(ids.size(), 1);
    std::vector<int8_t> wanted(ids.size(), 1);
    int32_t sequence = 0;
    std::vector<int32_t*> sequences(ids.size(), &sequence);
    for (size_t i = 0; i < ids.size(); i++) pos.push_back(static_cast<int32_t>(first + i));
    const Batch batch{
        static_cast<int32_t>(ids.size()), tokens.data(), nullptr, pos.data(), counts.data(), sequences.data(), wanted.data()};
    said.clear();
    if (lib.function<int32_t(void*, Batch)>("llama_decode")(ctx, batch) != 0)
      throw std::runtime_error("llama.cpp does not decode: " + said);
    const auto size = static_cast<size_t>(lib.function<int32_t(const void*)>("llama_vocab_n_tokens")(vocab));
    for (size_t i = 0; i < ids.size(); i++) {
      const float* row = lib.function<float*(void*, int32_t)>("llama_get_logits_ith")(ctx, static_cast<int32_t>(i));
      if (!row) throw std::runtime_error("llama.cpp gives no logits: " + said);
      out.insert(out.end(), row, row + size);
    }
  }
};

std::unique_ptr<Llama> Llama::open(const std::string& gguf) {
  const Library* lib = Library::get();
  if (!lib) return nullptr;
  auto params = lib->function<ModelParams()>("llama_model_default_params")();
  params.use_extra_bufts = false;  // weights are not repacked
  params.gpu_layers = 0;
  said.clear();
  void* model = lib->function<void*(const char*, ModelParams)>("llama_model_load_from_file")(gguf.c_str(), params);
  if (!model) {
    ADD_FAILURE() << "llama.cpp does not load " << gguf << ": " << said;
    return nullptr;
  }
  std::unique_ptr<Llama> l(new Llama);
  l->impl_ = std::make_unique<Impl>(Impl{*lib, model, lib->function<const void*(const void*)>("llama_model_get_vocab")(model)});
  return l;
}

Llama::~Llama() {
  if (impl_) impl_->lib.function<void(void*)>("llama_model_free")(impl_->model);
}

std::vector<int32_t> Llama::tokenize(const std::string& text, bool bos, bool specials) const {
  std::vector<int32_t> ids(text.size() + 8);
  const auto tokenize =
      impl_->lib.function<int32_t(const void*, const char*, int32_t, int32_t*, int32_t, bool, bool)>("llama_tokenize");
  const int32_t n = tokenize(impl_->vocab, text.data(), static_cast<int32_t>(text.size()), ids.data(),
                             static_cast<int32_t>(ids.size()), bos, specials);
  if (n < 0) throw std::runtime_error("llama.cpp does not tokenize");
  ids.resize(static_cast<size_t>(n));
  return ids;
}

std::string Llama::piece(int32_t id) const {
  std::string text(256, '\0');
  const auto piece = impl_->lib.function<int32_t(const void*, int32_t, char*, int32_t, int32_t, bool)>("llama_token_to_piece");
  const int32_t n = piece(impl_->vocab, id, text.data(), static_cast<int32_t>(text.size()), 0, false);
  text.resize(static_cast<size_t>(std::max(n, 0)));
  return text;
}

bool Llama::is_end(int32_t id) const {
  return impl_->lib.function<bool(const void*, int32_t)>("llama_vocab_is_eog")(impl_->vocab, id);
}

std::string Llama::chat_template() const {
  const char* text = impl_->lib.function<const char*(const void*, const char*)>("llama_model_chat_template")(impl_->model, nullptr);
  return text ? text : "";
}

uint32_t Llama::vocab() const {
  return static_cast<uint32_t>(impl_->lib.function<int32_t(const void*)>("llama_vocab_n_tokens")(impl_->vocab));
}

std::vector<float> Llama::logits(const std::vector<int32_t>& ids) const {
  std::vector<float> out;
  impl_->with_context(ids.size(), [&](void* ctx) { impl_->decode(ctx, ids, 0, out); });
  return out;
}

std::vector<int32_t> Llama::greedy(const std::vector<int32_t>& ids, size_t n) const {
  std::vector<int32_t> out;
  impl_->with_context(ids.size() + n, [&](void* ctx) {
    std::vector<int32_t> next = ids;
    for (size_t at = 0; out.size() < n; at += next.size(), next.assign(1, out.back())) {
      std::vector<float> logits;
      impl_->decode(ctx, next, at, logits);
      const auto last = logits.end() - static_cast<ptrdiff_t>(vocab());
      out.push_back(static_cast<int32_t>(std::max_element(last, logits.end()) - last));
    }
  });
  return out;
}

bool Llama::quantize(const std::string& in, const std::string& out, int ftype) {
  const Library* lib = Library::get();
  if (!lib) return false;
  auto params = lib->function<QuantizeParams()>("llama_model_quantize_default_params")();
  params.threads = 1;
  params.ftype = ftype;
  said.clear();
  if (lib->function<uint32_t(const char*, const char*, const QuantizeParams*)>("llama_model_quantize")(in.c_str(), out.c_str(),
                                                                                                       &params) == 0)
    return true;
  ADD_FAILURE() << "llama.cpp does not quantize " << in << ": " << said;
  return false;
}

}  // namespace nyb::test
