// quant_q4.cpp - the search for an int4 group's scale.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kern/f16.h"
#include "kern/round.h"
#include "model/quant.h"

namespace nyb {
namespace {

// Where the weight of largest magnitude may lie, in steps of the scale: 6.5, 6.75 ... 9 from zero on either side. Over normal
// weights this gives 0.696 of max/7's squared error; five times as many candidates give 0.695.
constexpr int kEnds = 11;
constexpr float kFirstEnd = 6.5f, kEndStep = 0.25f;

// nearest-even(x) within -8..7
int8_t to_nibble(float x) {
  x = std::min(std::max(x, -8.0f), 7.0f);
  return static_cast<int8_t>(static_cast<int>(nearest_even(x)));
}

struct Candidate {
  uint16_t scale = 0;
  double error = 0;  // sum of squares, with the scale as f16 has it
  int8_t q[kGroup] = {};
};

// The best that a given f16 scale can do: every weight to its nearest multiple.
Candidate with_scale(const float* w, uint16_t bits) {
  Candidate c;
  c.scale = bits;
  const float s = f16_to_f32(bits);
  const bool usable = s != 0 && std::isfinite(s);
  for (size_t i = 0; i < kGroup; i++) {
    c.q[i] = usable ? to_nibble(w[i] / s) : int8_t{0};
    const double e = static_cast<double>(w[i]) - static_cast<double>(usable ? s : 0.0f) * static_cast<double>(c.q[i]);
    c.error += e * e;
  }
  if (!usable) c.scale = 0;
  return c;
}

// The scale of least squares for the integers that `inverse` makes of the weights: sum(w q) / sum(q q). 0 if all are 0.
float refit(const float* w, float inverse) {
  double wq = 0, qq = 0;
  for (size_t i = 0; i < kGroup; i++) {
    const auto q = static_cast<double>(to_nibble(w[i] * inverse));
    wq += static_cast<double>(w[i]) * q;
    qq += q * q;
  }
  return qq == 0 ? 0.0f : static_cast<float>(wq / qq);
}

}  // namespace

uint16_t quant_group_q4(const float* w, bool fit, int8_t* q) {
  float most = 0;  // the weight of largest magnitude, the first of equals
  for (size_t i = 0; i < kGroup; i++)
    if (std::fabs(w[i]) > std::fabs(most)) most = w[i];
  if (most == 0) {
    std::memset(q, 0, kGroup);
    return 0;
  }
  Candidate best = with_scale(w, f32_to_f16(std::fabs(most) / 7.0f));
  if (fit) {
    // `most` is put at `end` steps, from both ends of the range: beyond -8 or 7 it is clipped, which may pay
    for (const float sign : {-1.0f, 1.0f}) {
      for (int i = 0; i < kEnds; i++) {
        const float end = sign * (kFirstEnd + kEndStep * static_cast<float>(i));
        const float inverse = end / most;
        if (!std::isfinite(inverse)) continue;
        const float s = refit(w, inverse);
        const Candidate c = with_scale(w, f32_to_f16(s));
        if (c.error < best.error) best = c;
      }
    }
  }
  std::memcpy(q, best.q, kGroup);
  return best.scale;
}

}  // namespace nyb
