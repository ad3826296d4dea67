#include <fmt/format.h>
#include <xxhash.h>

#include "kern/f16.h"
#include "model/bytes.h"
#include "model/model.h"

namespace nyb {
namespace {

constexpr bool f16_finite(uint16_t h) { return (h & 0x7c00) != 0x7c00; }

// The first group scale of a q4 tensor that is infinite or NaN, as words; empty when there is none.
std::string bad_scale(const Tensor& t) {
  const uint64_t groups = groups_of(t.cols), n = panels_of(t.rows) * groups;
  for (uint64_t i = 0; i < n; i++) {
    const uint8_t* s = t.data + i * kQ4GroupBytes + kQ4NibbleBytes;
    for (uint64_t r = 0; r < kPanelRows; r++)
      if (!f16_finite(get_le<uint16_t>(s + 2 * r)))
        return fmt::format("{} (the scale of row {}, group {} is not finite)", t.name, i / groups * kPanelRows + r, i % groups);
  }
  return {};
}

}  // namespace

std::vector<std::string> model_verify(const Model& m) {
  std::vector<std::string> bad;
  for (size_t i = 0; i < m.tensors.size(); i++) {
    const Tensor& t = m.tensors[i];
    if (XXH3_64bits(t.data, t.bytes) != t.hash) {
      bad.push_back(t.name);
      continue;
    }
    const uint8_t* end = t.data + (align64(t.bytes));
    bool zero = true;
    for (const uint8_t* p = t.data + t.bytes; p < end; p++) zero = zero && *p == 0;
    if (!zero) bad.push_back(t.name + " (the padding after it is not zero)");
    if (t.type == TType::q4)
      if (std::string s = bad_scale(t); !s.empty()) bad.push_back(std::move(s));
  }
  return bad;
}

}  // namespace nyb
