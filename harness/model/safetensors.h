// safetensors.h - the header of a .safetensors file: u64 length, JSON, then the tensors' bytes.
#pragma once
#include <vector>
#include "model/mapped_file.h"
#include "model/source.h"

namespace nyb {

// All tensors of one file, in the order of their data. Throws Error beginning with the file's path: a header length beyond the
// file or above 32 MiB, JSON that is malformed or says something twice, an unknown dtype, shapes whose product overflows or
// disagrees with the offsets, offsets that are reversed, beyond the file, overlapping or leave gaps.
std::vector<SourceTensor> safetensors_read(const MappedFile& file);

}  // namespace nyb
