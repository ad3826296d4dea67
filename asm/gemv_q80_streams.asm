; gemv_q80_streams: gemv_q80 with memory read in six places at once (six_streams.inc). Arguments, bytes and the order of operations are
; those of asm/gemv_q80.asm.
;
; registers, beside those of six_streams.inc: m12 x's four bytes, then x's scale     m13 m14 scratch of DOT, then m13 the rows' scales
;   m15  DOT's constant
%include "six_streams.inc"
%define DOT_C m15

; k %1, v %2
%macro add_scaled 2
  vcvtph2ps m13, [sw + 512 + VBYTES / 2 * %2]
  vmulps m13, m13, m12
  STREAMS_FMA %1, %2
%endmacro

%macro STREAMS_GROUP 1
  STREAMS_INT8 %1
  vbroadcastss m12, [t0 + 32]
  STREAMS_EACH %1, add_scaled
%endmacro

path_begin avx2
kern gemv_q80_streams, 5, 0, 16, w, x, y, groups, panels
  vmovdqa m15, [streams_c_ones]
  STREAMS_PANELS 544, 0
kern_end
