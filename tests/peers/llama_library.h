// llama_library.h - llama.cpp's C interface, as libllama of @node-llama-cpp/linux-x64 has it, which scripts/npm.sh installs:
// its functions by their names, and the structures that are passed by value as llama.h of that release lays them out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace nyb::test {

struct LlamaModelParams {
  void* devices;
  const void* overrides;
  int32_t gpu_layers, split_mode, load_mode, lazy_mode, main_gpu;
  const float* tensor_split;
  void *progress, *progress_data;
  const void* kv_overrides;
  bool vocab_only, check_tensors, use_extra_bufts, no_host, no_alloc, load_mtp;
};

struct LlamaContextParams {
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

struct LlamaQuantizeParams {
  int32_t threads, ftype, output_type, embedding_type;
  bool allow_requantize, quantize_output, only_copy, pure, keep_split, dry_run;
  const void *imatrix, *kv_overrides, *tensor_types, *prune_layers;
  size_t most_bytes;
};

struct LlamaBatch {
  int32_t n_tokens;
  int32_t* token;
  float* embd;
  int32_t *pos, *n_seq_id, **seq_id;
  int8_t* logits;
};

struct LlamaThreadpoolParams {
  bool cpus[512];
  int32_t threads, priority;
  uint32_t poll;
  bool strict_cpu, paused;
};

// What is wrong throws Error, with what llama.cpp said about it.
class LlamaLibrary {
 public:
  // Loaded once. Throws Error where it is not installed (saying what to run) or is of another release than the structures here.
  static const LlamaLibrary& get();

  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(address(name));
  }
  template <class P>
  P defaults(const char* name) const {
    return function<P()>(name)();
  }
  LlamaModelParams model_defaults() const { return defaults<LlamaModelParams>("llama_model_default_params"); }
  LlamaContextParams context_defaults() const { return defaults<LlamaContextParams>("llama_context_default_params"); }
  LlamaQuantizeParams quantize_defaults() const { return defaults<LlamaQuantizeParams>("llama_model_quantize_default_params"); }

  using Owned = std::unique_ptr<void, void (*)(void*)>;
  Owned load(const std::string& gguf, const LlamaModelParams& params) const;
  const void* vocab(const void* model) const { return function<const void*(const void*)>("llama_model_get_vocab")(model); }
  uint32_t vocab_tokens(const void* vocab) const {
    return static_cast<uint32_t>(function<int32_t(const void*)>("llama_vocab_n_tokens")(vocab));
  }
  Owned context(void* model, const LlamaContextParams& params) const;
  void decode(void* context, const LlamaBatch& batch) const;
  void quantize(const std::string& in, const std::string& out, const LlamaQuantizeParams& params) const;
  // Threads that stay, for a context to attach (llama_attach_threadpool), which must be freed before them.
  Owned threadpool(int32_t threads) const;

 private:
  LlamaLibrary();
  void* address(const char* name) const;  // throws Error: there is none
  void check_release() const;
  void *llama_ = nullptr, *ggml_ = nullptr;
};

}  // namespace nyb::test
