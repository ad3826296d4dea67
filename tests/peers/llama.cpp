#include "llama.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "kern/error.h"
#include "llama_library.h"

namespace nyb::test {

struct Llama::Impl {
  const LlamaLibrary& lib;
  LlamaLibrary::Owned model;
  const void* vocab;

  // A context for `n` positions, with what `use` does of it.
  void with_context(size_t n, const std::function<void(void*)>& use) const {
    auto params = lib.context_defaults();
    params.ctx = params.batch = params.ubatch = static_cast<uint32_t>(n);
    params.threads = params.threads_batch = 1;
    params.flash_attn_type = 0;
    params.type_k = params.type_v = 0;  // f32
    use(lib.context(model.get(), params).get());
  }

  // Appends the logits of each of `ids` at positions from `first` on.
  void decode(void* ctx, const std::vector<int32_t>& ids, size_t first, std::vector<float>& out) const {
    std::vector<int32_t> tokens = ids, pos, counts(ids.size(), 1);
    std::vector<int8_t> wanted(ids.size(), 1);
    int32_t sequence = 0;
    std::vector<int32_t*> sequences(ids.size(), &sequence);
    for (size_t i = 0; i < ids.size(); i++) pos.push_back(static_cast<int32_t>(first + i));
    lib.decode(ctx, {static_cast<int32_t>(ids.size()), tokens.data(), nullptr, pos.data(), counts.data(), sequences.data(),
                     wanted.data()});
    const auto size = static_cast<size_t>(lib.vocab_tokens(vocab));
    for (size_t i = 0; i < ids.size(); i++) {
      const float* row = lib.function<float*(void*, int32_t)>("llama_get_logits_ith")(ctx, static_cast<int32_t>(i));
      if (!row) throw Error("llama.cpp gives no logits");
      out.insert(out.end(), row, row + size);
    }
  }
};

std::unique_ptr<Llama> Llama::open(const std::string& gguf) {
  try {
    const LlamaLibrary& lib = LlamaLibrary::get();
    auto params = lib.model_defaults();
    params.use_extra_bufts = false;  // weights are not repacked
    params.gpu_layers = 0;
    LlamaLibrary::Owned model = lib.load(gguf, params);
    const void* vocab = lib.vocab(model.get());
    std::unique_ptr<Llama> l(new Llama);
    l->impl_ = std::make_unique<Impl>(Impl{lib, std::move(model), vocab});
    return l;
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
    return nullptr;
  }
}

Llama::~Llama() = default;

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
  const char* text =
      impl_->lib.function<const char*(const void*, const char*)>("llama_model_chat_template")(impl_->model.get(), nullptr);
  return text ? text : "";
}

uint32_t Llama::vocab() const { return impl_->lib.vocab_tokens(impl_->vocab); }

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
  try {
    const LlamaLibrary& lib = LlamaLibrary::get();
    auto params = lib.quantize_defaults();
    params.threads = 1;
    params.ftype = ftype;
    lib.quantize(in, out, params);
    return true;
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
    return false;
  }
}

}  // namespace nyb::test
