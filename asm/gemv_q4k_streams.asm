; gemv_q4k_streams: gemv_q4k with memory read in six places at once (six_streams.inc). Arguments, bytes and the order of operations are
; those of asm/gemv_q4k.asm.
;
; registers, beside those of six_streams.inc: m12 m13  x's four bytes, low and high; then m12 x's scale, m13 sc or m and what it makes
;   m14    a piece; then d or dmin      m15  low nibbles; then x's xsum
%include "six_streams.inc"
%define sf abi_r5

%macro STREAMS_GROUP 1
  STREAMS_ZERO %1
  STREAMS_INT4 %1, n4
  vbroadcastss m12, [t0 + 32]
  vbroadcastss m15, [t0 + 36]
  STREAMS_EACH %1, add_scaled
%endmacro

; y = fma(-(dmin * m), xsum, fma(float(SUM), (d * sc) * scale, y)), k %1, v %2
%macro add_scaled 2
  %assign j SUM(%1, %2)
  vpmaddwd m%[j], m%[j], DOT_C
  vcvtdq2ps m%[j], m%[j]
  vpmovzxbd m13, [sw + 256 + LANES * %2]
  vcvtdq2ps m13, m13
  vcvtph2ps m14, [sd + VBYTES / 2 * %2]
  vmulps m13, m13, m14
  vmulps m13, m13, m12
  vfmadd213ps m%[j], m13, [sy + VBYTES * %2]
  vpmovzxbd m13, [sw + 272 + LANES * %2]
  vcvtdq2ps m13, m13
  vcvtph2ps m14, [sd + 32 + VBYTES / 2 * %2]
  vmulps m13, m13, m14
  vfnmadd231ps m%[j], m13, m15
  vmovups [sy + VBYTES * %2], m%[j]
%endmacro

path_begin avx2
kern gemv_q4k_streams, 5, 0, 16, w, x, y, groups, panels
  STREAMS_PANELS 288, 64
kern_end
