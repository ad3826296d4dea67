; attn_score_f32, attn_score_f16, and _pages of both: scores of 1 to 8 queries that share a KV head, against blocks of sixteen
; positions.
;   s[256 * i + 16 * b + t] = (chain over d of fma(q[d][i], k[b][d][t], acc) from +0) * scale,  i < queries
;   k is [blocks][head_dim][16], f32 or f16; q is [head_dim][queries]; blocks at most 16. head_dim and blocks may be 0 (head_dim
;   0: the scores are +0 * scale). s overlaps neither. Any alignment; nothing outside these elements is touched.
;
; Lanes are positions, so a chain is one query's and one position's, and as long as head_dim. Row d of a block is read once and
; meets q[d] of all queries; eight chains or more hide fma's 4 cycles on two ports:
;
;   queries             1    2    3    4 5 6   7 8
;   vectors, 8 lanes    8    4    4    2       1 (a half of the block after the other)      two vectors are a block
;   vectors, 16 lanes   8    4    4    4       2                                            a vector is a block
;
; What is left over goes in halves of that, down to one block.
;
;   tile of blocks:    k          k + B      k + 2B     k + 3B     then the same from k4 = k + 4B;  B = bytes of a block
;   step d reads       row d      row d      row d      row d      (64 bytes of f32 or 32 of f16), k and k4 move on by one
;
; The _pages forms ask for the keys that follow, by pages (stream.inc); the others leave memory to the caches' own prefetchers. With
; one query they take four vectors at once: reading is what they wait for, and `ask` needs the register.
;
; registers: m4-m15 (m4-m27) chains, query by query; m0-m3 (and m29) the row and q[d], see SCORE_TILE; m0 the scale at the end, before
;            that in m31 or, on 8 lanes, in k4; t0 what is left of head_dim; t1 B; t2 3B; k4 (r9) the tile's fifth block, on 16 lanes;
;            ask what is asked for: r9, or t2 on 8 lanes
%include "abi.inc"
%include "isa.inc"
%include "queries.inc"
%include "stream.inc"
%define k4 r9                               ; is `queries` until they are known
%define k4d r9d

; m%1 = vector %2 of step d's rows, as f32: vector 0 is the tile's first, 1 a half of a block after the other. %3 f32 or f16
%macro LOAD_KEYS 3
  %assign block (%2) / PANEL_VECS
  %assign row_at ((%2) % PANEL_VECS) * ROW / PANEL_VECS
  %if block >= 4
    %define base k4
  %else
    %define base k
  %endif
  %if block % 4 == 3
    %define row_base base + t2
  %elif block % 4
    %define row_base base + (block % 4) * t1
  %else
    %define row_base base
  %endif
  %ifidn %3, f16
    vcvtph2ps m%1, [row_base + row_at]      ; an f16 is always an f32: the conversion is exact, subnormals included
  %else
    vmovups m%1, [row_base + row_at]
  %endif
%endmacro

; %1 queries against %2 vectors from k on; k and s then stand at what follows them. %3 0, or 1: the second half of a block whose
; first came just before. %4 type
%macro SCORE_TILE 4
  %assign i 4
  %rep (%1) * (%2)
    vxorps x%[i], x%[i], x%[i]
    %assign i i + 1
  %endrep
  %if %2 > 4 * PANEL_VECS
    lea k4, [k + 4 * t1]
  %endif
  mov t0, head_dim
  test t0, t0
  jz %%store
%%dim:
  ; whichever are fewer, q[d] or vectors, stay in registers while the others pass
  %if %1 < %2
    %assign i 0
    %rep %1
      vbroadcastss m%[i], [q + 4 * i]
      %assign i i + 1
    %endrep
    %assign j 0
    %rep %2
      LOAD_KEYS 3, j + %3, %4
      %assign i 0
      %rep %1
        %assign chain 4 + i * (%2) + j
        vfmadd231ps m%[chain], m%[i], m3
        %assign i i + 1
      %endrep
      %assign j j + 1
    %endrep
  %else
    %assign j 0
    %rep %2
      LOAD_KEYS j, j + %3, %4
      %assign j j + 1
    %endrep
    %assign i 0
    %rep %1
      %assign query 3 + 26 * ISA_512
      vbroadcastss m%[query], [q + 4 * i]
      %assign j 0
      %rep %2
        %assign chain 4 + i * (%2) + j
        vfmadd231ps m%[chain], m%[query], m%[j]
        %assign j j + 1
      %endrep
      %assign i i + 1
    %endrep
  %endif
  add k, ROW
  %if %2 > 4 * PANEL_VECS
    add k4, ROW
  %endif
  add q, 4 * (%1)
  %if stream_pages
    STREAM_LOT ask, (%2) * VBYTES * ROW / 64
  %endif
  dec t0
  jnz %%dim
