; exp8_vec: y[i] = exp8(x[i]) (docs/numerics.md, "exp8").
;   n >= 0; y may be x itself, not an overlap of it. Any alignment; nothing past element n-1 is touched.
;
; registers: m3 m4 x, then y; m5-m10 exp8's scratch; m1 m2 the tail's masks; m14 m15 (m20-m30) exp8's constants
;            t0 the element reached
%include "abi.inc"
%include "isa.inc"
%include "tail.inc"
%include "exp8.inc"

; Two vectors at element t0. %1 loads, %2 stores: whole_load and whole_store, or tail_load and tail_store with masks 1 and 2.
%macro EXP8_PAIR 2
  %1 m3, 1, [x + 4 * t0]
  %1 m4, 2, [x + 4 * t0 + VBYTES]
  exp8 m3, m5, m7, m9, m4, m6, m8, m10      ; two chains, interleaved
  %2 [y + 4 * t0], 1, m3
  %2 [y + 4 * t0 + VBYTES], 2, m4
%endmacro

%macro EXP8_VEC 1
path_begin %1
kern exp8_vec, 3, 0, 16, x, y, n
  exp8_init
  xor t0d, t0d
  sub n, 2 * LANES                          ; n is now the last place where a whole pair can begin
  jl .tail
.pair:
  EXP8_PAIR whole_load, whole_store
  add t0, 2 * LANES
  cmp t0, n
  jle .pair
.tail:
  add n, 2 * LANES
  sub n, t0                                 ; 0 to 2 * LANES - 1 are left
  jz .done
  ; lanes past the end are loaded as +0 and compute e^0 = 1, which is not stored: no slow or trapping value can arise
  tail_mask 1, n, 0
  tail_mask 2, n, LANES
  EXP8_PAIR tail_load, tail_store
.done:
  kern_ret
kern_end
%endmacro

EXP8_VEC avx2
EXP8_VEC avx512
