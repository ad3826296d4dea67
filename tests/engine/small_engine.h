// small_engine.h - a small model and what the engine's tests do with it.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "kern/error.h"
#include "paths.h"
#include "weights.h"

namespace nyb::test {

inline ModelShape small_shape() {
  return {.layers = 3, .dim = 48, .heads = 4, .kv_heads = 2, .head_dim = 12, .ffn = 80, .vocab = 61, .ctx = 40};
}

inline const Model& small_model() {
  static const auto m = make_model(random_weights(small_shape(), true, 11), all(TType::q8));
  return *m;
}

inline Pool& pool() {
  static Pool p(2);
  return p;
}

inline const KernTable& best() { return kern_table(runnable_paths().back()); }

inline std::vector<int32_t> count_up(size_t n) {
  std::vector<int32_t> ids(n);
  for (size_t i = 0; i < n; i++) ids[i] = static_cast<int32_t>(i * 7 % 61);
  return ids;
}

inline std::vector<float> every_logit(Engine& e, std::span<const int32_t> ids, uint32_t pos = 0) {
  std::vector<float> l(ids.size() * e.model().shape.vocab);
  eng_step(e, ids, pos, l);
  return l;
}

inline bool same(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// The sentence of the Error that f throws.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* w : words) EXPECT_NE(text.find(w), std::string::npos) << "\"" << w << "\" is not in: " << text;
}

}  // namespace nyb::test
