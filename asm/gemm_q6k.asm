; gemm_q6k: Y = W X for panels of Q6_K: gemv_q6k for each of several tokens (docs/numerics.md, "Matrix-vector products"). Arguments
; and what may be touched: GemmArgs of harness/kern/kern.h, groups a multiple of 8; the panels' bytes, and how their upper two
; bits meet the nibbles: asm/gemv_q6k.asm.
;   Per row and token, g ascending: I = scale * I of the first 16 columns + scale * I of the others, exact, I = sum of (n - 32) * q;
;   acc = fma(float(I), d * x[g].scale, acc); y = acc.
;
; I is computed in f32: a half's is 16 * 32 * 127 = 65,024 at most, times a scale of -128..127 8,323,072, and the sum of two is below
; 2^24, so nothing is rounded. It may be -0 where int32 has 0, which no acc shows: I * scale is a multiple of 2^-149 and acc is one, so
; their sum is 0 only when it is exactly so, which is +0 as long as acc is not -0, and acc begins at +0.
;
; Two sums a row and token leave registers for tiles of four tokens, two where there are sixteen; three on avx2, whose sums of f32 are in
; y. A block's d stays in m30 and m31 on avx512; elsewhere gf is the block's place.
;
; On avx2 two pieces of a half fit int16: 2 * 2 * 63 * 127 = 32,004. They are added before they are widened; the second two of the second
; half, for which no register is left, one by one.
;
;     SUM   pieces 0 and 1, + those of SUM2 ------> times scale       + those of SUM2, times scale
;     SUM2                    pieces 2 and 3              pieces 4 and 5, + 6, + 7
%include "gemm.inc"

%macro GEMM_FRONT 0
  %if ISA_512
    vcvtph2ps m30, [gw]
    vcvtph2ps m31, [gw + gp]
  %else
    GEMM_KEEP_FRONT
  %endif
%endmacro

; GEMM_W, GEMM_W1 = six bits of piece %2, low (%1 = 0) or high nibbles
%macro six_bits 2
  GEMM_NIBBLES %1, (%2)
  %if !gemm_in_room
    %assign odd (%2) % 2
    %assign v 0
    %rep 2
      GEMM_AT v, 256 + 64 * ((%2) / 2), 64
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
  %endif
%endmacro

; GEMM_W, GEMM_W1 = the rows' int8 of half %1
%macro half_scales 1
  %if gemm_in_room
    GEMM_FROM_ROOM GR.factors + 64 * %1
  %else
    %assign v 0
    %rep 2
      GEMM_AT v, 384 + 16 * %1, 16
      %assign i GEMM_W + v
      vpmovsxbd m%[i], [gemm_w]
      vcvtdq2ps m%[i], m%[i]
      %assign v v + 1
    %endrep
  %endif
%endmacro

; SUM = float(SUM) * the rows' int8 of the first half, then SUM += float(SUM2) * those of the second; avx2 takes the offset off first.
; %1 n, %2 the half
%macro add_half 2
  half_scales %2
  %assign t 0
  %rep %1
    %if !ISA_VNNI
      half_offset t, %2
    %endif
    %assign v 0
    %rep 2
      %assign i SUM(%1, t, v)
      %assign j SUM2(%1, t, v)
      %assign k GEMM_W + v
      %if %2 == 0
        half_float i
        vmulps m%[i], m%[i], m%[k]
      %else
        half_float j
        vfmadd231ps m%[i], m%[j], m%[k]
      %endif
      %assign v v + 1
    %endrep
    %assign t t + 1
  %endrep
%endmacro

%macro half_float 1
  %if !ISA_VNNI
    vpsubd m%[%1], m%[%1], m%[GEMM_X]
  %endif
  vcvtdq2ps m%[%1], m%[%1]
%endmacro

; GEMM_X = 32 times the sum of token %1's activations, of half %2. [clobbered] GEMM_T
%macro half_offset 2
  GEMM_TOKEN %1
  vpbroadcastd m%[GEMM_X], [gemm_x + 40 + 4 * %2]
  %if %2 == 0
    vpbroadcastd m%[GEMM_T], [gemm_x + 44]
    vpsubd m%[GEMM_X], m%[GEMM_X], m%[GEMM_T]
  %endif
  vpslld m%[GEMM_X], m%[GEMM_X], 5
