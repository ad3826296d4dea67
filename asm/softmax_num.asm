; softmax_num: p[i] = exp8((x[i] - max) * mul), and their sum (docs/numerics.md, rule 2): partial i mod 16, then the tree.
;   n >= 0 (the sum of nothing is +0); p may be x itself, not an overlap of it. The product with mul is always taken, 1 or
;   not. Any alignment; nothing past element n-1 is touched.
;
; Where the lanes of a pair of vectors go:
;   8 lanes     first, elements 0..7 -> partials 0..7 (m11)      second, 8..15 -> partials 8..15 (m12)
;   16 lanes    first, elements 0..15 -> partials 0..15 (m11)    second, 16..31 -> the same, after the first
;
; registers: m0 max; m13 mul; m3 m4 x, then p; m5-m10 exp8's scratch; m11 m12 partials; m1 m2 the tail's masks
;            m14 m15 (m20-m30) exp8's constants; t0 the element reached
%include "abi.inc"
%include "isa.inc"
%include "tail.inc"
%include "reduce.inc"
%include "exp8.inc"

; Two vectors at element t0, left in m3 and m4 as well. %1 loads, %2 stores: whole_load and whole_store, or tail_load and
; tail_store with masks 1 and 2.
%macro SOFTMAX_PAIR 2
  %1 m3, 1, [x + 4 * t0]
  %1 m4, 2, [x + 4 * t0 + VBYTES]
  ; two roundings, never one fma: mul is applied to the rounded difference
  vsubps m3, m3, m0
  vsubps m4, m4, m0
  vmulps m3, m3, m13
  vmulps m4, m4, m13
  exp8 m3, m5, m7, m9, m4, m6, m8, m10      ; two chains, interleaved
  %2 [p + 4 * t0], 1, m3
  %2 [p + 4 * t0 + VBYTES], 2, m4
%endmacro

%macro SOFTMAX_NUM 1
path_begin %1
kern softmax_num, 3, 2, 16, x, p, n
  vbroadcastss m13, x1                      ; mul first: max arrives in x0, which is part of m0
  vbroadcastss m0, x0
  exp8_init
  vxorps x11, x11, x11
  vxorps x12, x12, x12
  xor t0d, t0d
  sub n, 2 * LANES                          ; n is now the last place where a whole pair can begin
  jl .tail
.pair:
  SOFTMAX_PAIR whole_load, whole_store
  ; the partials wait for nothing but these additions, 4 cycles each, while exp8 takes longer
  vaddps m11, m11, m3
%if ISA_512
  vaddps m11, m11, m4                       ; in order: first, then second
%else
  vaddps m12, m12, m4
%endif
  add t0, 2 * LANES
  cmp t0, n
  jle .pair
.tail:
  add n, 2 * LANES
  sub n, t0                                 ; 0 to 2 * LANES - 1 are left
  jz .sum
  tail_mask 1, n, 0
  tail_mask 2, n, LANES
  SOFTMAX_PAIR tail_load, tail_store
%if ISA_512
  vaddps m11 {k1}, m11, m3                  ; a lane past the end adds nothing
  vaddps m11 {k2}, m11, m4
%else
  vandps m3, m3, m1                         ; ... or +0, which is nothing to a partial: none is -0
  vandps m4, m4, m2
  vaddps m11, m11, m3
  vaddps m12, m12, m4
%endif
.sum:
  reduce16 vaddps, 11, 12
  vmovaps x0, x11                           ; the result register of both calling conventions
  kern_ret
kern_end
%endmacro

SOFTMAX_NUM avx2
SOFTMAX_NUM avx512
