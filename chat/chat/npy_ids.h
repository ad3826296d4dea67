// npy_ids.h - token ids out of numpy's format.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

// The ids in `file`, the whole of a .npy file: one dimension, '<i4', '<i8', '<u2' or '<u4', each id in [0, vocab). Throws Error,
// one sentence that begins with `name`, for all else: another version or type, Fortran order, a scalar or a matrix, a header that
// is malformed, data that are too short or too long, an id outside the vocabulary (with its position).
std::vector<int32_t> npy_ids(std::string_view file, const std::string& name, uint32_t vocab);

}  // namespace nyb
