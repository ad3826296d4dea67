; vec_add: y[i] = a[i] + b[i], one f32 addition each. Residuals and biases.
;   n >= 0; y may be a or b itself, not an overlap of them. Any alignment; nothing past element n-1 is touched.
;
; registers: m0 m3 a, then the sums; m4 m5 b; m1 m2 the tail's masks; t0 the element reached
%include "abi.inc"
%include "isa.inc"
%include "tail.inc"

; Two vectors at element t0. %1 loads, %2 stores: whole_load and whole_store, or tail_load and tail_store with masks 1 and 2.
%macro VEC_ADD_PAIR 2
  %1 m0, 1, [a + 4 * t0]
  %1 m3, 2, [a + 4 * t0 + VBYTES]
  %1 m4, 1, [b + 4 * t0]
  %1 m5, 2, [b + 4 * t0 + VBYTES]
  vaddps m0, m0, m4
  vaddps m3, m3, m5
  %2 [y + 4 * t0], 1, m0
  %2 [y + 4 * t0 + VBYTES], 2, m3
%endmacro

%macro VEC_ADD 1
path_begin %1
kern vec_add, 4, 0, 6, a, b, y, n
  xor t0d, t0d
  sub n, 2 * LANES                          ; n is now the last place where a whole pair can begin
  jl .tail
.pair:                                      ; two vectors an iteration: the loop's own instructions weigh half
  VEC_ADD_PAIR whole_load, whole_store
  add t0, 2 * LANES
  cmp t0, n
  jle .pair
.tail:
  add n, 2 * LANES
  sub n, t0                                 ; 0 to 2 * LANES - 1 are left
  jz .done
  ; a mask a vector, the second may be empty: one masked step for any remainder, and no lane past the end is touched
  tail_mask 1, n, 0
  tail_mask 2, n, LANES
  VEC_ADD_PAIR tail_load, tail_store
.done:
  kern_ret
kern_end
%endmacro

VEC_ADD avx2
VEC_ADD avx512
