// random_model.h - models of a known shape with weights made on the fly: as fast and as large as the real ones, saying nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include "model/shapes.h"
#include "model/tensor.h"

namespace nyb {

// Goes up whenever the same shape and type give other bytes: what was kept of earlier ones is then made anew.
inline constexpr int kRandomModelRevision = 1;

// A whole matrix (tensor_bytes of it): any int8 and any nibble, scales such that a product is about as large as its input. The
// same for the same seed.
void random_matrix_bytes(TType t, uint64_t rows, uint64_t cols, uint8_t* p, uint64_t seed);

// Writes a model file of this shape, with no tokenizer. Its products are about as large as their inputs, so that nothing grows past
// f32 or f16. The same calls give the same file. Throws Error (no space, no permission) naming the file.
void random_model(const std::string& path, const NamedShape& shape, TType type, TType head,
                  const std::function<void(uint64_t done, uint64_t total)>& progress = {});

}  // namespace nyb
