; attn_merge: joins what attention computed segment by segment (docs/numerics.md, "Attention").
;   M = max m_k;  c_k = exp8(m_k - M);  L = fma(c_k, l_k, L), O[d] = fma(c_k, o_k[d], O[d]) from +0, k ascending;
;   out[d] = O[d] * (1 / L)
;   ml[segments] pairs (m, l), o rows of head_dim, a segment's `stride` floats after the one before, out[head_dim]; segments >= 1,
;   head_dim >= 0. out overlaps neither. Any alignment; nothing outside these elements is touched.
;
; A leaf has no room to keep c_k between vectors of d, so each group of four vectors computes c and L again: the same
; operations on the same values in every lane, hence the same bits.
;
; registers: m0 M; m2 c; m3 exp8's scratch, later l and 1; m4-m6 exp8's scratch; m7-m10 O; m11 L; m1 the last vector's mask
;            m14 m15 (m20-m30) exp8's constants; t0 k; t1 the place in o; stride in bytes
%include "abi.inc"
%include "isa.inc"
%include "tail.inc"
%include "exp8.inc"

; %1 vectors of d, at o and out. %2 loads, %3 stores: whole_load and whole_store, or tail_load and tail_store with mask 1.
%macro MERGE_VECTORS 3
  %assign i 7
  %rep %1
    vxorps x%[i], x%[i], x%[i]
    %assign i i + 1
  %endrep
  vxorps x11, x11, x11
  mov t1, o
  xor t0d, t0d
%%segment:
  ; c_k does not depend on the segment before, so the CPU overlaps its long chain with the sums of the last ones
  vbroadcastss m2, [ml + 8 * t0]
  vsubps m2, m2, m0
  exp8 m2, m3, m4, m5
  vbroadcastss m3, [ml + 8 * t0 + 4]
  vfmadd231ps m11, m2, m3                   ; L
  %assign i 0
  %rep %1
    %assign acc 7 + i
    %2 m3, 1, [t1 + VBYTES * i]
    vfmadd231ps m%[acc], m2, m3
    %assign i i + 1
  %endrep
  add t1, stride                            ; the next row of o
  inc t0
  cmp t0, segments
  jb %%segment
  ; one division for all d, then products, as the definition has it
  vbroadcastss m3, [exp8_c_one]
  vdivps m3, m3, m11
  %assign i 0
  %rep %1
    %assign acc 7 + i
    vmulps m%[acc], m%[acc], m3
    %3 [out + VBYTES * i], 1, m%[acc]
    %assign i i + 1
  %endrep
%endmacro

%macro ATTN_MERGE 1
path_begin %1
kern attn_merge, 6, 0, 16, ml, o, out, segments, head_dim, stride
  exp8_init
  shl stride, 2
  vmovss x0, [ml]
  mov t0d, 1
  jmp .max_test
.max:
  vmaxss x0, x0, [ml + 8 * t0]              ; every m is finite; a zero of either sign gives the same c_k
  inc t0
.max_test:
  cmp t0, segments
  jb .max
  vbroadcastss m0, x0
  jmp .four_test
.four:
  MERGE_VECTORS 4, whole_load, whole_store
  add o, 4 * VBYTES
  add out, 4 * VBYTES
  sub head_dim, 4 * LANES
.four_test:
  cmp head_dim, 4 * LANES
  jae .four
  jmp .one_test
.one:                                       ; up to three whole vectors and a part of one
  tail_mask 1, head_dim, 0
  MERGE_VECTORS 1, tail_load, tail_store    ; the mask of a whole vector has every lane
  add o, VBYTES
  add out, VBYTES
  sub head_dim, LANES
.one_test:
  cmp head_dim, 0
  jg .one
  kern_ret
kern_end
%endmacro

ATTN_MERGE avx2
ATTN_MERGE avx512
