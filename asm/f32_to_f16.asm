; f32_to_f16: y[i] = x[i] as IEEE binary16, nearest even, subnormals kept. Returns 1 if a result is an infinity or a NaN.
;   n >= 0; x and y do not overlap. Any alignment; nothing past element n-1 is touched.
;
; A result is not finite when |x| is 65520 or more (halfway from the greatest f16, 65504, to 65536: the tie goes up) or x is
; a NaN. As integers the bits of |x| order just so, with NaN above all, so one maximum finds it.
;
; registers: m4 greatest bits of |x|, a chain a lane; m2 0x7fffffff; m0 x; m3 |x|; x5 or y5 the tail's f16; m1 its mask
;            t1 the element reached; t0 scratch
%include "abi.inc"
%include "isa.inc"
%include "tail.inc"

%macro F32_TO_F16 1
path_begin %1
kern f32_to_f16, 3, 0, 6, x, y, n
  splat 2, 0x7fffffff
  vxorps x4, x4, x4
  xor t1d, t1d
  sub n, LANES                              ; n is now the last place where a whole vector can begin
  jl .tail
.vector:
  vmovups m0, [x + 4 * t1]
  vandps m3, m0, m2
  vpmaxud m4, m4, m3
  vcvtps2ph [y + 2 * t1], m0, 0             ; 0: nearest even, whatever MXCSR says
  add t1, LANES
  cmp t1, n
  jle .vector
.tail:
  add n, LANES
  sub n, t1                                 ; 0 to LANES - 1 are left
  jz .flag
  tail_mask 1, n, 0
  tail_load m0, 1, [x + 4 * t1]
  vandps m3, m0, m2                         ; +0 where there is no element
  vpmaxud m4, m4, m3
  lea y, [y + 2 * t1]                       ; t1 is not needed after this
%if ISA_512
  vcvtps2ph y5, m0, 0
  vmovdqu16 [y] {k1}, y5                    ; the mask of 32-bit lanes serves 16-bit ones: a bit a lane
%else
  ; AVX2 has no masked store of 16-bit lanes: n = 4a + 2b + c, each part stored and shifted out
  vcvtps2ph x5, m0, 0
  test n, 4
  jz .two
  vmovq [y], x5
  vpsrldq x5, x5, 8
  add y, 8
.two:
  test n, 2
  jz .one
  vmovd [y], x5
  vpsrldq x5, x5, 4
  add y, 4
.one:
  test n, 1
  jz .flag
  vpextrw [y], x5, 0
%endif
.flag:
  splat 3, 0x477fefff                       ; the greatest float below 65520; |x| has no sign bit, so signed order will do
%if ISA_512
  vpcmpgtd k1, m4, m3
  kmovw t0d, k1
%else
  vpcmpgtd m4, m4, m3
  vmovmskps t0d, m4
%endif
  neg t0d                                   ; carry: any lane
  sbb t0d, t0d
  neg t0d
  kern_ret
kern_end
%endmacro

F32_TO_F16 avx2
F32_TO_F16 avx512
