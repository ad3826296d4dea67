; gemv_q80: y = W x for int8 panels with an f16 scale a row and group, Q8_0 (docs/numerics.md, "Matrix-vector products").
;   w: panels of sixteen rows, 544 bytes a group of 32 columns: byte [piece c of 8][row of 16][b of 4] = q[row][4c + b], -128..127;
;      then the rows' sixteen f16 scales (finite)
;   x[groups], y[16 * panels]; groups and panels may be 0 (no group: y = +0)
;   Per row, g ascending: I = sum of w * q, exact; acc = fma(float(I), wscale * x[g].scale, acc); y = acc.
;   Any alignment; nothing outside these arrays is touched; y overlaps none of them.
;
; Two groups a turn: they are 17 lines of memory, each asked for once (stream.inc; gemv_q80_pages by pages).
;
; registers, v < PANEL_VECS the vector of a panel's rows (8 or 16 of them):
;   m0 m1  acc[v], f32       m2-m5  I[v], in one chain or two: even and odd pieces     m6  x's four bytes, then x's scale
;   m7 m8  scratch of DOT; then m7 the weights' scales                                 m14 m15  DOT's constants
;   t0     the pair of groups of x     t1  stream.inc's     t2  scratch     groups  the end of x (after its first use)
%include "abi.inc"
%include "isa.inc"
%include "dot.inc"
%include "panel.inc"
%include "stream.inc"

; %1 the path, %2 how memory is read (stream.inc)
%macro GEMV_Q80 1-2
path_begin %1
STREAM_ORDER %2, 17
kern gemv_q80%2, 5, 0, 16, w, x, y, groups, panels
  DOT_INIT i8
  PANEL_BEGIN
  mov t2, groups
  sub t2, x
  test t2b, 16                              ; of 48 * groups: whether groups is odd
  jz .pair                                  ; an odd number of groups: the first goes alone, as the second of a pair
  sub t0, 48
  sub w, 544
  jmp .second
.pair:
  %assign g 0
  %rep 2
    %if g
.second:
    %endif
    DOT_START i8, 2, [t0 + 48 * g + 40]
    %assign c 0
    %rep 8
      DOT_X 0, m6, [t0 + 48 * g + 4 * c]
      %assign v 0
      %rep PANEL_VECS
        %assign i 2 + v + 2 * (c % dot_chains)
        DOT i8, m%[i], [w + 544 * g + 64 * c + VBYTES * v], dot_x0, m7, m8
        %assign v v + 1
      %endrep
      STREAM_LINE w + 512 * g + 64 * c, 8 * g + c
      %assign c c + 1
    %endrep
    DOT_END i8, 2
    vbroadcastss m6, [t0 + 48 * g + 32]
    %assign v 0
    %rep PANEL_VECS
      %assign i 2 + v
      vcvtdq2ps m%[i], m%[i]
      vcvtph2ps m7, [w + 544 * g + 512 + VBYTES / 2 * v]
      vmulps m7, m7, m6
      vfmadd231ps m%[v], m%[i], m7
      %assign v v + 1
    %endrep
    %assign g g + 1
  %endrep
  STREAM_LINE w + 1024, 16
  STREAM_TURN w
  add w, 1088
  add t0, 96
  cmp t0, groups
  jne .pair
  PANEL_STORE
kern_end
%endmacro

GEMV_Q80 avx2
GEMV_Q80 avx2, _pages
GEMV_Q80 vnni
GEMV_Q80 vnni, _pages
GEMV_Q80 vnni8
GEMV_Q80 vnni8, _pages
GEMV_Q80 avx512
GEMV_Q80 avx512, _pages
