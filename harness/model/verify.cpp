// verify.cpp - the checksums of a loaded model's tensors.
#include <xxhash.h>

#include "model/bytes.h"
#include "model/model.h"

namespace nyb {

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
  }
  return bad;
}

}  // namespace nyb
