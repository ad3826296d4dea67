; gemm_q8: Y = W X for int8 panels with one f32 scale a row: gemv_q8 for each of several tokens (docs/numerics.md, "Matrix-vector
; products"). Arguments and what may be touched: GemmArgs of harness/kern/kern.h; the panels' bytes: asm/gemv_q8.asm.
;   Per row and token, g ascending: I = sum of w * q, exact; acc = fma(float(I), x[g].scale, acc); y = acc * row_scale.
%include "gemm.inc"

%macro GEMM_GROUP 1
  GEMM_START %1
  GEMM_INT8 %1
  GEMM_FLOAT %1
  %if gemm_in_y
    gemm_y_each add_to_y, %1
  %else
    add_all %1
  %endif
%endmacro

%macro add_all 1
  %assign t 0
  %rep %1
    GEMM_TOKEN t
    vbroadcastss m%[GEMM_X], [gemm_x + 32]
    %assign v 0
    %rep 2
      %assign i ACC(t, v)
      %assign j SUM(%1, t, v)
      vfmadd231ps m%[i], m%[j], m%[GEMM_X]
      %assign v v + 1
    %endrep
    %assign t t + 1
  %endrep
%endmacro

%macro add_to_y 1
  GEMM_TOKEN %1
  vbroadcastss m%[GEMM_X], [gemm_x + 32]
  gemm_y_of %1
  %assign i SUM(0, %1, 0)
  %assign j SUM(0, %1, 1)
  vfmadd213ps m%[i], m%[GEMM_X], [gemm_y]
  vfmadd213ps m%[j], m%[GEMM_X], [gemm_y + VBYTES]
  vmovups [gemm_y], m%[i]
  vmovups [gemm_y + VBYTES], m%[j]
%endmacro

; gn = row_scale of the tile's first row: as far from the array's beginning as gy is from that of the token's row
%macro GEMM_FINISH 1
  mov gn, gt
  sub gn, [job + GA.tokens]
  imul gn, [job + GA.y_stride]
  shl gn, 2
  add gn, gy
  sub gn, [job + GA.y]
  add gn, [job + GA.row_scale]
  %if gemm_in_y
    vmovups m0, [gn]
    vmovups m1, [gn + VBYTES]
    gemm_y_each scale_y, %1
  %else
    scaled %1, 0
    %if ISA_512
      test gp, gp
      jz %%one
    %endif
    scaled %1, 1
%%one:
  %endif
%endmacro

%macro scaled 2
  %assign t 0
  %rep %1
    %assign i ACC(t, %2)
    vmulps m%[i], m%[i], [gn + VBYTES * %2]
    %assign t t + 1
  %endrep
%endmacro

%macro scale_y 1
  gemm_y_of %1
  vmulps m2, m0, [gemm_y]
  vmulps m3, m1, [gemm_y + VBYTES]
  vmovups [gemm_y], m2
  vmovups [gemm_y + VBYTES], m3
%endmacro

%macro GEMM_Q8 1
GEMM_BEGIN %1, gemm_q8, i8
  GEMM_CONST flip, 28
  GEMM_CONST_OFF 29
GEMM_TILES 512, 0, 48, 5 - 2 * ISA_VNNI + 3 * ISA_512, 3 * !ISA_VNNI
%endmacro

GEMM_Q8 avx2
GEMM_Q8 vnni
GEMM_Q8 vnni8
GEMM_Q8 avx512
