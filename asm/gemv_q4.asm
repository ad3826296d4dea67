; gemv_q4: y = W x for int4 panels with an f16 scale a row and group (docs/numerics.md, "Matrix-vector products").
;   w: panels of sixteen rows, 288 bytes a group of 32 columns: byte [piece c of 4][row of 16][b of 4] =
;      n[row][4c + b] | n[row][16 + 4c + b] << 4, n the weight plus 8; then the rows' sixteen f16 scales (finite)
;   x[groups], y[16 * panels]; groups and panels may be 0 (no group: y = +0)
;   Per row, g ascending: I = sum of (n - 8) * q, exact; acc = fma(float(I), wscale * x[g].scale, acc); y = acc.
;   Any alignment; nothing outside these arrays is touched; y overlaps none of them.
;
; A piece is two: the low nibbles meet q[4c ..], the high ones q[16 + 4c ..].
;
;     bits of a 32-bit lane, its row's:    31..28  27..24  23..20  19..16  15..12  11..8   7..4    3..0
;     column 4c +                          16+3    3       16+2    2       16+1    1       16      0
;
; Two groups a turn: they are nine lines of memory, each asked for once (stream.inc; gemv_q4_pages by pages).
;
; registers, v < PANEL_VECS the vector of a panel's rows (8 or 16 of them):
;   m0 m1  acc[v], f32       m2-m5  I[v], in one chain or two: low and high nibbles
;   m6 m7  x's four bytes, low and high; then m6 x's scale, m7 the weights'
;   m8     a piece           m9 m10  scratch        m13  0x0f bytes        m14 m15  DOT's constants
;   t0     the pair of groups of x     t1  stream.inc's     t2  scratch     groups  the end of x (after its first use)
%include "abi.inc"
%include "isa.inc"
%include "dot.inc"
%include "panel.inc"
%include "stream.inc"

; %1 the path, %2 how memory is read (stream.inc)
%macro GEMV_Q4 1-2
path_begin %1
STREAM_ORDER %2, 9
kern gemv_q4%2, 5, 0, 16, w, x, y, groups, panels
  DOT_INIT u4
  splat 13, 0x0f0f0f0f
  PANEL_BEGIN
  mov t2, groups
  sub t2, x
  test t2b, 16                              ; of 48 * groups: whether groups is odd
  jz .pair                                  ; an odd number of groups: the first goes alone, as the second of a pair
  sub t0, 48
  sub w, 288
  jmp .second
.pair:
  %assign g 0
  %rep 2
    %if g
.second:
    %endif
    DOT_START u4, 2, [t0 + 48 * g + 40]
    %assign c 0
    %rep 4
      DOT_X 0, m6, [t0 + 48 * g + 4 * c]
      DOT_X 1, m7, [t0 + 48 * g + 16 + 4 * c]
      %assign v 0
      %rep PANEL_VECS
        %assign lo 2 + v
        %assign hi 2 + v + 2 * (dot_chains - 1)
        vmovups m8, [w + 288 * g + 64 * c + VBYTES * v]
        NIBBLES m8, m9, m13
        DOT u4, m%[lo], m9, dot_x0, m9, m10
        DOT u4, m%[hi], m8, dot_x1, m8, m10
        %assign v v + 1
      %endrep
      STREAM_LINE w + 256 * g + 64 * c, 4 * g + c
      %assign c c + 1
    %endrep
    DOT_END u4, 2
    vbroadcastss m6, [t0 + 48 * g + 32]
    %assign v 0
    %rep PANEL_VECS
      %assign i 2 + v
      vcvtdq2ps m%[i], m%[i]
      vcvtph2ps m7, [w + 288 * g + 256 + VBYTES / 2 * v]
      vmulps m7, m7, m6
      vfmadd231ps m%[v], m%[i], m7
      %assign v v + 1
    %endrep
    %assign g g + 1
  %endrep
  STREAM_LINE w + 512, 8
  STREAM_TURN w
  add w, 576
  add t0, 96
  cmp t0, groups
  jne .pair
  PANEL_STORE
kern_end
%endmacro

GEMV_Q4 avx2
GEMV_Q4 avx2, _pages
GEMV_Q4 vnni
GEMV_Q4 vnni, _pages
GEMV_Q4 avx512
GEMV_Q4 avx512, _pages
