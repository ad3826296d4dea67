// gguf_rope.h - frequencies of RoPE back into the parameters that a GGUF has for them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>
#include "model/gguf_write.h"

namespace nyb {

struct GgufRope {
  double base = 10000;
  std::string scaling;  // "linear", "yarn"; empty: none
  double factor = 1;
  uint32_t original_ctx = 0;   // of yarn, whose beta_fast is 32 and beta_slow 1: llama.cpp reads them in other families only
  double magnitude = 1;        // of sine and cosine, beside what yarn itself multiplies them by
  std::vector<float> factors;  // by which the frequencies of `base` are divided, one a pair; empty: by none
};

// Parameters that give head_dim / 2 `freqs` (radians a position, all above zero) and `magnitude`, each frequency within 2^-22 of
// itself, which is what llama.cpp's own f32 keeps of them. `any_factors`: where no rule gives them, factors may; else yarn is
// looked for. Throws Error beginning with `where` where nothing says them.
GgufRope gguf_rope(const std::vector<double>& freqs, uint32_t head_dim, uint32_t ctx, double magnitude, bool any_factors,
                   const std::string& where);

// The keys that say so, after the architecture's name; the factors are a tensor.
void gguf_rope_keys(const GgufRope& rope, const std::string& arch, uint32_t head_dim, GgufKeys& keys);

}  // namespace nyb
