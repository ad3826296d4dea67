#include "ggml.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "npm.h"

namespace nyb::test {

void* Ggml::symbol(const std::string& name) const {
  void* p = dlsym(library_, name.c_str());
  if (!p) ADD_FAILURE() << "libggml-base.so has no " << name;
  return p;
}

const Ggml* Ggml::get() {
  static const auto made = [] {
    auto g = std::make_unique<Ggml>();
    const auto path = npm_file("@node-llama-cpp/linux-x64/bins/linux-x64/libggml-base.so");
    g->library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!g->library_) {
      ADD_FAILURE() << "libggml-base.so: " << dlerror();
      return std::unique_ptr<Ggml>();
    }
    g->block_values = reinterpret_cast<decltype(g->block_values)>(g->symbol("ggml_blck_size"));
    g->block_bytes = reinterpret_cast<decltype(g->block_bytes)>(g->symbol("ggml_type_size"));
    g->name = reinterpret_cast<decltype(g->name)>(g->symbol("ggml_type_name"));
    g->chunk_ = reinterpret_cast<decltype(g->chunk_)>(g->symbol("ggml_quantize_chunk"));
    return g;
  }();
  return made.get();
}

std::string Ggml::quantize(uint32_t type, const std::vector<float>& values, size_t row) const {
  std::string out(values.size() / static_cast<size_t>(block_values(type)) * block_bytes(type), '\0');
  const auto rows = static_cast<int64_t>(values.size() / row);
  chunk_(type, values.data(), out.data(), 0, rows, static_cast<int64_t>(row), nullptr);
  return out;
}

std::vector<float> Ggml::dequantize(uint32_t type, const std::string& blocks) const {
  std::vector<float> out(blocks.size() / block_bytes(type) * static_cast<size_t>(block_values(type)));
  const std::string n = name(type);
  if (n == "f32") return std::memcpy(out.data(), blocks.data(), blocks.size()), out;
  const std::string function = n == "f16" ? "ggml_fp16_to_fp32_row" : n == "bf16" ? "ggml_bf16_to_fp32_row" : "dequantize_row_" + n;
  const auto f = reinterpret_cast<void (*)(const void*, float*, int64_t)>(symbol(function));
  f(blocks.data(), out.data(), static_cast<int64_t>(out.size()));
  return out;
}

}  // namespace nyb::test
