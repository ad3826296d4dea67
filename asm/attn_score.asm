; attn_score_f32, attn_score_f16: scores of one query head against blocks of sixteen positions.
;   s[16 * b + t] = (chain over d of fma(q[d], k[b][d][t], acc) from +0) * scale
;   k is [blocks][head_dim][16], f32 or f16; q[head_dim]; s[16 * blocks]. head_dim and blocks may be 0 (head_dim 0: the score
;   is +0 * scale). s overlaps neither. Any alignment; nothing outside these arrays is touched.
;
; Lanes are positions, so a chain is one position's and as long as head_dim. Eight vectors of chains hide fma's 4 cycles on
; two ports: four blocks at once on paths of 8 lanes (two vectors a block), eight on avx512. What is left over goes in
; groups of 4, 2 and 1.
;
;   group of blocks:   k          k + B      k + 2B     k + 3B     then the same from k4 = k + 4B;  B = bytes of a block
;   step d reads         row d      row d      row d      row d    (64 bytes of f32 or 32 of f16), k and k4 move on by one
;
; registers: m4-m11 chains, block by block; m0 scale; m1 q[d]; m2 keys as f32
;            t0 d; t1 B; t2 3B; k4 (r9, which is no argument) the group's fifth block
%include "abi.inc"
%include "isa.inc"

; %1 blocks, %2 f32 or f16
%macro SCORE_GROUP 2
  %assign i 4
  %rep %1 * PANEL_VECS
    vxorps x%[i], x%[i], x%[i]
    %assign i i + 1
  %endrep
  %if %1 > 4
    lea k4, [k + 4 * t1]
  %endif
  xor t0d, t0d
  jmp %%test
%%dim:
  vbroadcastss m1, [q + 4 * t0]             ; one load of q[d] serves every block of the group
  %assign i 0
  %rep %1 * PANEL_VECS
    %assign chain 4 + i
    %assign block i / PANEL_VECS
    ; where row d of the block is
    %if block >= 4
      %define base k4
    %else
      %define base k
    %endif
    %if block % 4 == 3
      %define base_of_row base + t2
    %elif block % 4
      %define base_of_row base + (block % 4) * t1
    %else
      %define base_of_row base
    %endif
    %ifidn %2, f16
      ; an f16 is always an f32: the conversion is exact, subnormals included
      vcvtph2ps m2, [base_of_row + (i % PANEL_VECS) * VBYTES / 2]
      vfmadd231ps m%[chain], m1, m2
    %else
      vfmadd231ps m%[chain], m1, [base_of_row + (i % PANEL_VECS) * VBYTES]
    %endif
    %assign i i + 1
  %endrep
  add k, ROW
  %if %1 > 4
    add k4, ROW
  %endif
  inc t0
%%test:
  cmp t0, head_dim
  jb %%dim
  ; the scale is a product of its own, after the chain
  %assign i 0
  %rep %1 * PANEL_VECS
    %assign chain 4 + i
    vmulps m%[chain], m%[chain], m0
    vmovups [s + i * VBYTES], m%[chain]
    %assign i i + 1
  %endrep
  add s, 64 * %1
  ; k has moved on by one block itself
  %if %1 == 8
    lea k, [k4 + t2]
  %elif %1 == 4
    add k, t2
  %elif %1 == 2
    add k, t1
  %endif
%endmacro

; %1 path, %2 f32 or f16
%macro ATTN_SCORE 2
path_begin %1
%assign GROUP 8 / PANEL_VECS
%ifidn %2, f16
  %assign ROW 32
%else
  %assign ROW 64
%endif
kern attn_score_%2, 5, 1, 12, q, k, s, head_dim, blocks, k4
  vbroadcastss m0, x0
  imul t1, head_dim, ROW                    ; B
  lea t2, [t1 + 2 * t1]                     ; 3B: with 1, 2 and 3 of them, every block of four is one addressing mode away
  sub blocks, GROUP                         ; a borrow, and so below zero: no whole group left
  jb .rest
.group:
  SCORE_GROUP GROUP, %2
  sub blocks, GROUP
  jae .group
.rest:
  add blocks, GROUP                         ; 0 to GROUP - 1
%if GROUP == 8
  test blocks, 4
  jz .two
  SCORE_GROUP 4, %2
.two:
%endif
  test blocks, 2
  jz .one
  SCORE_GROUP 2, %2
.one:
  test blocks, 1
  jz .done
  SCORE_GROUP 1, %2
.done:
  kern_ret
kern_end
%endmacro

ATTN_SCORE avx2, f32
ATTN_SCORE avx512, f32
ATTN_SCORE avx2, f16
ATTN_SCORE avx512, f16
