; attn_score_q8: scores of 1 to 8 queries that share a KV head, against blocks of sixteen positions, both quantized by qx_vec.
;   s[256 * i + 16 * b + t] = (chain over groups g of 32 dimensions of fma(float(I), kscale[b][g][t] * q[g][i].scale, acc) from +0)
;                             * scale,    I = sum of the group's products of int8, exact;   i < queries
;   k is [blocks][groups] of 576 bytes: eight pieces of [16 positions][4 dimensions] int8, then sixteen f32 scales; q is
;   [groups][queries] of QxGroup; blocks at most 16. groups and blocks may be 0 (groups 0: the scores are +0 * scale). s overlaps
;   neither. Any alignment; nothing outside these elements is touched. Neither has a -128.
;
; Lanes are positions. A piece is read and made ready once and meets the same four bytes of each query, broadcast:
;
;     lane:        0                        1                        LANES-1
;     k       dims 4c..4c+3 of t     4c..4c+3 of t + 1      ...
;     q       dims 4c..4c+3          4c..4c+3               ...
;     I[i]  += four products of t     four of t + 1         ...
;
; On 8 lanes a block is two halves, one after the other, and up to four queries go together; on 16 lanes all eight.
;
; registers: m0-m3 (m0-m7) I of each query; m4-m7 (m16-m23) their chains; m8 q, then its scale; m9 the positions' scales; m12 the
;            piece, m13 made ready for the path (dot.inc, kind i8); m14 m15 dot.inc's constants
;            m10 scale, m11 scratch; t0 groups left; t1 bytes of a block; t2 bytes of the queries; pairs of pieces left
%include "abi.inc"
%include "isa.inc"
%include "dot.inc"
%include "queries.inc"
%define pairs r9d                           ; is `queries` until they are known

; The four products of a piece for one query. %1 I, %2 the address of its four bytes
%macro SCORE_DOT 2
  %if ISA_512
    vpdpbusd %1, m13, %2 {1to16}
  %else
    vpbroadcastd m8, %2
    %if ISA_VNNI8
      {vex} vpdpbssd %1, m12, m8
    %elif ISA_VNNI
      VPDPBUSD %1, m13, m8
    %else
      ; |k| times q with the sign of k: a pair is at most 2 * 127 * 127 = 32,258 and fits int16, two pairs do not
      vpsignb m8, m8, m12
      vpmaddubsw m8, m13, m8
      vpmaddwd m8, m8, DOT_C
      vpaddd %1, %1, m8
    %endif
  %endif
%endmacro

; %1 queries from %2 on, of all %3, against a vector of positions of the block at k, the half %4 (0 on 16 lanes). k and q stay.
%macro SCORE_VECTOR 4
  %assign i 0
  %rep %1
    %assign chain i + CHAINS
    vxorps x%[chain], x%[chain], x%[chain]
    %assign i i + 1
  %endrep
  mov t0, groups
  test t0, t0
  jz %%store
%%group:
  %assign i 0
  %rep %1
    %if dot_offset                          ; the sum of (k + 128) * q is too great by 128 times the sum of q
      vpbroadcastd m%[i], [q + 48 * (i + %2) + 40]
      vpmaddwd m%[i], m%[i], DOT_B
    %else
      vpxor x%[i], x%[i], x%[i]
    %endif
    %assign i i + 1
  %endrep
  mov pairs, 4                              ; of pieces
%%pair:
  %assign c 0
  %rep 2
    %if ISA_512
      vpxord m13, DOT_C, [k + 64 * c]
    %elif dot_offset
      vpxor m13, DOT_C, [k + 64 * c + VBYTES * %4]
    %else
      vmovdqu m12, [k + 64 * c + VBYTES * %4]
      %if !ISA_VNNI
        vpabsb m13, m12
      %endif
    %endif
    %assign i 0
    %rep %1
      SCORE_DOT m%[i], [q + 48 * (i + %2) + 4 * c]
      %assign i i + 1
    %endrep
    %assign c c + 1
  %endrep
  add k, 128
  add q, 8
  dec pairs
  jnz %%pair
  vmovups m9, [k + VBYTES * %4]
  %assign i 0
  %rep %1
    %assign chain i + CHAINS
    vcvtdq2ps m%[i], m%[i]                  ; exact: |I| is at most 32 * 127 * 127 = 516,128
    vbroadcastss m8, [q + 48 * (i + %2)]
    vmulps m8, m8, m9
    vfmadd231ps m%[chain], m%[i], m8
    %assign i i + 1
  %endrep
  add k, 64
  add q, 48 * %3 - 32
  dec t0
  jnz %%group
  sub k, t1
  sub q, t2
%%store:
  %assign i 0
  %rep %1
    %assign chain i + CHAINS
    vmulps m%[chain], m%[chain], m10
    vmovups [s + 1024 * (i + %2) + VBYTES * %4], m%[chain]
    %assign i i + 1
  %endrep
%endmacro

%macro ATTN_SCORE_Q8 1
path_begin %1
kern attn_score_q8, 6, 1, 16, q, k, s, groups, blocks, queries
  vbroadcastss m10, x0
  DOT_INIT i8
  %if ISA_512
    %assign CHAINS 16
  %else
    %assign CHAINS 4
  %endif
  imul t1, groups, 576
  lea t2, [groups + 2 * groups]
  imul t2, queries
  shl t2, 4                                 ; 48 * groups * queries
  test blocks, blocks
  jz .done
  BY_QUERIES
%assign queries_n 1
%rep MOST_QUERIES
.queries_%[queries_n]:
  %if ISA_512
    SCORE_VECTOR queries_n, 0, queries_n, 0
  %else
    %assign first_n queries_n
    %if queries_n > 4
      %assign first_n 4
    %endif
    SCORE_VECTOR first_n, 0, queries_n, 0
    SCORE_VECTOR first_n, 0, queries_n, 1
    %if queries_n > 4
      SCORE_VECTOR queries_n - 4, 4, queries_n, 0
      SCORE_VECTOR queries_n - 4, 4, queries_n, 1
    %endif
  %endif
  add k, t1
  add s, 64
  dec blocks
  jnz .queries_%[queries_n]
  kern_ret
  %assign queries_n queries_n + 1
%endrep
.done:
  kern_ret
kern_end
%endmacro

ATTN_SCORE_Q8 avx2
ATTN_SCORE_Q8 vnni
ATTN_SCORE_Q8 vnni8
ATTN_SCORE_Q8 avx512
