; vec_max: *max = the greatest of x[0..n) plus +0, so that a zero is +0. Returns 1 if x has a NaN or an infinity, else 0.
;   n >= 1. When it returns 1, *max is unspecified. Any alignment; nothing past element n-1 is read.
;
; Maxima need no order, so there are as many chains as latency asks for. What is not finite is found by 0 * x, which is a
; zero for every finite x and NaN for all others, and a NaN stays in its sum: one fma a vector, nothing in the chain of the
; maximum.
;
; registers: m4-m7 greatest so far, four chains; m8-m11 sums of 0 * x; m12 zero; m0 m3 scratch; m1 the tail's mask
;            t0 the element reached
%include "abi.inc"
%include "isa.inc"
%include "tail.inc"
%include "reduce.inc"

%macro VEC_MAX 1
path_begin %1
kern vec_max, 3, 0, 13, x, max, n
  vbroadcastss m4, [x]                      ; some element, so that no chain starts above the maximum
  vmovaps m5, m4
  vmovaps m6, m4
  vmovaps m7, m4
  %assign i 8
  %rep 5
    vxorps x%[i], x%[i], x%[i]
    %assign i i + 1
  %endrep
  xor t0d, t0d
  sub n, 4 * LANES                          ; n is now the last place where four vectors can begin
  jl .rest
.four:
  %assign i 0
  %rep 4
    %assign j 4 + i
    ; the memory operand twice: the second load hits the first cache and saves a move
    vmaxps m%[j], m%[j], [x + 4 * t0 + VBYTES * i]
    %assign j 8 + i
    vfmadd231ps m%[j], m12, [x + 4 * t0 + VBYTES * i]
    %assign i i + 1
  %endrep
  add t0, 4 * LANES
  cmp t0, n
  jle .four
.rest:                                      ; up to three whole vectors
  add n, 3 * LANES                          ; now the last place where one can
  jmp .rest_test
.one:
  vmaxps m4, m4, [x + 4 * t0]
  vfmadd231ps m8, m12, [x + 4 * t0]
  add t0, LANES
.rest_test:
  cmp t0, n
  jle .one
  add n, LANES
  sub n, t0                                 ; 0 to LANES - 1 are left
  jz .join
  tail_mask 1, n, 0
  tail_load m0, 1, [x + 4 * t0]
  vfmadd231ps m8, m12, m0                   ; +0 where there is no element: finite
%if ISA_512
  vmaxps m5 {k1}, m5, m0
%else
  vblendvps m0, m5, m0, m1                  ; where there is none, what the chain has already
  vmaxps m5, m5, m0
%endif
.join:
  ; four chains to one; a NaN in any sum stays to the end
  vmaxps m4, m4, m5
  vmaxps m6, m6, m7
  vaddps m8, m8, m9
  vaddps m10, m10, m11
  vmaxps m4, m4, m6
  vaddps m8, m8, m10
%if !ISA_512
  vmovaps m5, m4                            ; reduce16 wants sixteen: the same eight twice
  vmovaps m9, m8
%endif
  reduce16 vmaxps, 4, 5
  reduce16 vaddps, 8, 9
  vaddss x4, x4, x12                        ; -0 + +0 = +0
  vmovss [max], x4
  xor t0d, t0d
  vucomiss x8, x8                           ; unordered with itself: NaN
  setp t0b
  kern_ret
kern_end
%endmacro

VEC_MAX avx2
VEC_MAX avx512
