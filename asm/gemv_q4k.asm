; gemv_q4k: y = W x for panels of Q4_K: four bits a weight, a scale and a minimum a row and group, factors of both a row and block
; of eight groups (docs/numerics.md, "Matrix-vector products").
;   w: panels of sixteen rows, 2,368 bytes a block: f16 d[16], f16 dmin[16] (finite), then eight groups of 288 bytes: byte
;      [piece c of 4][row of 16][b of 4] = n[row][4c + b] | n[row][16 + 4c + b] << 4, n 0..15; u8 sc[16], u8 m[16]
;   x[groups], y[16 * panels]; groups is a multiple of 8; groups and panels may be 0 (no group: y = +0)
;   Per row, g ascending: I = sum of n * q, exact; acc = fma(float(I), (d * sc) * x[g].scale, acc);
;   acc = fma(-(dmin * m), x[g].xsum, acc); y = acc.
;   Any alignment; nothing outside these arrays is touched; y overlaps none of them.
;
; A piece is two: the low nibbles meet q[4c ..], the high ones q[16 + 4c ..].
;
;     bits of a 32-bit lane, its row's:    31..28  27..24  23..20  19..16  15..12  11..8   7..4    3..0
;     column 4c +                          16+3    3       16+2    2       16+1    1       16      0
;
; sc and m are sixteen bytes each, which widen to the lanes of the rows. Two groups a turn are nine lines of memory and a block's
; front is one, each asked for once (stream.inc; gemv_q4k_pages by pages).
;
; registers, v < PANEL_VECS the vector of a panel's rows (8 or 16 of them):
;   m0 m1  acc[v], f32       m2-m5  I[v], in one chain or two: low and high nibbles
;   m6 m7  d[v], f32         m8 m9  dmin[v], f32
;   m10 m11  x's four bytes, low and high; then x's scale and xsum
;   m12    a piece; then sc or m, and what it makes       m13  low nibbles      m14  0x0f bytes       m15  DOT's constant
;   t0     the pair of groups of x     t1  stream.inc's     t2  the end of the block in x     groups  the end of x (after its first use)
%include "abi.inc"
%include "isa.inc"
%include "dot.inc"
%include "panel.inc"
%include "stream.inc"

; %1 the path, %2 how memory is read (stream.inc)
%macro GEMV_Q4K 1-2
path_begin %1
STREAM_ORDER %2, 9
kern gemv_q4k%2, 5, 0, 16, w, x, y, groups, panels
  DOT_INIT n4
  splat 14, 0x0f0f0f0f
  PANEL_BEGIN
.block:
  %assign v 0
  %rep PANEL_VECS
    %assign d 6 + v
    %assign dmin 8 + v
    vcvtph2ps m%[d], [w + VBYTES / 2 * v]
    vcvtph2ps m%[dmin], [w + 32 + VBYTES / 2 * v]
    %assign v v + 1
  %endrep
  STREAM_FRONT w
  add w, 64
  lea t2, [t0 + 8 * 48]
.pair:
  %assign g 0
  %rep 2
    DOT_START n4, 2, [t0 + 48 * g + 40]
    %assign c 0
    %rep 4
      DOT_X 0, m10, [t0 + 48 * g + 4 * c]
      DOT_X 1, m11, [t0 + 48 * g + 16 + 4 * c]
      %assign v 0
      %rep PANEL_VECS
        %assign lo 2 + v
        %assign hi 2 + v + 2 * (dot_chains - 1)
        vmovups m12, [w + 288 * g + 64 * c + VBYTES * v]
        NIBBLES m12, m13, m14
        DOT n4, m%[lo], m13, dot_x0, m13, m13
        DOT n4, m%[hi], m12, dot_x1, m12, m12
        %assign v v + 1
      %endrep
      STREAM_LINE w + 256 * g + 64 * c, 4 * g + c
      %assign c c + 1
    %endrep
    DOT_END n4, 2
    vbroadcastss m10, [t0 + 48 * g + 32]
    vbroadcastss m11, [t0 + 48 * g + 36]
    %assign v 0
    %rep PANEL_VECS
      %assign i 2 + v
      %assign d 6 + v
      %assign dmin 8 + v
      vcvtdq2ps m%[i], m%[i]
      vpmovzxbd m12, [w + 288 * g + 256 + LANES * v]
      vcvtdq2ps m12, m12
      vmulps m12, m12, m%[d]
      vmulps m12, m12, m10
      vfmadd231ps m%[v], m%[i], m12
      vpmovzxbd m12, [w + 288 * g + 272 + LANES * v]
      vcvtdq2ps m12, m12
      vmulps m12, m12, m%[dmin]
      vfnmadd231ps m%[v], m12, m11
      %assign v v + 1
    %endrep
    %assign g g + 1
  %endrep
  STREAM_LINE w + 512, 8
  STREAM_TURN w
  add w, 576
  add t0, 96
  cmp t0, t2
  jne .pair
  cmp t0, groups
  jne .block
  PANEL_STORE
kern_end
%endmacro

GEMV_Q4K avx2
GEMV_Q4K avx2, _pages
GEMV_Q4K vnni
GEMV_Q4K vnni, _pages
GEMV_Q4K avx512
GEMV_Q4K avx512, _pages
