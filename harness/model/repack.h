// repack.h - rows of ggml's blocks (the tensors of GGUF files) as panels, and back: the same integers and scales in other places.
#pragma once
#include <cstdint>
#include <span>
#include "model/tensor.h"

namespace nyb {

// Bytes of a row of cols columns as ggml has it: blocks of 32 columns for q80 (Q8_0, 34 B) and q4 (Q4_0, 18 B), of 256 for q4k
// (Q4_K, 144 B) and q6k (Q6_K, 210 B). Throws Error where cols is no whole number of blocks, and for other types.
uint64_t ggml_row_bytes(TType type, uint64_t cols);

// Up to sixteen rows, each ggml_row_bytes(type, cols) long, into a panel of panel_bytes(type, cols); rows beyond those given are
// zero. Scales are not looked at: those that are not finite stay so. Throws Error as ggml_row_bytes does.
void repack_panel(TType type, std::span<const uint8_t* const> rows, uint64_t cols, uint8_t* panel);

// Row r (0..15) of such a panel as ggml has it, the very bytes that it was made of: ggml_row_bytes(type, cols) of them. Throws
// Error likewise.
void unpack_row(TType type, const uint8_t* panel, uint64_t cols, size_t r, uint8_t* row);

}  // namespace nyb
