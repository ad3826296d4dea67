; gemm_f32: Y = W X for f32 panels: gemv_f32 for each of several tokens (docs/numerics.md, "Matrix-vector products"). Arguments and
; what may be touched: GemmArgs of harness/kern/kern.h, groups the number of columns; column k of a panel is sixteen floats.
;   Per row and token, k ascending from +0: acc = fma(w[row][k], x[k], acc); y = acc.
%include "gemm.inc"

; a column
%macro GEMM_GROUP 1
  %assign v 0
  %rep 2
    GEMM_AT v, 0, 64
    %assign i GEMM_W + v
    vmovups m%[i], [gemm_w]
    %assign v v + 1
  %endrep
  %assign t 0
  %rep %1
    GEMM_TOKEN t
    vbroadcastss m%[GEMM_X], [gemm_x]
    %assign v 0
    %rep 2
      %assign i ACC(t, v)
      %assign j GEMM_W + v
      vfmadd231ps m%[i], m%[j], m%[GEMM_X]
      %assign v v + 1
    %endrep
    %assign t t + 1
  %endrep
%endmacro

%macro GEMM_F32 1
GEMM_BEGIN %1, gemm_f32, f32
GEMM_TILES 64, 0, 4, 6
%endmacro

GEMM_F32 avx2
GEMM_F32 avx512
