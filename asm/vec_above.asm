; vec_above: the index of the first x[i] > bound, n where there is none. A NaN is above nothing.
;   n >= 0. Any alignment; nothing past element n-1 is read.
;
; Four vectors are looked at together; where one of them has such an element, they are looked at again, one by one.
;
; registers: m0 bound; m2 x of the last elements; m1 its mask; m3-m6 comparisons (on avx512 k1-k4); t0 the element reached
%include "abi.inc"
%include "isa.inc"
%include "tail.inc"

%define LESS 17                             ; ordered, quiet: the bound is less than x

%macro VEC_ABOVE 1
path_begin %1
kern vec_above, 2, 1, 7, x, n
  vbroadcastss m0, x0
  xor t0d, t0d
  sub n, 4 * LANES                          ; n is now the last place where four vectors can begin
  jl .rest
.four:
%if ISA_512
  vcmpps k1, m0, [x + 4 * t0], LESS
  vcmpps k2, m0, [x + 4 * t0 + VBYTES], LESS
  vcmpps k3, m0, [x + 4 * t0 + 2 * VBYTES], LESS
  vcmpps k4, m0, [x + 4 * t0 + 3 * VBYTES], LESS
  korw k1, k1, k2
  korw k3, k3, k4
  kortestw k1, k3
%else
  vcmpps m3, m0, [x + 4 * t0], LESS
  vcmpps m4, m0, [x + 4 * t0 + VBYTES], LESS
  vcmpps m5, m0, [x + 4 * t0 + 2 * VBYTES], LESS
  vcmpps m6, m0, [x + 4 * t0 + 3 * VBYTES], LESS
  vorps m3, m3, m4
  vorps m5, m5, m6
  vorps m3, m3, m5
  vptest m3, m3
%endif
  jnz .rest                                 ; it is one of these
  add t0, 4 * LANES
  cmp t0, n
  jle .four
.rest:
  add n, 3 * LANES                          ; now the last place where one vector can
  jmp .one_test
.one:
%if ISA_512
  vcmpps k1, m0, [x + 4 * t0], LESS
  kmovw t1d, k1
%else
  vcmpps m3, m0, [x + 4 * t0], LESS
  vmovmskps t1d, m3
%endif
  test t1d, t1d
  jnz .found
  add t0, LANES
.one_test:
  cmp t0, n
  jle .one
  add n, LANES                              ; n again
  mov t1, n
  sub t1, t0                                ; 0 to LANES - 1 are left
  jz .done
  tail_mask 1, t1, 0
  tail_load m2, 1, [x + 4 * t0]
%if ISA_512
  vcmpps k2 {k1}, m0, m2, LESS
  kmovw t1d, k2
%else
  vcmpps m3, m0, m2, LESS
  vandps m3, m3, m1                         ; +0 where there is no element, and that may be above
  vmovmskps t1d, m3
%endif
  test t1d, t1d
  jnz .found
  mov t0, n
  kern_ret
.found:
  bsf t1d, t1d
  add t0, t1
.done:
  kern_ret
kern_end
%endmacro

VEC_ABOVE avx2
VEC_ABOVE avx512
