; qx_vec: n floats to groups of 32 int8 with one scale (docs/numerics.md, "Activations").
;   x[n], out[ceil(n / 32)] of 48 bytes: q[32] at 0, scale at 32, xsum at 36, sum at 40, sum_hi at 44; n may be 0
;   Per group: amax = max |x|, scale = amax / 127, q = nearest-even(x * (127 / amax)); amax < 3.7322e-37 gives all zero.
;   The last group is padded with zeros; nothing past x[n-1] is read.
;   Returns 1 when x has a NaN or an infinity (out is then unspecified), else 0.
;
; registers (avx2; avx512 holds the group in m0 and m1 and has no use for m12):
;   m0-m3  the group's floats, then its int32, then bytes         m4 m5  amax; sums          m6 m7  scratch
;   m8     0x7fffffff     m9   127.0        m10  3.7322e-37       m11  0x80 bytes            m12    order of dwords
;   m13    0              m14  2048, the 16 * 128 that 0x80 adds to half a group's sum       m15    greatest |x| so far, as bits
%include "abi.inc"
%include "isa.inc"

%define amax_least __?float32?__(3.7322e-37)   ; below it 127 / amax is infinite
%define infinity_bits 0x7f800000

%macro QX_VEC 1
path_begin %1
kern qx_vec, 3, 0, 16, x, out, n
  splat 8, 0x7fffffff
  splat 9, __?float32?__(127.0)
  splat 10, amax_least
  splat 11, 0x80808080
  splat 14, 2048
  %if !ISA_512
    mov t0, 0x0703060205010400
    vmovq x12, t0
    vpmovzxbd m12, x12
  %endif
  vpxor x13, x13, x13
  vpxor x15, x15, x15
  test n, n
  jz .done
.group:
  cmp n, 32
  jb .tail
  %assign v 0
  %rep 32 / LANES
    vmovups m%[v], [x + VBYTES * v]
    %assign v v + 1
  %endrep
.loaded:
  QX_AMAX                                   ; y4: amax in every lane, from here on 256 bits wide
  vpmaxud y15, y15, y4
  ; one division for both: lane 0 is 127 / amax, lane 1 is amax / 127
  vblendps x5, x9, x4, 0b0010
  vblendps x6, x4, x9, 0b0010
  vdivps x5, x5, x6
  vcmpps x6, x4, x10, 13                    ; amax >= 3.7322e-37; else both are +0, and so are all q
  vandps x5, x5, x6
  vbroadcastss m6, x5
  vmovshdup x5, x5                          ; x5: scale
  QX_PACK                                   ; y0: q[0..15] | q[16..31]
  vmovdqu [out], y0
  ; vpsadbw sums eight unsigned bytes, q + 128:   y4: q[0..7] -  q[8..15] -  |  q[16..23] -  q[24..31] -
  vpxor y4, y0, y11
  vpsadbw y4, y4, y13
  vpshufd y6, y4, 0b01_00_11_10
  vpaddd y4, y4, y6
  vpsubd y4, y4, y14                        ; in every lane of 128 bits: sum of q[0..15] | sum of q[16..31]
  vextracti128 x6, y4, 1
  vpaddd x4, x4, x6
  vcvtdq2ps x7, x4
  vmulss x7, x7, x5                         ; xsum
  vunpcklps x5, x5, x7                      ; scale xsum
  vpunpckldq x4, x4, x6                     ; sum sum_hi
  vpunpcklqdq x5, x5, x4
  vmovdqu [out + 32], x5
  add x, 128
  add out, 48
  sub n, 32
  ja .group
.done:
  vmovd t0d, x15
  cmp t0d, infinity_bits
  setae t0b
  movzx t0d, t0b
  kern_ret
.tail:                                      ; 1 to 31 floats; masked loads neither read nor fault where the mask is off
  %if ISA_512
    xor t0d, t0d
    bts t0, n
    dec t0
    kmovd k1, t0d
    kshiftrd k2, k1, 16
    vmovups m0{k1}{z}, [x]
    vmovups m1{k2}{z}, [x + 64]
  %else
    vmovq x4, n
    vpbroadcastd m4, x4
    mov t0, 0x0706050403020100
    vmovq x5, t0
    vpmovzxbd m5, x5
    splat 7, 8
    %assign v 0
    %rep 4
      vpcmpgtd m6, m4, m5                   ; lane i: i + 8 v < n
      vmaskmovps m%[v], m6, [x + VBYTES * v]
      vpaddd m5, m5, m7
      %assign v v + 1
    %endrep
  %endif
  jmp .loaded
kern_end
%endmacro

; [in] m0.. the group -> [out] y4: in every lane the greatest |x|, as bits. [clobbered] m5-m7
%macro QX_AMAX 0
  %if ISA_512
    vpandd m4, m0, m8
    vpandd m5, m1, m8
    vpmaxud m4, m4, m5
    vextracti64x4 y5, m4, 1
    vpmaxud y4, y4, y5
  %else
    vpand m4, m0, m8
    vpand m5, m1, m8
    vpand m6, m2, m8
    vpand m7, m3, m8
    vpmaxud m4, m4, m5
    vpmaxud m6, m6, m7
    vpmaxud m4, m4, m6
  %endif
  vpermq y5, y4, 0b01_00_11_10              ; eight lanes: the halves,
  vpmaxud y4, y4, y5
  vpshufd y5, y4, 0b01_00_11_10             ; pairs,
  vpmaxud y4, y4, y5
  vpshufd y5, y4, 0b10_11_00_01             ; neighbours
  vpmaxud y4, y4, y5
%endmacro

; [in] m0.. the group, m6 127 / amax in every lane -> [out] y0: the 32 bytes q. [clobbered] m1-m3
%macro QX_PACK 0
  %assign v 0
  %rep 32 / LANES
    vmulps m%[v], m%[v], m6
    vcvtps2dq m%[v], m%[v]
    %assign v v + 1
  %endrep
  %if ISA_512
    vpmovdb x0, m0
    vpmovdb x1, m1
    vinserti128 y0, y0, x1, 1
  %else
    vpackssdw m0, m0, m1                    ; 0-3  8-11           | 4-7 12-15
    vpackssdw m2, m2, m3                    ; 16-19 24-27         | 20-23 28-31
    vpacksswb m0, m0, m2                    ; 0-3 8-11 16-19 24-27 | 4-7 12-15 20-23 28-31
    vpermd m0, m12, m0                      ; dwords 0 4 1 5 2 6 3 7: in order
  %endif
%endmacro

QX_VEC avx2
QX_VEC avx512
