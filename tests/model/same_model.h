// same_model.h - whether two sources are one model.
#pragma once
#include <optional>
#include <string>

#include "model/source.h"
#include "model/tensor.h"

namespace nyb::test {

// Converts with matrices and head of one type (nothing: as the source has them); returns the file's path, each time the same.
std::string converted(const ModelSource& src, std::optional<TType> type);

// All that makes the answers is equal, in f32, q8 and q4: shape, tensors, and metadata, of which epsilon as the float that is used.
// What the source was called and its hash may differ.
void expect_same_model(const ModelSource& a, const ModelSource& b);

}  // namespace nyb::test
