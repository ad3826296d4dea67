; gemv_q8: y = W x for int8 panels with one f32 scale a row (docs/numerics.md, "Matrix-vector products").
;   w: panels of sixteen rows, 512 bytes a group of 32 columns: byte [piece c of 8][row of 16][b of 4] = q[row][4c + b], -128..127
;   row_scale[16 * panels], x[groups], y[16 * panels]; groups and panels may be 0 (no group: y = +0 * row_scale)
;   Per row, g ascending: I = sum of w * q, exact; acc = fma(float(I), x[g].scale, acc); y = acc * row_scale.
;   Any alignment; nothing outside these arrays is touched; y overlaps none of them.
;
; One panel is in flight, and the chain of one fma for each 512 bytes is no limit. gemv_q8_pages is the same with memory read by
; pages (stream.inc).
;
; registers, v < PANEL_VECS the vector of a panel's rows (8 or 16 of them):
;   m0 m1  acc[v], f32       m2-m5  I[v], in one chain or two: even and odd pieces     m6  x's four bytes, then x's scale
;   m7 m8  scratch of DOT    m14 m15  DOT's constants
;   t0     the group of x    t1     stream.inc's, t2 at a panel's beginning    groups  the end of x (after its first use)
%include "abi.inc"
%include "isa.inc"
%include "dot.inc"
%include "panel.inc"
%include "stream.inc"

; %1 the path, %2 how memory is read (stream.inc)
%macro GEMV_Q8 1-2
path_begin %1
STREAM_ORDER %2, 8
kern gemv_q8%2, 6, 0, 16, w, row_scale, x, y, groups, panels
  DOT_INIT i8
  PANEL_BEGIN
.group:
  DOT_START i8, 2, [t0 + 40]
  %assign c 0
  %rep 8
    DOT_X 0, m6, [t0 + 4 * c]
    %assign v 0
    %rep PANEL_VECS
      %assign i 2 + v + 2 * (c % dot_chains)
      DOT i8, m%[i], [w + 64 * c + VBYTES * v], dot_x0, m7, m8
      %assign v v + 1
    %endrep
    STREAM_LINE w + 64 * c, c
    %assign c c + 1
  %endrep
  DOT_END i8, 2
  vbroadcastss m6, [t0 + 32]
  %assign v 0
  %rep PANEL_VECS
    %assign i 2 + v
    vcvtdq2ps m%[i], m%[i]
    vfmadd231ps m%[v], m%[i], m6
    %assign v v + 1
  %endrep
  STREAM_TURN w
  add w, 512
  add t0, 48
  cmp t0, groups
  jne .group
.store:
  %assign v 0
  %rep PANEL_VECS
    vmulps m%[v], m%[v], [row_scale + VBYTES * v]
    vmovups [y + VBYTES * v], m%[v]
    %assign v v + 1
  %endrep
  add row_scale, 64
  PANEL_NEXT
kern_end
%endmacro

GEMV_Q8 avx2
GEMV_Q8 avx2, _pages
GEMV_Q8 vnni
GEMV_Q8 vnni, _pages
GEMV_Q8 vnni8
GEMV_Q8 vnni8, _pages
GEMV_Q8 avx512
GEMV_Q8 avx512, _pages
