// f16.h - IEEE binary16 and bfloat16 in portable code; nearest even, subnormals kept, NaN stays NaN.
#pragma once
#include <cstdint>

namespace nyb {
float f16_to_f32(uint16_t h);
uint16_t f32_to_f16(float f);  // overflow gives an infinity
float bf16_to_f32(uint16_t b);
}  // namespace nyb
