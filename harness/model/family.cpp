// family.cpp - the table.
#include "model/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kern/dmath.h"
#include "kern/error.h"

namespace nyb {
namespace {

// clang-format off
constexpr Family kTable[] = {
    // name, architecture, GGUF and its pairs; biases, QK norm; no RoPE, windows and the default; kv, head, ctx, theta, eps, tied
    {"llama", "LlamaForCausalLM", "llama", true,
     Biases::asked, false, 0, Windows::none, 0,            0, 0, 2048, 10000, 1e-6, false},
    {"mistral", "MistralForCausalLM", "llama", true,
     Biases::none, false, 0, Windows::every_layer, 4096,   8, 0, 131072, 10000, 1e-6, false},
    {"qwen2", "Qwen2ForCausalLM", "qwen2", false,
     Biases::qkv, false, 0, Windows::last_layers, 4096,    32, 0, 32768, 10000, 1e-6, false},
    {"qwen3", "Qwen3ForCausalLM", "qwen3", false,
     Biases::asked, true, 0, Windows::last_layers, 4096,   32, 128, 32768, 10000, 1e-6, false},
    {"smollm3", "SmolLM3ForCausalLM", "smollm3", true,
     Biases::asked, false, 4, Windows::no_rope_layers, 0,  4, 0, 32768, 2000000, 1e-6, true},
};
// clang-format on

const Family* find(std::string_view Family::*which, std::string_view name) {
  const auto* it = std::find_if(std::begin(kTable), std::end(kTable), [&](const Family& f) { return f.*which == name; });
  return it == std::end(kTable) ? nullptr : it;
}

}  // namespace

std::span<const Family> families() { return kTable; }
const Family* family_find(std::string_view name) { return find(&Family::name, name); }
const Family* family_of_hf(std::string_view architecture) { return find(&Family::hf_architecture, architecture); }
const Family* family_of_gguf(std::string_view architecture) { return find(&Family::gguf, architecture); }

std::string family_names(std::string_view Family::*which) {
  std::string all;
  for (const Family& f : kTable)
    if (find(which, f.*which) == &f) all += (all.empty() ? "" : ", ") + std::string(f.*which);
  return all;
}

std::vector<uint32_t> every_no_rope(uint32_t interval, uint32_t layers) {
  std::vector<uint32_t> out;
  for (uint64_t l = interval; interval != 0 && l <= layers; l += interval) out.push_back(static_cast<uint32_t>(l - 1));
  return out;
}

void family_meta(const Family& family, const ModelShape& s, double eps, const std::string& where, Meta& meta) {
  for (const double f : s.rope_freqs)
    if (!(f * s.ctx <= kMostRadians))  // as a model file is checked, but before the work
      throw Error(fmt::format("{}: a RoPE frequency is {}, which is too high for {} positions", where, f, s.ctx));
  meta.set(key::family, std::string(family.name), true);
  meta.set(key::act, std::string("silu"), true);
  meta.set(key::norm_eps, eps, true);
  meta.set(key::attn_scale, 1.0 / std::sqrt(static_cast<double>(s.head_dim)), true);
  meta.set(key::rope_style, std::string("half"), true);
  meta.set(key::rope_freqs, s.rope_freqs, true);
  meta.set(key::rope_factor, static_cast<double>(s.rope_factor), true);
  if (s.qkv_bias) meta.set(key::qkv_bias, uint64_t{1}, true);
  if (s.o_bias) meta.set(key::o_bias, uint64_t{1}, true);
  if (s.qk_norm) meta.set(key::qk_norm, uint64_t{1}, true);
  if (!s.no_rope.empty()) meta.set(key::rope_none, s.no_rope, true);
  if (!s.windows.empty()) meta.set(key::windows, s.windows, true);
}

}  // namespace nyb
