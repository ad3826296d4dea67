// rope.h - RoPE's frequencies, with what stretches them over a longer context worked in.
#pragma once
#include <cstdint>
#include <vector>

namespace nyb {

enum class RopeScaling : uint8_t { none, linear, llama3, yarn };

// The parameters as config.json names them; `original_ctx` is original_max_position_embeddings.
struct RopeRule {
  double theta = 10000;  // the base, above zero; yarn: above 1
  RopeScaling scaling = RopeScaling::none;
  double factor = 1;                                 // of all scalings, above zero
  double original_ctx = 0;                           // of llama3 and yarn, above zero
  double low_freq_factor = 1, high_freq_factor = 4;  // of llama3: 0 < low < high
  double beta_fast = 32, beta_slow = 1;              // of yarn, turns over original_ctx: fast >= slow > 0
  bool truncate = true;                              // of yarn: the ramp begins and ends at whole pairs
};

// Radians per position of the head_dim / 2 pairs, in double by our own functions (dmath.h), so that every machine makes the same.
// Formulas: Su et al., RoFormer (arXiv 2104.09864); llama3 as Meta published it with Llama 3.1; yarn: Peng et al. (arXiv
// 2309.00071), in the form of transformers' modeling_rope_utils.py, where a ramp goes from pair to pair.
std::vector<double> rope_frequencies(const RopeRule& rule, uint32_t head_dim);

// What yarn multiplies sine and cosine by, for a factor and one of the weights that config.json may have (mscale): 0.1 weight
// ln(factor)
// + 1, or 1 where the factor is not above 1.
double yarn_magnitude(double factor, double weight = 1);

}  // namespace nyb