%endmacro

; The sum %4 of all tokens, int32, of pieces %3 and %3 + 1 of half %2. %1 n
%macro two_pieces 4
  words %1, %2, %3, %4, 0
  words %1, %2, %3 + 1, %4, 1
  %assign t 0
  %rep %1
    %assign i %4(%1, t, 0)
    %assign j %4(%1, t, 1)
    vpmaddwd m%[i], m%[i], DOT_C
    vpmaddwd m%[j], m%[j], DOT_C
    %assign t t + 1
  %endrep
%endmacro

; piece %3 of half %2 added to int16 pairs (%5), or in their place
%macro words 5
  six_bits %2, %3
  %assign t 0
  %rep %1
    GEMM_TOKEN t
    vpbroadcastd m%[GEMM_X], [gemm_x + 16 * %2 + 4 * (%3)]
    %assign i %4(%1, t, 0)
    %assign j %4(%1, t, 1)
    %if %5
      vpmaddubsw m%[GEMM_T], m%[GEMM_W], m%[GEMM_X]
      vpaddw m%[i], m%[i], m%[GEMM_T]
      vpmaddubsw m%[GEMM_T], m%[GEMM_W1], m%[GEMM_X]
      vpaddw m%[j], m%[j], m%[GEMM_T]
    %else
      vpmaddubsw m%[i], m%[GEMM_W], m%[GEMM_X]
      vpmaddubsw m%[j], m%[GEMM_W1], m%[GEMM_X]
    %endif
    %assign t t + 1
  %endrep
%endmacro

; pieces %3 and %3 + 1 of half %2 added one by one to sum %4, int32. %1 n
%macro each_piece 4
  six_bits %2, %3
  GEMM_DOT u6, %1, 16 * %2 + 4 * (%3), %4
  six_bits %2, %3 + 1
  GEMM_DOT u6, %1, 16 * %2 + 4 * (%3 + 1), %4
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

%macro sums 1
  %if ISA_VNNI
    start_halves %1
    each_piece %1, 0, 0, SUM
    each_piece %1, 0, 2, SUM
    each_piece %1, 1, 0, SUM2
    each_piece %1, 1, 2, SUM2
  %else
    two_pieces %1, 0, 0, SUM
    two_pieces %1, 0, 2, SUM2
    %assign i SUM(%1, 0, 0)
    %rep 2 * %1
      %assign j i + 2 * %1
      vpaddd m%[i], m%[i], m%[j]
      %assign i i + 1
    %endrep
  %endif
  add_half %1, 0
  %if !ISA_VNNI
    two_pieces %1, 1, 0, SUM2
    each_piece %1, 1, 2, SUM2
  %endif
  add_half %1, 1
%endmacro

; GEMM_W, GEMM_W1 = d
%macro block_scales 0
  %if ISA_512
    vmovaps m%[GEMM_W], m30
    vmovaps m%[GEMM_W1], m31
  %elif gemm_in_room
    GEMM_FROM_ROOM GR.factors + 128
  %else
    GEMM_FIND_FRONT
    vcvtph2ps m%[GEMM_W], [gf]
    vcvtph2ps m%[GEMM_W1], [gf + 16]
  %endif
%endmacro

%macro GEMM_UNPACK 0
  GEMM_UNPACK_PIECES six_bits
  half_scales 0
  GEMM_TO_ROOM GR.factors
  half_scales 1
  GEMM_TO_ROOM GR.factors + 64
  block_scales
  GEMM_TO_ROOM GR.factors + 128
%endmacro

%macro GEMM_GROUP 1
  sums %1
  block_scales
  GEMM_ADD_SCALED %1
%endmacro

%macro GEMM_Q6K 1
GEMM_BEGIN %1, gemm_q6k, u6
  GEMM_CONST low, 28
  GEMM_CONST high, 29
GEMM_TILES 416, 32, 48, 2 + !ISA_VNNI + 2 * ISA_512, 3 * !ISA_VNNI, 9 * !ISA_VNNI
%endmacro

GEMM_Q6K avx2
GEMM_Q6K vnni
GEMM_Q6K avx512
