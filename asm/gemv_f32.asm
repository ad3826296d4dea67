; gemv_f32: y = W x for f32 panels (docs/numerics.md, "Matrix-vector products").
;   w: panels of sixteen rows, column k of a panel is sixteen floats; x[cols], y[16 * panels]; cols and panels may be 0
;   Per row, k ascending from +0: acc = fma(w[row][k], x[k], acc); y = acc.
;   Any alignment; nothing outside these arrays is touched; y overlaps none of them.
;
; A row is one chain of fma, 4 cycles each, so a single panel gives at most 16 bytes a cycle: enough for memory, not for
; the caches. Four panels in flight share each broadcast of x.
;
; registers, v < PANEL_VECS the vector of a panel's rows, p < 4 the panel:
;   m[p * PANEL_VECS + v]  acc          m15  x[k] in every lane
;   w    the column reached             t0   k - cols, from -cols up to 0      x   the end of x, cols = -cols
;   t1   bytes of a panel               t2   bytes of three
%include "abi.inc"
%include "isa.inc"

; %1 panels at w: their sixteen sums each to y, w moved on by one panel
%macro F32_BLOCK 1
  %assign i 0
  %rep %1 * PANEL_VECS
    vxorps x%[i], x%[i], x%[i]
    %assign i i + 1
  %endrep
  mov t0, cols
  test t0, t0
  jz %%store
%%column:
  vbroadcastss m15, [x + 4 * t0]
  %assign v 0
  %rep PANEL_VECS
    %assign i v
    vfmadd231ps m%[i], m15, [w + VBYTES * v]
    %if %1 == 4
      %assign i v + PANEL_VECS
      vfmadd231ps m%[i], m15, [w + t1 + VBYTES * v]
      %assign i v + 2 * PANEL_VECS
      vfmadd231ps m%[i], m15, [w + 2 * t1 + VBYTES * v]
      %assign i v + 3 * PANEL_VECS
      vfmadd231ps m%[i], m15, [w + t2 + VBYTES * v]
    %endif
    %assign v v + 1
  %endrep
  add w, 64
  inc t0
  jnz %%column
%%store:
  %assign i 0
  %rep %1 * PANEL_VECS
    vmovups [y + VBYTES * i], m%[i]
    %assign i i + 1
  %endrep
  add y, 64 * %1
%endmacro

%macro GEMV_F32 1
path_begin %1
kern gemv_f32, 5, 0, 16, w, x, y, cols, panels
  lea x, [x + 4 * cols]
  mov t1, cols
  shl t1, 6
  lea t2, [3 * t1]
  neg cols
  sub panels, 4
  jb .rest
.four:
  F32_BLOCK 4
  add w, t2
  sub panels, 4
  jae .four
.rest:
  add panels, 4
  jz .done
.one:
  F32_BLOCK 1
  dec panels
  jnz .one
.done:
  kern_ret
kern_end
%endmacro

GEMV_F32 avx2
GEMV_F32 avx512
