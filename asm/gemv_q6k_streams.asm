; gemv_q6k_streams: gemv_q6k with memory read in six places at once (six_streams.inc). Arguments, bytes, the order of operations and how
; the upper two bits meet the nibbles are those of asm/gemv_q6k.asm.
;
; Two sums a row leave registers for three panels, so six are two times three; they are read side by side group by group.
;
; registers: m0-m5 LO(k, v)  I of the first 16 columns      m6-m11 HI(k, v)  of the others      m12  a piece; then scales
;   m13    a high piece; then d      m14  low nibbles; then high bits      m15  high bits, then x's four bytes; then x's scale
%include "six_streams.inc"
%define sf abi_r5
%define LO(k, v) SUM(k, v)
%define HI(k, v) (6 + SUM(k, v))

; LO and HI of n panels = -32 times the sums of the halves
%macro start_halves 1
  vpbroadcastd m6, [t0 + 44]
  vpbroadcastd m0, [t0 + 40]
  vpxor x1, x1, x1
  vpsubd m0, m6, m0
  vpsubd m6, m1, m6
  vpslld m0, m0, 5
  vpslld m6, m6, 5
  %assign i 1
  %rep 2 * %1 - 1
    %assign j i + 6
    vmovdqa m%[i], m0
    vmovdqa m%[j], m6
    %assign i i + 1
  %endrep
%endmacro

; Piece %1 of vector %2 of stream sw's rows, low nibbles to m%3 and high ones to m%4; m13 its high piece
%macro both_halves 4
  vmovdqu m12, [sw + 64 * (%1) + VBYTES * %2]
  NIBBLES m12, m14, [streams_c_low]
  %if (%1) % 2 == 0
    vpand m15, m13, [streams_c_high]
  %else
    vpsllw m15, m13, 2
    vpand m15, m15, [streams_c_high]
  %endif
  vpor m14, m14, m15
  vpbroadcastd m15, [t0 + 4 * (%1)]
  DOT u6, m%3, m14, m15, m14, m14
  %if (%1) % 2 == 0
    vpsrlw m14, m13, 2
  %else
    vpsllw m14, m13, 4
  %endif
  vpand m14, m14, [streams_c_high]
  vpor m12, m12, m14
  vpbroadcastd m15, [t0 + 16 + 4 * (%1)]
  DOT u6, m%4, m12, m15, m12, m12
%endmacro

%macro STREAMS_GROUP 1
  %if %1 < 6
    group %1
  %else
    group 3
    STREAMS_ON 3, w, t1
    STREAMS_ON 3, sf, t1
    STREAMS_ON 3, y, t2
    group 3
    STREAMS_BACK 6, w, t1
    STREAMS_BACK 6, sf, t1
    STREAMS_BACK 6, y, t2
  %endif
%endmacro

; the group of n panels, 1 or 3
%macro group 1
  start_halves %1
  %assign h 0
  %rep 2
    %assign k 0
    %rep %1
      STREAMS_AT k
      STREAMS_LINE sw + 128 * h
      STREAMS_LINE sw + 128 * h + 64
      STREAMS_LINE sw + 64 * h + 256
      %assign v 0
      %rep 2
        %assign i LO(k, v)
        %assign j HI(k, v)
        vmovdqu m13, [sw + 256 + 64 * h + VBYTES * v]
        both_halves 2 * h, v, %[i], %[j]
        both_halves 2 * h + 1, v, %[i], %[j]
        %assign v v + 1
      %endrep
      %assign k k + 1
    %endrep
    %assign h h + 1
  %endrep
  vbroadcastss m15, [t0 + 32]
  STREAMS_EACH %1, add_scaled
%endmacro

; y = fma(float(LO * scale + HI * scale), d * x's scale, y), k %1, v %2
%macro add_scaled 2
  %assign i LO(%1, %2)
  %assign j HI(%1, %2)
  vpmovsxbd m12, [sw + 384 + LANES * %2]
  vpmulld m%[i], m%[i], m12
  vpmovsxbd m12, [sw + 400 + LANES * %2]
  vpmulld m%[j], m%[j], m12
  vpaddd m%[i], m%[i], m%[j]
  vcvtdq2ps m%[i], m%[i]
  vcvtph2ps m13, [sd + VBYTES / 2 * %2]
  vmulps m13, m15, m13
  vfmadd213ps m%[i], m13, [sy + VBYTES * %2]
  vmovups [sy + VBYTES * %2], m%[i]
%endmacro

path_begin avx2
kern gemv_q6k_streams, 5, 0, 16, w, x, y, groups, panels
  STREAMS_PANELS 416, 32
kern_end
