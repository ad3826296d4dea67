// show.h - what is in a GGUF, and how two differ, as text.
#pragma once
#include <string>
#include "model/gguf.h"

namespace nyb {

// Every key and tensor, and what the tensors of each type take.
std::string gguf_info(const Gguf& g);

// Keys that only one has or that differ; of the tensors that both have, types, and the greatest difference of values.
std::string gguf_diff(const Gguf& a, const Gguf& b);

}  // namespace nyb
