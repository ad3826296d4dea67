#include "mnm1_file.h"

#include <cstring>

#include "kern/splitmix.h"

namespace nyb::test {
namespace {

struct Part {
  std::string name;
  uint64_t rows, cols;
};

std::vector<Part> parts() {
  using F = Mnm1File;
  std::vector<Part> all = {{"E", F::vocab, F::dim}};
  for (uint64_t l = 0; l < F::layers; l++) {
    const std::string at = std::to_string(l) + ".";
    all.push_back({at + "Wqkv", (F::heads + 2 * F::kv_heads) * F::head_dim, F::dim});
    all.push_back({at + "Wo", F::dim, F::heads * F::head_dim});
    all.push_back({at + "W13", 2 * F::ffn, F::dim});
    all.push_back({at + "W2", F::dim, F::ffn});
  }
  for (uint64_t l = 0; l < F::layers; l++)
    for (const char* n : {".n1", ".n2"}) all.push_back({std::to_string(l) + n, 1, F::dim});
  all.push_back({"last", 1, F::dim});
  return all;
}

template <class T>
void append(std::string& to, const std::vector<T>& v) {
  to.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
  to.resize((to.size() + 63) / 64 * 64);
}

}  // namespace

Mnm1File::Mnm1File(uint64_t q) : quant(q) {
  uint64_t state = 7;
  for (const Part& p : parts()) {
    std::vector<float>& v = values[p.name];
    v.resize(p.rows * p.cols);
    if (p.rows == 1 || quant == 0) {
      for (float& x : v) x = 0.25f * splitmix_unit(state) + (p.rows == 1 ? 1.0f : 0.0f);
      continue;
    }
    const uint64_t group = quant == 1 ? p.cols : 32;
    const int low = quant == 1 ? -128 : -8, span = quant == 1 ? 256 : 16;
    for (uint64_t g = 0; g < v.size() / group; g++) {
      scales[p.name].push_back(0.01f + 0.005f * splitmix_unit(state));  // not what f16 holds
      for (uint64_t i = 0; i < group; i++) {
        const auto n = static_cast<int8_t>(low + static_cast<int>(splitmix64(state) >> 40) % span);
        ints[p.name].push_back(n);
        v[g * group + i] = static_cast<float>(n) * scales[p.name].back();
      }
    }
  }
}

std::string Mnm1File::bytes() const {
  std::string b = "MNMODEL1";
  const auto u64 = [&b](uint64_t v) { b.append(reinterpret_cast<const char*>(&v), 8); };
  for (const uint64_t v : {layers, dim, heads, kv_heads, head_dim, ffn, vocab, ctx}) u64(v);
  const double base = 10000;
  b.append(reinterpret_cast<const char*>(&base), 8);
  u64(quant);
  u64(hash);
  b.resize(4096);
  for (const Part& p : parts()) {
    if (p.rows == 1 || quant == 0) {
      append(b, values.at(p.name));
    } else if (quant == 1) {
      append(b, ints.at(p.name));
      append(b, scales.at(p.name));
    } else {
      const std::vector<int8_t>& n = ints.at(p.name);
      std::vector<uint8_t> packed;
      for (size_t g = 0; g < n.size(); g += 32)
        for (size_t j = 0; j < 16; j++) packed.push_back(static_cast<uint8_t>((n[g + j] + 8) | (n[g + j + 16] + 8) << 4));
      append(b, packed);
      append(b, scales.at(p.name));
    }
  }
  return b;
}

}  // namespace nyb::test
