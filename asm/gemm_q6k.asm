; gemm_q6k: Y = W X for panels of Q6_K: gemv_q6k for each of several tokens (docs/numerics.md, "Matrix-vector products"). Arguments
; and what may be touched: GemmArgs of harness/kern/kern.h, groups a multiple of 8; the panels' bytes, and how their upper two
; bits meet the nibbles: asm/gemv_q6k.asm.
;   Per row and token, g ascending: I = scale * I of the first 16 columns + scale * I of the others, exact, I = sum of (n - 32) * q;
;   acc = fma(float(I), d * x[g].scale, acc); y = acc.
;
; Two sums a row and token leave registers for tiles of four tokens, two where there are sixteen. A block's d stays in m30 and m31
; on avx512; elsewhere gp keeps the block's place.
%include "gemm.inc"

%macro GEMM_FRONT 0
  %if ISA_512
    vcvtph2ps m30, [gw]
    vcvtph2ps m31, [gw + gp]
  %else
    mov gp, gw
  %endif
%endmacro

; GEMM_W, GEMM_W1 = six bits of piece %2, low (%1 = 0) or high nibbles
%macro six_bits 2
  GEMM_NIBBLES %1, %2
  %assign odd %2 % 2
  %assign v 0
  %rep 2
    GEMM_AT v, 256 + 64 * (%2 / 2), 64
    %assign i GEMM_W + v
    vmovups m%[GEMM_T], [gemm_w]
    %if %1 == 1 && odd == 0
      vpsrlw m%[GEMM_T], m%[GEMM_T], 2
    %elif %1 == 0 && odd == 1
      vpsllw m%[GEMM_T], m%[GEMM_T], 2
    %elif odd == 1
      vpsllw m%[GEMM_T], m%[GEMM_T], 4
    %endif
    %if ISA_512
      vpternlogd m%[i], m%[GEMM_T], GC_high, 0xf8       ; m%[i] | (m%[GEMM_T] & high)
    %else
      vpand m%[GEMM_T], m%[GEMM_T], GC_high
      vpor m%[i], m%[i], m%[GEMM_T]
    %endif
    %assign v v + 1
  %endrep
%endmacro

; SUM and SUM2 of n tokens, at -32 times the sums of their halves
%macro start_halves 1
  %assign t 0
  %rep %1
    GEMM_TOKEN t
    %assign i SUM(%1, t, 0)
    %assign j SUM2(%1, t, 0)
    vpbroadcastd m%[i], [gemm_x + 40]
    vpbroadcastd m%[j], [gemm_x + 44]
    vpsubd m%[i], m%[i], m%[j]
    vpmaddwd m%[i], m%[i], GC_off
    vpmaddwd m%[j], m%[j], GC_off
    %assign k SUM(%1, t, 1)
    vmovaps m%[k], m%[i]
    %assign k SUM2(%1, t, 1)
    vmovaps m%[k], m%[j]
    %assign t t + 1
  %endrep
%endmacro

; the sums of n tokens times the rows' int8 at offset %2. %3 SUM or SUM2
%macro times_scales 3
  %assign v 0
  %rep 2
    GEMM_AT v, %2, 16
    vpmovsxbd m%[GEMM_W], [gemm_w]
    %assign t 0
    %rep %1
      %assign i %3(%1, t, v)
      vpmulld m%[i], m%[i], m%[GEMM_W]
      %assign t t + 1
    %endrep
    %assign v v + 1
  %endrep
%endmacro

%macro GEMM_GROUP 1
  start_halves %1
  %assign c 0
  %rep 4
    six_bits 0, c
    GEMM_DOT u6, %1, 4 * c, SUM
    six_bits 1, c
    GEMM_DOT u6, %1, 16 + 4 * c, SUM2
    %assign c c + 1
  %endrep
  times_scales %1, 384, SUM
  times_scales %1, 400, SUM2
  %assign i 2 * %1
  %rep 2 * %1
    %assign j i + 2 * %1
    vpaddd m%[i], m%[i], m%[j]
    %assign i i + 1
  %endrep
  GEMM_FLOAT %1
  %if ISA_512
    vmovaps m%[GEMM_W], m30
    vmovaps m%[GEMM_W1], m31
  %else
    vcvtph2ps m%[GEMM_W], [gp]
    vcvtph2ps m%[GEMM_W1], [gp + 16]
  %endif
  GEMM_ADD_SCALED %1
%endmacro

%macro GEMM_Q6K 1
GEMM_BEGIN %1, gemm_q6k, u6
  GEMM_CONST low, 28
  GEMM_CONST high, 29
GEMM_TILES 416, 32, 48, 2 + 2 * ISA_512
%endmacro

GEMM_Q6K avx2
GEMM_Q6K vnni
GEMM_Q6K avx512
