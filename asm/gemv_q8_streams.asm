; gemv_q8_streams: gemv_q8 with memory read in six places at once (six_streams.inc). Arguments, bytes and the order of operations are those
; of asm/gemv_q8.asm.
;
; registers, beside those of six_streams.inc: m12 x's four bytes     m13 m14 scratch of DOT, then m13 x's scale     m15 DOT's constant
%include "six_streams.inc"
%define DOT_C m15

%macro STREAMS_GROUP 1
  STREAMS_INT8 %1
  vbroadcastss m13, [t0 + 32]
  STREAMS_EACH %1, STREAMS_FMA
%endmacro

%macro STREAMS_END 1
  %assign k 0
  %rep %1
    STREAMS_ON k, y, t2
    STREAMS_ON k, row_scale, t2
    STREAMS_AT k
    %assign v 0
    %rep 2
      vmovups m0, [sy + VBYTES * v]
      vmulps m0, m0, [sr + VBYTES * v]
      vmovups [sy + VBYTES * v], m0
      %assign v v + 1
    %endrep
    %assign k k + 1
  %endrep
  STREAMS_BACK %1, y, t2
  STREAMS_BACK %1, row_scale, t2
  %if %1 == 3
    add row_scale, 3 * 64                   ; a panel of each, and no more
  %else
    add row_scale, 64
  %endif
%endmacro

path_begin avx2
kern gemv_q8_streams, 6, 0, 16, w, row_scale, x, y, groups, panels
  vmovdqa m15, [streams_c_ones]
  STREAMS_PANELS 512, 0
kern_end
