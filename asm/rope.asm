; rope: turns, in place, the pairs (a, b) = (x[i], x[i + half]) of each head by (c, s) = (cs[i], sn[i]), i < half:
;     a' = fma(a, c, -(b * s))     b' = fma(b, c, a * s)           the products with s are rounded first
;   heads of `stride` floats, stride >= 2 * half; what lies past 2 * half in a head is left as it is. half and heads may be
;   0. cs and sn do not overlap x. Any alignment; nothing outside the pairs and cs[half], sn[half] is touched.
;
; The heads are the inner loop: a vector of (c, s) and the tail's mask are made once and serve all of them. Heads are
; independent, so their chains overlap by themselves.
;
; registers: m0 c; m2 s; m3 a; m4 b; m5 b * s; m6 a * s; m1 the tail's mask
;            t0 a's address; t1 heads left; t2 pairs left; x, cs and sn advance by vectors; stride in bytes
%include "abi.inc"
%include "isa.inc"
%include "tail.inc"

; One vector of pairs in every head, at least one. %1 loads, %2 stores: whole_load and whole_store, or tail_load and
; tail_store with mask 1.
%macro ROPE_HEADS 2
  %1 m0, 1, [cs]
  %1 m2, 1, [sn]
  mov t0, x
  mov t1, heads
%%head:
  ; both of a pair are read before either is written
  %1 m3, 1, [t0]
  %1 m4, 1, [t0 + 4 * half]
  vmulps m5, m4, m2
  vmulps m6, m3, m2
  vfmsub213ps m3, m0, m5                    ; a * c - b * s, rounded once: what fma gives with the product negated
  vfmadd213ps m4, m0, m6
  %2 [t0], 1, m3
  %2 [t0 + 4 * half], 1, m4
  add t0, stride
  dec t1
  jnz %%head
%endmacro

%macro ROPE 1
path_begin %1
kern rope, 6, 0, 7, x, cs, sn, half, stride, heads
  shl stride, 2                             ; in bytes
  mov t2, half
  test heads, heads
  jz .done
  jmp .vector_test
.vector:
  ROPE_HEADS whole_load, whole_store
  add x, VBYTES
  add cs, VBYTES
  add sn, VBYTES
  sub t2, LANES
.vector_test:
  cmp t2, LANES
  jge .vector
  test t2, t2
  jz .done
  tail_mask 1, t2, 0                        ; a and b share it: both ranges end at the same lane
  ROPE_HEADS tail_load, tail_store
.done:
  kern_ret
kern_end
%endmacro

ROPE avx2
ROPE avx512