%%store:
  imul t0, head_dim, 4 * (%1)
  sub q, t0
  ; the scale is a product of its own, after the chain
  %if ISA_512
    vmovaps m0, m31
  %else
    vmovd x0, k4d
    vbroadcastss m0, x0
  %endif
  %assign i 0
  %rep %1
    %assign j 0
    %rep %2
      %assign chain 4 + i * (%2) + j
      vmulps m%[chain], m%[chain], m0
      vmovups [s + 1024 * i + VBYTES * (j + %3)], m%[chain]
      %assign j j + 1
    %endrep
    %assign i i + 1
  %endrep
  ; k has moved on by one block itself
  %if %2 == 8 * PANEL_VECS
    lea k, [k4 + t2]
  %elif %2 == 4 * PANEL_VECS
    add k, t2
  %elif %2 == 2 * PANEL_VECS
    add k, t1
  %elif (%2 < PANEL_VECS) && (%3 == 0)
    sub k, t1                               ; back, for the other half
  %endif
  %if %2 + %3 >= PANEL_VECS
    add s, 64 * ((%2 + %3) / PANEL_VECS)
  %endif
%endmacro

; %1 path, %2 f32 or f16, %3 order (nothing or _pages)
%macro ATTN_SCORE 2-3
path_begin %1
STREAM_ORDER %3, 8
%if stream_pages
  %assign most_vectors 4
%else
  %assign most_vectors 8
%endif
%if ISA_512
  %define ask r9                            ; not k4: no tile has a fifth block
%else
  %define ask t2                            ; r9 holds the scale
%endif
%ifidn %2, f16
  %assign ROW 32
%else
  %assign ROW 64
%endif
kern attn_score_%2%3, 6, 1, 16, q, k, s, head_dim, blocks, queries
  BY_QUERIES
%assign queries_n 1
%rep MOST_QUERIES
.queries_%[queries_n]:
  %if stream_pages
    STREAM_START k
    mov ask, t1
  %endif
  imul t1, head_dim, ROW                    ; B
  %if ISA_512 || !stream_pages              ; else no tile has four blocks
    lea t2, [t1 + 2 * t1]                   ; 3B: with 1, 2 and 3 of them, every block of four is one addressing mode away
  %endif
  %if ISA_512
    vbroadcastss m31, x0
    AT_ONCE queries_n, most_vectors, 4, 4, 2
  %else
    vmovd k4d, x0
    AT_ONCE queries_n, most_vectors, 4, 2, 1
  %endif
  %if at_once < PANEL_VECS
    test blocks, blocks
    jz .done
.half_%[queries_n]:
    SCORE_TILE queries_n, 1, 0, %2
    SCORE_TILE queries_n, 1, 1, %2
    dec blocks
    jnz .half_%[queries_n]
  %else
    %rep 4                                  ; at_once, then half of it, and so on
      %if at_once >= PANEL_VECS
.tile_%[queries_n]_%[at_once]:
    cmp blocks, at_once / PANEL_VECS
    jb .less_%[queries_n]_%[at_once]
    SCORE_TILE queries_n, at_once, 0, %2
    sub blocks, at_once / PANEL_VECS
    jmp .tile_%[queries_n]_%[at_once]
.less_%[queries_n]_%[at_once]:
      %endif
      %assign at_once at_once / 2
    %endrep
  %endif
  kern_ret
  %assign queries_n queries_n + 1
%endrep
.done:
  kern_ret
kern_end
%endmacro

ATTN_SCORE avx2, f32
ATTN_SCORE avx512, f32
ATTN_SCORE avx2, f16
ATTN_SCORE avx512, f16
ATTN_SCORE avx2, f32, _pages
ATTN_SCORE avx512, f32, _pages
ATTN_SCORE avx2, f16, _pages
ATTN_SCORE avx512, f16, _pages
