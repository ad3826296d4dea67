// hf_rope.h - what config.json says of positions: rope_theta with rope_scaling, or rope_parameters, as transformers writes it
// since 5.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include "model/rope.h"

namespace nyb {

struct HfRope {
  RopeRule rule;
  float factor = 1;  // of sine and cosine
  uint32_t ctx = 0;  // positions that it is made for: of yarn at least factor x original_max_position_embeddings, else as given
};

// `ctx` is max_position_embeddings, `theta` what is taken where rope_theta is not given. Throws Error beginning with `path`: a type
// of scaling that does not run, with those that do; a parameter that is missing, out of its range, said in two ways, or unknown
// (which may change the result).
HfRope hf_rope(const nlohmann::json& config, const std::string& path, uint32_t ctx, double theta);

}  // namespace nyb
