; vec_add: y[i] = a[i] + b[i], one f32 addition each. Residuals and biases.
;   n >= 0; y may be a or b itself, not an overlap of them. Nothing past element n-1 is touched.
;
; registers: m0 a's lanes; t0 the element reached
%include "abi.inc"
%include "isa.inc"

%macro VEC_ADD 1
path_begin %1
kern vec_add, 4, 0, 1, a, b, y, n
  xor t0d, t0d
  sub n, LANES
  jl .tail
.vector:
  vmovups m0, [a + 4 * t0]
  vaddps m0, m0, [b + 4 * t0]
  vmovups [y + 4 * t0], m0
  add t0, LANES
  cmp t0, n
  jle .vector
.tail:
  add n, LANES
  jmp .tail_test
.one:                           ; at most LANES - 1 elements: not worth a mask
  vmovss x0, [a + 4 * t0]
  vaddss x0, x0, [b + 4 * t0]
  vmovss [y + 4 * t0], x0
  inc t0
.tail_test:
  cmp t0, n
  jl .one
  kern_ret
kern_end
%endmacro

VEC_ADD avx2
VEC_ADD avx512
