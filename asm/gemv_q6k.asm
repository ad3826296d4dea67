; gemv_q6k: y = W x for panels of Q6_K: six bits a weight, an int8 scale a row and 16 columns, a factor of it a row and block of
; eight groups (docs/numerics.md, "Matrix-vector products").
;   w: panels of sixteen rows, 3,360 bytes a block: f16 d[16] (finite), then eight groups of 416 bytes; n is the weight plus 32:
;      byte [piece c of 4][row of 16][b of 4] = n[row][4c + b] & 15 | (n[row][16 + 4c + b] & 15) << 4; high bits, byte [high piece
;      h of 2][row][b]: see below; int8 scale[16] of columns 0..15, int8 scale[16] of 16..31
;   x[groups], y[16 * panels]; groups is a multiple of 8; groups and panels may be 0 (no group: y = +0)
;   Per row, g ascending: I = scale * I of the first 16 columns + scale * I of the others, exact, I = sum of (n - 32) * q;
;   acc = fma(float(I), d * x[g].scale, acc); y = acc.
;   Any alignment; nothing outside these arrays is touched; y overlaps none of them.
;
; A piece is two: the low nibbles meet q[4c ..], the high ones q[16 + 4c ..]. A high piece has the upper two bits of pieces 2h and
; 2h + 1. They are brought to bits 4 and 5 of a byte, above its nibble:
;
;     bits of a byte b of a row:   7 6            5 4            3 2            1 0
;     of n of column 8h +          16 + b         b              4 + b          20 + b
;     with piece, nibbles          2h, high       2h, low        2h+1, low      2h+1, high
;     shifted                      right by 2     not            left by 2      left by 4
;
; The 16-bit shifts move bits between bytes, but none of those that the mask lets through.
;
; Two groups a turn are 13 lines of memory and a block's front half of one, each asked for once (stream.inc; gemv_q6k_pages by pages).
;
; registers, v < PANEL_VECS the vector of a panel's rows (8 or 16 of them):
;   m0 m1  acc[v], f32       m2 m3  I[v] of the first 16 columns      m4 m5  of the others       m6 m7  d[v], f32
;   m8     x's four bytes; then x's scale                 m9  a piece; then scales     m10  low nibbles
;   m11    a high piece      m12  shifted                 m13  0x0f bytes              m14  0x30 bytes     m15  DOT's constant
;   t0     the pair of groups of x     t1  stream.inc's     t2  the end of the block in x     groups  the end of x (after its first use)
%include "abi.inc"
%include "isa.inc"
%include "dot.inc"
%include "panel.inc"
%include "stream.inc"

; %1 the path, %2 how memory is read (stream.inc)
%macro GEMV_Q6K 1-2
path_begin %1
STREAM_ORDER %2, 13
kern gemv_q6k%2, 5, 0, 16, w, x, y, groups, panels
  DOT_INIT u6
  splat 13, 0x0f0f0f0f
  splat 14, 0x30303030
  PANEL_BEGIN
.block:
  %assign v 0
  %rep PANEL_VECS
    %assign d 6 + v
    vcvtph2ps m%[d], [w + VBYTES / 2 * v]
    %assign v v + 1
  %endrep
  STREAM_FRONT w
  add w, 32
  lea t2, [t0 + 8 * 48]
.pair:
  %assign g 0
  %rep 2
    DOT_START u6, 2, [t0 + 48 * g + 40], [t0 + 48 * g + 44]
    %assign h 0
    %rep 2
      %assign v 0
      %rep PANEL_VECS
        %assign lo 2 + v
        %assign hi 4 + v
        vmovups m11, [w + 416 * g + 256 + 64 * h + VBYTES * v]
        %assign c 2 * h
        %rep 2
          vmovups m9, [w + 416 * g + 64 * c + VBYTES * v]
          NIBBLES m9, m10, m13
          %if c % 2 == 0
            WITH_HIGH m10, m11
            vpsrlw m12, m11, 2
            WITH_HIGH m9, m12
          %else
            vpsllw m12, m11, 2
            WITH_HIGH m10, m12
            vpsllw m12, m11, 4
            WITH_HIGH m9, m12
          %endif
          DOT_X 0, m8, [t0 + 48 * g + 4 * c]
          DOT u6, m%[lo], m10, dot_x0, m10, m10
          DOT_X 1, m8, [t0 + 48 * g + 16 + 4 * c]
          DOT u6, m%[hi], m9, dot_x1, m9, m9
          %assign c c + 1
        %endrep
        %assign v v + 1
      %endrep
      %assign line 6 * g + 3 * h
      STREAM_LINE w + 64 * line, line
      STREAM_LINE w + 64 * line + 64, line + 1
      STREAM_LINE w + 64 * line + 128, line + 2
      %assign h h + 1
    %endrep
    vbroadcastss m8, [t0 + 48 * g + 32]
    %assign v 0
    %rep PANEL_VECS
      %assign lo 2 + v
      %assign hi 4 + v
      %assign d 6 + v
      vpmovsxbd m9, [w + 416 * g + 384 + LANES * v]
      vpmulld m%[lo], m%[lo], m9
      vpmovsxbd m9, [w + 416 * g + 400 + LANES * v]
      vpmulld m%[hi], m%[hi], m9
      vpaddd m%[lo], m%[lo], m%[hi]
      vcvtdq2ps m%[lo], m%[lo]
      vmulps m9, m8, m%[d]
      vfmadd231ps m%[v], m%[lo], m9
      %assign v v + 1
    %endrep
    %assign g g + 1
  %endrep
  STREAM_LINE w + 768, 12
  STREAM_TURN w
  add w, 832
  add t0, 96
  cmp t0, t2
  jne .pair
  cmp t0, groups
  jne .block
  PANEL_STORE
kern_end
%endmacro

; %1 |= bits 4 and 5 of %2's bytes. m14 is 0x30 bytes; [clobbered] %2 if it is m12, else m12
%macro WITH_HIGH 2
  %if ISA_512
    vpternlogd %1, %2, m14, 0xf8            ; %1 | (%2 & m14)
  %else
    vpand m12, %2, m14
    vpor %1, %1, m12
  %endif
%endmacro

GEMV_Q6K avx2
GEMV_Q6K avx2, _pages
GEMV_Q6K vnni
GEMV_Q6K vnni, _pages
GEMV_Q6K avx512
GEMV_Q6K avx512, _pages
