; gemm_q80: Y = W X for int8 panels with an f16 scale a row and group, Q8_0: gemv_q80 for each of several tokens (docs/numerics.md,
; "Matrix-vector products"). Arguments and what may be touched: GemmArgs of harness/kern/kern.h; the panels' bytes: asm/gemv_q80.asm.
;   Per row and token, g ascending: I = sum of w * q, exact; acc = fma(float(I), wscale * x[g].scale, acc); y = acc.
%include "gemm.inc"

%macro GEMM_GROUP 1
  GEMM_START %1
  GEMM_INT8 %1
  GEMM_FLOAT %1
  GEMM_HALVES 512
  GEMM_ADD_SCALED %1
%endmacro

%macro GEMM_Q80 1
GEMM_BEGIN %1, gemm_q80, i8
  GEMM_CONST flip, 28
  GEMM_CONST_OFF 29
GEMM_TILES 544, 0, 48, 5 - 2 * ISA_VNNI + 3 * ISA_512, 3 * !ISA_VNNI
%endmacro

GEMM_Q80 avx2
GEMM_Q80 vnni
GEMM_Q80 vnni8
GEMM_Q80 avx512
