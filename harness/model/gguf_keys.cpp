// gguf_keys.cpp - a model's shape and metadata as keys of a GGUF, and what llama.cpp would run otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kern/error.h"
#include "model/family.h"
#include "model/gguf_export.h"
#include "model/gguf_rope.h"
#include "model/meta_io.h"

namespace nyb {
namespace {

class Keys {
 public:
  Keys(const ModelSource& src, std::vector<std::string>& notes) : src_(src), s_(src.shape), notes_(notes) {}

  GgufKeys run(std::vector<float>& rope_factors) {
    const auto& name = src_.meta.get<std::string>(key::family);
    family_ = family_find(name);
    if (!family_) fail(fmt::format("its family is {}, which has no place in a GGUF", shown(name)));
    check();
    keys_.str("general.architecture", arch());
    keys_.str("general.type", "model");
    if (const auto* own = src_.meta.find<std::string>(key::name); own && !own->empty()) keys_.str("general.name", *own);
    keys_.u32("general.quantization_version", 2);
    size("block_count", s_.layers);
    size("context_length", context());
    size("embedding_length", s_.dim);
    size("feed_forward_length", s_.ffn);
    size("attention.head_count", s_.heads);
    size("attention.head_count_kv", s_.kv_heads);
    size("attention.key_length", s_.head_dim);
    size("attention.value_length", s_.head_dim);
    size("vocab_size", s_.vocab);
    keys_.f32(arch() + ".attention.layer_norm_rms_epsilon", src_.meta.get<double>(key::norm_eps));
    const bool any_factors = is_llama();
    GgufRope rope = gguf_rope(s_.rope_freqs, s_.head_dim, s_.ctx, static_cast<double>(s_.rope_factor), any_factors, src_.path);
    gguf_rope_keys(rope, arch(), s_.head_dim, keys_);
    rope_factors = std::move(rope.factors);
    return std::move(keys_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(fmt::format("{}: {}", src_.path, what)); }
  std::string arch() const { return std::string(family_->gguf); }
  bool is_llama() const { return family_->gguf == "llama"; }
  void size(const char* part, uint32_t v) { keys_.u32(fmt::format("{}.{}", arch(), part), v); }

  // What llama.cpp (src/models/*.cpp) has no place for in the architecture.
  void check() const {
    const double scale = src_.meta.get<double>(key::attn_scale);
    if (static_cast<float>(scale) != static_cast<float>(1 / std::sqrt(static_cast<double>(s_.head_dim))))
      fail(fmt::format("its attention is scaled by {}, where a GGUF of {} means 1 / sqrt({})", scale, arch(), s_.head_dim));
    if (s_.o_bias && !is_llama()) fail(fmt::format("attention's output has a bias, which llama.cpp does not read in {}", arch()));
    if (family_->gguf == "qwen2" && s_.heads * s_.head_dim != s_.dim)
      fail(fmt::format("{} heads of {} are not the width {}, as llama.cpp takes for granted in qwen2", s_.heads, s_.head_dim,
                       s_.dim));
    if (s_.no_rope != every_no_rope(family_->no_rope_interval, s_.layers))
      fail(fmt::format("the layers without RoPE are {}, where llama.cpp's {} has {}", layers(s_.no_rope), arch(),
                       family_->no_rope_interval == 0 ? "none" : fmt::format("every {}th", family_->no_rope_interval)));
  }

  static std::string layers(const std::vector<uint32_t>& l) { return l.empty() ? "none" : fmt::format("{}", fmt::join(l, ", ")); }

  // llama.cpp has no windows in these architectures: within the smallest of them nothing is hidden.
  uint32_t context() {
    const uint32_t least = gguf_context(s_);
    if (least < s_.ctx)
      notes_.push_back(
          fmt::format("the context is cut from {} to {}: layers of this model see the last {} positions only, and llama.cpp's {} "
                      "all; up to there both are the same",
                      s_.ctx, least, least, arch()));
    return least;
  }

  const ModelSource& src_;
  const ModelShape& s_;
  std::vector<std::string>& notes_;
  const Family* family_ = nullptr;
  GgufKeys keys_;
};

}  // namespace

uint32_t gguf_context(const ModelShape& s) {
  uint32_t least = s.ctx;
  for (const uint32_t w : s.windows)
    if (w != 0) least = std::min(least, w);
  return least;
}

GgufKeys gguf_model_keys(const ModelSource& src, std::vector<float>& rope_factors, std::vector<std::string>& notes) {
  return Keys(src, notes).run(rope_factors);
}

}  // namespace nyb
