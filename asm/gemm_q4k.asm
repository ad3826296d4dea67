; gemm_q4k: Y = W X for panels of Q4_K: gemv_q4k for each of several tokens (docs/numerics.md, "Matrix-vector products"). Arguments
; and what may be touched: GemmArgs of harness/kern/kern.h, groups a multiple of 8; the panels' bytes: asm/gemv_q4k.asm.
;   Per row and token, g ascending: I = sum of n * q, exact; acc = fma(float(I), (d * sc) * x[g].scale, acc);
;   acc = fma(-(dmin * m), x[g].xsum, acc); y = acc.
;
; A block's d and dmin stay in m28 to m31 on avx512; elsewhere there are no registers left, so gf is the block's place.
%include "gemm.inc"

%macro GEMM_FRONT 0
  %if ISA_512
    vcvtph2ps m28, [gw]
    vcvtph2ps m29, [gw + gp]
    vcvtph2ps m30, [gw + 32]
    vcvtph2ps m31, [gw + gp + 32]
  %else
    GEMM_KEEP_FRONT
  %endif
%endmacro

; m%1 = the rows' bytes at offset %3 times vector %2 of the block's f16, %4 the first (0) or second (1) sixteen. [clobbered] GEMM_X
%macro factors 4
  GEMM_AT %2, %3, 16
  vpmovzxbd m%[%1], [gemm_w]
  vcvtdq2ps m%[%1], m%[%1]
  %if ISA_512
    %assign i 28 + 2 * %4 + %2
    vmulps m%[%1], m%[%1], m%[i]
  %else
    vcvtph2ps m%[GEMM_X], [gf + 32 * %4 + 16 * %2]
    vmulps m%[%1], m%[%1], m%[GEMM_X]
  %endif
%endmacro

%macro add_scaled 1
  %assign v 0
  %rep 2
    factors GEMM_W, v, 256, 0
    factors GEMM_W1, v, 272, 1
    %assign t 0
    %rep %1
      GEMM_TOKEN t
      %assign i ACC(t, v)
      %assign j SUM(%1, t, v)
      vbroadcastss m%[GEMM_X], [gemm_x + 32]
      vmulps m%[GEMM_X], m%[GEMM_W], m%[GEMM_X]
      vfmadd231ps m%[i], m%[j], m%[GEMM_X]
      vbroadcastss m%[GEMM_X], [gemm_x + 36]
      vfnmadd231ps m%[i], m%[GEMM_W1], m%[GEMM_X]
      %assign t t + 1
    %endrep
    %assign v v + 1
  %endrep
%endmacro

; The same in a tile of five, for token %1, whose ACC is in y: the factors of both vectors are in m10 to m13. gx3 is y's: for token 3 gx
; moves to token 1 and back.
%macro add_scaled_to_y 1
  %if %1 == 3
    add gx, gs
    %xdefine gemm_x gx + 2 * gs
  %else
    GEMM_TOKEN %1
  %endif
  gemm_y_of %1
  %assign i SUM(5, %1, 0)
  %assign j SUM(5, %1, 1)
  vbroadcastss m14, [gemm_x + 32]
  vmulps m15, m10, m14
  vmulps m14, m11, m14
  vfmadd213ps m%[i], m15, [gemm_y]
  vfmadd213ps m%[j], m14, [gemm_y + VBYTES]
  vbroadcastss m14, [gemm_x + 36]
  vfnmadd231ps m%[i], m12, m14
  vfnmadd231ps m%[j], m13, m14
  vmovups [gemm_y], m%[i]
  vmovups [gemm_y + VBYTES], m%[j]
  %if %1 == 3
    sub gx, gs
  %endif
%endmacro

; m10 to m13 = scale and minimum of both vectors
%macro all_factors 0
  %if gemm_in_room
    gemm_weights_in 10
    GEMM_FROM_ROOM GR.factors
    gemm_weights_in 12
    GEMM_FROM_ROOM GR.factors + 64
  %else
    GEMM_FIND_FRONT
    factors 10, 0, 256, 0
    factors 11, 1, 256, 0
    factors 12, 0, 272, 1
    factors 13, 1, 272, 1
  %endif
%endmacro

%macro GEMM_UNPACK 0
  GEMM_UNPACK_PIECES GEMM_NIBBLES
  all_factors
  gemm_weights_in 10
  GEMM_TO_ROOM GR.factors
  gemm_weights_in 12
  GEMM_TO_ROOM GR.factors + 64
%endmacro

%macro GEMM_GROUP 1
  GEMM_START %1
  %if gemm_in_y
    GEMM_INT4_AHEAD n4, %1
  %else
    GEMM_INT4 n4, %1
  %endif
  GEMM_FLOAT %1
  %if gemm_in_y
    all_factors
    gemm_y_each add_scaled_to_y, %1
  %else
    add_scaled %1
  %endif
%endmacro

%macro GEMM_Q4K 1
GEMM_BEGIN %1, gemm_q4k, n4
  GEMM_CONST low, GEMM_T                    ; which vpdpbusd has no use for
GEMM_TILES 288, 64, 48, 5 - 2 * ISA_VNNI + 3 * ISA_512, 5 * !ISA_VNNI, 20 * !ISA_VNNI
%endmacro

GEMM_Q4K avx2
GEMM_Q4K vnni
GEMM_Q4K avx512
