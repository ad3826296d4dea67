; swiglu: y[i] = (g[i] / (1 + exp8(-g[i]))) * u[i], each step rounded (docs/numerics.md, "Everything else").
;   n >= 0; y may be g or u itself, not an overlap of them. Any alignment; nothing past element n-1 is touched.
;
; exp8 is at most 2.4e38, so 1 + exp8(-g) is finite and the quotient of a very negative g is a small number, not 0 / 0 or a NaN.
;
; registers: m3 m4 -g, then exp8(-g), then y; m5-m10 scratch; m0 the sign bit; m1 m2 the tail's masks
;            m14 m15 (m20-m30) exp8's constants; t1 the element reached; t0 scratch
%include "abi.inc"
%include "isa.inc"
%include "tail.inc"
%include "exp8.inc"

; Two vectors at element t1. %1 loads, %2 stores: whole_load and whole_store, or tail_load and tail_store with masks 1 and 2.
%macro SWIGLU_PAIR 2
  %1 m3, 1, [g + 4 * t1]
  %1 m4, 2, [g + 4 * t1 + VBYTES]
  vxorps m3, m3, m0                         ; -g: the sign alone, so that a NaN stays one
  vxorps m4, m4, m0
  exp8 m3, m5, m7, m9, m4, m6, m8, m10      ; two chains, interleaved
  %1 m5, 1, [g + 4 * t1]                    ; g once more: a load is cheaper than a register all the way
  %1 m6, 2, [g + 4 * t1 + VBYTES]
  vaddps m3, m3, e8_one
  vaddps m4, m4, e8_one
  vdivps m5, m5, m3                         ; one rounding, which a reciprocal and a product would not give
  vdivps m6, m6, m4
  %1 m7, 1, [u + 4 * t1]
  %1 m8, 2, [u + 4 * t1 + VBYTES]
  ; y may be g or u: all reads of these lanes are done before the first store
  vmulps m3, m5, m7
  vmulps m4, m6, m8
  %2 [y + 4 * t1], 1, m3
  %2 [y + 4 * t1 + VBYTES], 2, m4
%endmacro

%macro SWIGLU 1
path_begin %1
kern swiglu, 4, 0, 16, g, u, y, n
  exp8_init
  splat 0, 0x80000000
  xor t1d, t1d
  sub n, 2 * LANES                          ; n is now the last place where a whole pair can begin
  jl .tail
.pair:
  SWIGLU_PAIR whole_load, whole_store
  add t1, 2 * LANES
  cmp t1, n
  jle .pair
.tail:
  add n, 2 * LANES
  sub n, t1                                 ; 0 to 2 * LANES - 1 are left
  jz .done
  ; lanes past the end compute (0 / 2) * 0, which is not stored
  tail_mask 1, n, 0
  tail_mask 2, n, LANES
  SWIGLU_PAIR tail_load, tail_store
.done:
  kern_ret
kern_end
%endmacro

SWIGLU avx2
SWIGLU avx512
