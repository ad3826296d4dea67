// shapes.cpp - the table, and the arithmetic on it.
#include "model/shapes.h"
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include "model/family.h"
#include "model/format.h"

namespace nyb {
namespace {

//  name             family   layers  dim heads kv  hd   ffn   vocab     ctx  tied   rope base
constexpr NamedShape kTable[] = {
    {"126m", "llama", 16, 768, 12, 4, 64, 2048, 32768, 1024, true, 10000},
    {"smollm2-135m", "llama", 30, 576, 9, 3, 64, 1536, 49152, 8192, true, 100000},
    {"smollm2-360m", "llama", 32, 960, 15, 5, 64, 2560, 49152, 8192, true, 100000},
    {"smollm2-1.7b", "llama", 24, 2048, 32, 32, 64, 8192, 49152, 8192, true, 130000},
    {"smollm3-3b", "smollm3", 36, 2048, 16, 4, 128, 11008, 128256, 65536, true, 5000000},
    {"qwen2.5-0.5b", "qwen2", 24, 896, 14, 2, 64, 4864, 151936, 32768, true, 1000000},
    {"qwen2.5-1.5b", "qwen2", 28, 1536, 12, 2, 128, 8960, 151936, 32768, true, 1000000},
    {"qwen2.5-3b", "qwen2", 36, 2048, 16, 2, 128, 11008, 151936, 32768, true, 1000000},
    {"qwen2.5-7b", "qwen2", 28, 3584, 28, 4, 128, 18944, 152064, 32768, false, 1000000},
    {"qwen3-0.6b", "qwen3", 28, 1024, 16, 8, 128, 3072, 151936, 40960, true, 1000000},
    {"qwen3-1.7b", "qwen3", 28, 2048, 16, 8, 128, 6144, 151936, 40960, true, 1000000},
    {"qwen3-4b", "qwen3", 36, 2560, 32, 8, 128, 9728, 151936, 40960, true, 1000000},
    {"qwen3-8b", "qwen3", 36, 4096, 32, 8, 128, 12288, 151936, 40960, false, 1000000},
    {"tinyllama-1.1b", "llama", 22, 2048, 32, 4, 64, 5632, 32000, 2048, false, 10000},
    {"llama3.2-1b", "llama", 16, 2048, 32, 8, 64, 8192, 128256, 131072, true, 500000},
    {"llama3.2-3b", "llama", 28, 3072, 24, 8, 128, 8192, 128256, 131072, true, 500000},
    {"llama3.1-8b", "llama", 32, 4096, 32, 8, 128, 14336, 128256, 131072, false, 500000},
    {"mistral-7b", "mistral", 32, 4096, 32, 8, 128, 14336, 32768, 32768, false, 1000000},
};

void add(ModelCost& c, TType type, uint64_t rows, uint64_t cols, bool read) {
  const uint64_t bytes = tensor_bytes(type, rows, cols);
  c.weights += bytes;
  c.read_per_token += read ? bytes : 0;
  if (read) c.read_of[type] += bytes;
  c.macs_per_token += read && type != TType::vec ? rows * cols : 0;
}

}  // namespace

ModelShape NamedShape::shape() const {
  ModelShape s;
  s.layers = layers;
  s.dim = dim;
  s.heads = heads;
  s.kv_heads = kv_heads;
  s.head_dim = head_dim;
  s.ffn = ffn;
  s.vocab = vocab;
  s.ctx = ctx;
  const Family& f = *family_find(family);
  s.qkv_bias = f.biases == Biases::qkv;
  s.qk_norm = f.qk_norm;
  s.no_rope = every_no_rope(f.no_rope_interval, layers);
  s.norm_eps = 1e-5f;
  s.attn_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(head_dim)));
  for (const TensorSlot& t : model_slots(s, tied)) s.params += t.rows * t.cols;
  return s;
}

std::span<const NamedShape> named_shapes() { return kTable; }

const NamedShape* shape_find(std::string_view name) {
  const auto* it = std::find_if(std::begin(kTable), std::end(kTable), [&](const NamedShape& s) { return s.name == name; });
  return it == std::end(kTable) ? nullptr : it;
}

std::string shape_names() {
  std::string all;
  for (const NamedShape& s : kTable) all += (all.empty() ? "" : ", ") + std::string(s.name);
  return all;
}

ModelCost model_cost(const ModelShape& shape, bool tied, TType type, TType head) {
  ModelCost c;
  for (const TensorSlot& t : model_slots(shape, tied)) {
    const bool embed = t.name == "embed", is_head = t.name == "head" || (embed && tied);
    add(c, !t.matrix ? TType::vec : is_head ? head : type, t.rows, t.cols, !embed || tied);
  }
  return c;
}

ModelCost model_cost(const std::vector<Tensor>& tensors, bool tied) {
  ModelCost c;
  for (const Tensor& t : tensors) add(c, t.type, t.rows, t.cols, t.name != "embed" || tied);
  return c;
}

std::string type_names(const std::vector<Tensor>& tensors, bool tied) {
  const Tensor& embed = tensors.front();
  const Tensor& head = tied ? embed : tensors.back();
  const auto bytes = [&](TType type) {  // of the layers
    uint64_t sum = 0;
    for (const Tensor& t : tensors) sum += t.type == type && &t != &embed && &t != &head ? t.bytes : 0;
    return sum;
  };
  TType main = TType::f32;
  for (const TType t : kMatrixTypes)
    if (bytes(t) > bytes(main)) main = t;
  std::string s(ttype_name(main));
  for (const TType t : kMatrixTypes)
    if (t != main && bytes(t) != 0) s += fmt::format(", some {}", ttype_name(t));
  if (!tied && embed.type != main) s += fmt::format(" (embed {})", ttype_name(embed.type));
  if (head.type != main) s += fmt::format(" (head {})", ttype_name(head.type));
  return s;
}

}  // namespace nyb
