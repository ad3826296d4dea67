// keep.h - a source's own types kept: integers and scales as they are where a panel holds them, else the nearest type.
#pragma once
#include <string_view>
#include "model/source.h"
#include "model/tensor.h"

namespace nyb {

// How a matrix of a source becomes panels (docs/model-file.md, "Types that are kept").
enum class Via : uint8_t {
  blocks,     // ggml's blocks, the same integers and scales: exact
  rows,       // int8 with an f32 scale a row, the same integers and scales: exact
  respelled,  // the integers and scales of one block in the form of another: exact, but for IQ4_XS and f32 scales, rounded to f16
  floats,     // by quant_panel, of the values as floats
};
struct TypePlan {
  TType type;
  Via via;
};
TypePlan type_kept(const SourceTensor& t);

// Up to sixteen rows from `row` on, as the model file has them, into a panel of panel_bytes(plan.type, columns), and, of q8, their
// scales. Not for Via::floats.
void keep_panel(const TypePlan& plan, const SourceTensor& t, uint64_t row, uint64_t rows, uint8_t* panel,
                float (&row_scales)[kPanelRows]);

// What a source calls its type: "f32", "q5_K" ...
std::string_view source_type_name(const SourceTensor& t);

}  // namespace nyb
