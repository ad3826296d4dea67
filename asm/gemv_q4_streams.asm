; gemv_q4_streams: gemv_q4 with memory read in six places at once (six_streams.inc). Arguments, bytes and the order of operations are those
; of asm/gemv_q4.asm.
;
; registers, beside those of six_streams.inc: m12 m13  x's four bytes, low and high; then m12 x's scale, m13 the rows' scales
;   m14    a piece                          m15      low nibbles
%include "six_streams.inc"

; k %1, v %2
%macro add_scaled 2
  %assign j SUM(%1, %2)
  vpmaddwd m%[j], m%[j], DOT_C
  vcvtph2ps m13, [sw + 256 + VBYTES / 2 * %2]
  vmulps m13, m13, m12
  STREAMS_FMA %1, %2
%endmacro

%macro STREAMS_GROUP 1
  vpbroadcastd m0, [t0 + 40]
  vpmullw m0, m0, [streams_c_off8]          ; see dot.inc, DOT_START
  %assign i 1
  %rep 2 * %1 - 1
    vmovdqa m%[i], m0
    %assign i i + 1
  %endrep
  STREAMS_INT4 %1, u4
  vbroadcastss m12, [t0 + 32]
  STREAMS_EACH %1, add_scaled
%endmacro

path_begin avx2
kern gemv_q4_streams, 5, 0, 16, w, x, y, groups, panels
  STREAMS_PANELS 288, 0
kern_end
