; attn_mix_f32, attn_mix_f16: values weighted by the softmax's numerators, for one query head and one segment.
;   o[d] = chain over t = 0..n-1 of fma(p[t], v[t][d], o[d]) from +0
;   p[n]; v[n][head_dim], f32 or f16; o[head_dim]. n and head_dim may be 0 (n 0: o is +0). o overlaps neither. Any alignment;
;   nothing outside these arrays is touched.
;
; Lanes are dimensions, so a chain is one dimension's and as long as n. Vectors of dimensions are chains that run at once:
; up to twelve (80 and 96 are ten and twelve of 8 lanes), eight where more are left (128 is twice eight, not 12 + 4: eight
; fill both fma ports). Each number of vectors has its own loop. A last part of a vector is a loop with a mask; for f16
; without opmasks, which AVX2 cannot load by a mask, a scalar loop a dimension.
;
; registers: m4-m15 chains; m0 p[t]; m2 values as f32; m1 the mask
;            t0 t; t1 the place in v; t2 bytes of a row of v; t3 (r9, which is no argument) scratch
%include "abi.inc"
%include "isa.inc"
%include "tail.inc"

; %1 whole vectors of dimensions; v, o and head_dim then stand at what is left. %2 f32 or f16
%macro MIX_VECTORS 2
  %assign i 4
  %rep %1
    vxorps x%[i], x%[i], x%[i]
    %assign i i + 1
  %endrep
  mov t1, v
  xor t0d, t0d
  jmp %%test
%%position:
  vbroadcastss m0, [p + 4 * t0]             ; one load of p[t] serves every chain
  %assign i 0
  %rep %1
    %assign chain 4 + i
    %ifidn %2, f16
      ; an f16 is always an f32: the conversion is exact, subnormals included
      vcvtph2ps m2, [t1 + VBYTES / 2 * i]
      vfmadd231ps m%[chain], m0, m2
    %else
      vfmadd231ps m%[chain], m0, [t1 + VBYTES * i]
    %endif
    %assign i i + 1
  %endrep
  add t1, t2                                ; down one row of v
  inc t0
%%test:
  cmp t0, n
  jb %%position
  %assign i 0
  %rep %1
    %assign chain 4 + i
    vmovups [o + VBYTES * i], m%[chain]
    %assign i i + 1
  %endrep
  ; the next dimensions of every row
  add v, ELEM * LANES * %1
  add o, VBYTES * %1
  sub head_dim, LANES * %1
%endmacro

; The last head_dim < LANES dimensions by a mask.
%macro MIX_MASKED 1
  tail_mask 1, head_dim, 0
  vxorps x4, x4, x4
  xor t0d, t0d
  jmp %%test
%%position:
  vbroadcastss m0, [p + 4 * t0]
  %ifidn %1, f16
    vcvtph2ps m2 {k1} {z}, [v]              ; lanes past the row are not read: they cannot fault
  %else
    tail_load m2, 1, [v]
  %endif
  vfmadd231ps m4, m0, m2
  add v, t2
  inc t0
%%test:
  cmp t0, n
  jb %%position
  tail_store [o], 1, m4
%endmacro

; The same, a dimension at a time, f16: at least one.
%macro MIX_SCALAR_F16 0
%%dim:
  vxorps x4, x4, x4
  mov t1, v
  xor t0d, t0d
  jmp %%test
%%position:
  movzx t3d, word [t1]
  vmovd x2, t3d
  vcvtph2ps x2, x2
  vfmadd231ss x4, x2, [p + 4 * t0]
  add t1, t2
  inc t0
%%test:
  cmp t0, n
  jb %%position
  vmovss [o], x4
  add v, 2
  add o, 4
  dec head_dim
  jnz %%dim
%endmacro
%define t3d r9d

; %1 path, %2 f32 or f16
%macro ATTN_MIX 2
path_begin %1
%ifidn %2, f16
  %assign ELEM 2
%else
  %assign ELEM 4
%endif
kern attn_mix_%2, 5, 0, 16, p, v, o, n, head_dim
  imul t2, head_dim, ELEM                   ; from the whole head_dim, before it starts to count down
.next:
  ; head_dim counts what is left; the loop to take is the last one that it fills
  cmp head_dim, 13 * LANES
  jae .vectors_8
  %assign count 12
  %rep 12
  cmp head_dim, count * LANES
  jae .vectors_%[count]
    %assign count count - 1
  %endrep
  test head_dim, head_dim
  jz .done
%ifidn %2, f16
  %if ISA_512
    MIX_MASKED f16
  %else
    MIX_SCALAR_F16
  %endif
%else
  MIX_MASKED f32
%endif
.done:
  kern_ret
  %assign count 1
  %rep 12
.vectors_%[count]:
    MIX_VECTORS count, %2
  jmp .next
    %assign count count + 1
  %endrep
kern_end
%endmacro

ATTN_MIX avx2, f32
ATTN_MIX avx512, f32
ATTN_MIX avx2, f16
ATTN_MIX avx512, f16
