; gemm_q4: Y = W X for int4 panels with an f16 scale a row and group: gemv_q4 for each of several tokens (docs/numerics.md,
; "Matrix-vector products"). Arguments and what may be touched: GemmArgs of harness/kern/kern.h; the panels' bytes: asm/gemv_q4.asm.
;   Per row and token, g ascending: I = sum of (n - 8) * q, exact; acc = fma(float(I), wscale * x[g].scale, acc); y = acc.
%include "gemm.inc"

%define GEMM_PIECE 30

%macro GEMM_GROUP 1
  GEMM_START %1
  %if gemm_in_y
    GEMM_INT4_AHEAD u4, %1
  %else
    GEMM_INT4 u4, %1
  %endif
  GEMM_FLOAT %1
  GEMM_HALVES 256
  GEMM_ADD_SCALED %1
%endmacro

%macro GEMM_Q4 1
GEMM_BEGIN %1, gemm_q4, u4
  GEMM_CONST low, 28
  GEMM_CONST_OFF 29
GEMM_TILES 288, 0, 48, 5 - 2 * ISA_VNNI + 3 * ISA_512, 5 * !ISA_VNNI
%endmacro

GEMM_Q4 avx2
GEMM_Q4 vnni
GEMM_Q4 avx512
