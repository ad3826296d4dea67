; rmsnorm: y[i] = (x[i] * rstd) * w[i], rstd = 1 / sqrt(ss / n + eps), ss the sum of squares by rule 2 of docs/numerics.md.
; Returns 1, and leaves y as it is, when ss is not finite; else 0.
;   1 <= n < 2^24 (so that n is exact in f32); y may be x itself, not an overlap of it; w overlaps neither or is read only.
;   Any alignment; nothing past element n-1 is touched.
;
; ss: part[i mod 16] = fma(x[i], x[i], part[i mod 16]), sixteen chains by definition and no more, so the first pass waits
; for fma (4 cycles per 16 elements) whatever the vector's width.
;
; registers: m0 eps, then rstd in every lane; m3 m4 partials 0-7 and 8-15 (16 lanes: m3 alone); m5 m6 vectors of x
;            m1 m2 the tail's masks; t0 the element reached
%include "abi.inc"
%include "isa.inc"
%include "tail.inc"
%include "reduce.inc"

%macro RMSNORM 1
path_begin %1
kern rmsnorm, 4, 1, 7, x, w, y, n
  vxorps x3, x3, x3
  vxorps x4, x4, x4
  vcvtsi2ss x6, x3, n                       ; exact: n < 2^24; x3 gives the unused lanes, so nothing old is waited for
  lea t1, [n - 16]                          ; the last place where sixteen elements can begin
  xor t0d, t0d
  cmp t0, t1
  jg .squares_tail
.squares:                                   ; sixteen elements, one step of each chain
  vmovups m5, [x + 4 * t0]
  vfmadd231ps m3, m5, m5
%if !ISA_512
  vmovups m5, [x + 4 * t0 + VBYTES]
  vfmadd231ps m4, m5, m5
%endif
  add t0, 16
  cmp t0, t1
  jle .squares
.squares_tail:
  mov t1, n
  sub t1, t0                                ; 0 to 15 are left
  jz .rstd
  ; past the end x is +0, and fma(+0, +0, part) is part, for no part is -0: a short tail adds nothing
  tail_mask 1, t1, 0
  tail_load m5, 1, [x + 4 * t0]
  vfmadd231ps m3, m5, m5
%if !ISA_512
  tail_mask 2, t1, LANES
  tail_load m5, 2, [x + 4 * t0 + VBYTES]
  vfmadd231ps m4, m5, m5
%endif
.rstd:
  reduce16 vaddps, 3, 4
  vmovd t0d, x3
  cmp t0d, 0x7f800000                       ; ss is +0 or more, an infinity or a NaN (whose sign may be set): unsigned
  jae .not_finite
  vdivss x3, x3, x6                         ; four roundings, each its own: no reciprocal estimate
  vaddss x3, x3, x0
  vsqrtss x3, x3, x3
  splat 5, 0x3f800000                       ; 1.0
  vdivss x3, x5, x3
  vbroadcastss m0, x3
  xor t0d, t0d
  sub n, 2 * LANES                          ; n is now the last place where a whole pair can begin
  jl .tail
.pair:
  ; (x * rstd) * w in this order: rstd * w first would round otherwise
  vmulps m5, m0, [x + 4 * t0]
  vmulps m6, m0, [x + 4 * t0 + VBYTES]
  vmulps m5, m5, [w + 4 * t0]
  vmulps m6, m6, [w + 4 * t0 + VBYTES]
  vmovups [y + 4 * t0], m5
  vmovups [y + 4 * t0 + VBYTES], m6
  add t0, 2 * LANES
  cmp t0, n
  jle .pair
.tail:
  add n, 2 * LANES
  sub n, t0                                 ; 0 to 2 * LANES - 1 are left
  jz .done
  tail_mask 1, n, 0
  tail_mask 2, n, LANES
  tail_load m3, 1, [x + 4 * t0]
  tail_load m4, 2, [x + 4 * t0 + VBYTES]
  tail_load m5, 1, [w + 4 * t0]
  tail_load m6, 2, [w + 4 * t0 + VBYTES]
  vmulps m3, m3, m0
  vmulps m4, m4, m0
  vmulps m3, m3, m5
  vmulps m4, m4, m6
  tail_store [y + 4 * t0], 1, m3
  tail_store [y + 4 * t0 + VBYTES], 2, m4
.done:
  xor t0d, t0d
  kern_ret
.not_finite:                                ; y may be x: the caller can still look at what was wrong
  mov t0d, 1
  kern_ret
kern_end
%endmacro

RMSNORM avx2
RMSNORM avx512
