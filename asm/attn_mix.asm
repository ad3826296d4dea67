; attn_mix_f32, attn_mix_f16, and _pages of both, and attn_mix_q8: values weighted by the softmax's numerators, for 1 to 8 queries
; that share a KV head.
;   o[i][d] = chain over t = 0..n-1 of fma(p[256 * i + t], v[t][d], o[i][d]), from what o holds;  i < queries
;   v is [n][width], f32 or f16, width a multiple of 16; or of int8 in groups of 32, [n][width / 32] of an f32 scale and 32 bytes,
;   and v[t][d] is the product of both. o is [queries][width]; n at most 256. n and width may be 0. o overlaps neither. Any
;   alignment; nothing outside these elements is touched.
;
; Lanes are dimensions, so a chain is one query's and one dimension's, and as long as n. A vector of a row of v is read once and
; meets p[t] of all queries; eight chains or more hide fma's 4 cycles on two ports, and the more vectors at once, the more of
; a row is read in one go:
;
;   queries             1    2    3    4 5 6   7 8
;   vectors, 8 lanes    8    4    4    2       1
;   vectors, 16 lanes   8    8    8    4       2
;   int8,     8 lanes   4    4    2    2       1            its scale needs a register; parts of a group one after the other
;
; What is left over of the width goes in halves of that. A pass reads a part of each row only, which caches' own prefetchers do not
; follow: it asks for the same part of later rows (stream.inc). The _pages forms ask for whole rows further on instead, by pages, in
; each pass for as much as it reads: with n rows in the first cache, the later passes wait for nothing.
;
; registers: m4-m15 (m4-m27) chains, query by query; m0-m3 (m28-m31 as well) p[t] and values, see MIX_TILE
;            t0 t; t1 the place in v; t2 bytes of a row of v; row bytes of a row of o, in f32 and f16 a
;            multiple of t2; ask (r9, as row) what is asked for by pages
%include "abi.inc"
%include "isa.inc"
%include "queries.inc"
%include "stream.inc"
%define row r9                              ; is `queries` until they are known

; m%1 = vector %2 of the row at t1, as f32. %3 type. [clobbered] q8 on 8 lanes: m3, or m2 where m3 is the result
%macro LOAD_VALUES 3
  %ifidn %3, f16
    vcvtph2ps m%1, [t1 + VBYTES / 2 * (%2)] ; an f16 is always an f32: the conversion is exact, subnormals included
  %elifidn %3, q8
    %assign group_at 36 * ((%2) * LANES / 32)
    vpmovsxbd m%1, [t1 + group_at + 4 + (%2) * LANES % 32]
    vcvtdq2ps m%1, m%1
    %if ISA_512
      vmulps m%1, m%1, [t1 + group_at] {1to16}
    %elif %1 == 3
      vbroadcastss m2, [t1 + group_at]
      vmulps m%1, m%1, m2
    %else
      vbroadcastss m3, [t1 + group_at]
      vmulps m%1, m%1, m3
    %endif
  %else
    vmovups m%1, [t1 + VBYTES * (%2)]
  %endif
%endmacro

; The chains from o's rows (%3 from) or to them (to). %1 queries, %2 vectors. [clobbered] t0
%macro MIX_ROWS 3
  mov t0, o
  %assign i 0
  %rep %1
    %assign j 0
    %rep %2
      %assign chain 4 + i * (%2) + j
      %ifidn %3, from
        vmovups m%[chain], [t0 + VBYTES * j]
      %else
        vmovups [t0 + VBYTES * j], m%[chain]
      %endif
      %assign j j + 1
    %endrep
    O_NEXT
    %assign i i + 1
  %endrep
%endmacro

; %1 queries, %2 vectors of dimensions; v, o and width then stand at what is left. %3 type. %4 q8: the vector of its group that is
; the first (v moves on with the last), else 0
%macro MIX_TILE 4
  MIX_ROWS %1, %2, from
  mov t1, v
  xor t0d, t0d
  jmp %%test
%%position:
  ; whichever are fewer, p[t] or vectors, stay in registers while the others pass
  %if %1 < %2
    %assign i 0
    %rep %1
      vbroadcastss m%[i], [p + 4 * t0 + 1024 * i]
      %assign i i + 1
    %endrep
    %assign j 0
    %rep %2
      LOAD_VALUES 3, j + %4, %3
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
      %assign value j + 28 * ISA_512
      LOAD_VALUES value, j + %4, %3
      %assign j j + 1
    %endrep
    %assign i 0
    %rep %1
      vbroadcastss m3, [p + 4 * t0 + 1024 * i]
      %assign j 0
      %rep %2
        %assign chain 4 + i * (%2) + j
        %assign value j + 28 * ISA_512
        vfmadd231ps m%[chain], m3, m%[value]
        %assign j j + 1
      %endrep
      %assign i i + 1
    %endrep
  %endif
  %if stream_pages
    STREAM_LOT ask, (%2) * LANES * ELEM
  %else
    %assign line 0
    %rep ((%2) * LANES * PER_8 / 8 + 63) / 64 ; as much of a later row
      STREAM_AHEAD t1 + line
      %assign line line + 64
    %endrep
  %endif
  add t1, t2                                ; down one row of v
  inc t0
%%test:
  cmp t0, n
  jb %%position
  MIX_ROWS %1, %2, to
  %ifidn %3, q8
    %assign groups_passed (%2 + %4) * LANES / 32
    %if groups_passed
      add v, 36 * groups_passed
    %endif
  %else
    add v, ELEM * LANES * (%2)
  %endif
  add o, VBYTES * (%2)
  sub width, LANES * (%2)
%endmacro

; %1 path, %2 f32, f16 or q8, %3 order (nothing or, but for q8, _pages)
%macro ATTN_MIX 2-3
path_begin %1
STREAM_ORDER %3, 8
%define ask r9
%ifidn %2, f32                              ; down one row of o
  %define O_NEXT add t0, t2
%elifidn %2, f16
  %define O_NEXT lea t0, [t0 + 2 * t2]
%else
  %define O_NEXT add t0, row
%endif
%ifidn %2, q8
  %assign UNIT 32                           ; dimensions: the width is a multiple of it
%else
  %assign UNIT 16
%endif
%ifidn %2, q8
  %assign PER_8 9                           ; bytes of eight dimensions
%elifidn %2, f16
  %assign PER_8 16
%else
  %assign PER_8 32
%endif
%ifidn %2, f16
  %assign ELEM 2
%else
  %assign ELEM 4
%endif
kern attn_mix_%2%3, 6, 0, 16, p, v, o, n, width, queries
  BY_QUERIES
%assign queries_n 1
%rep MOST_QUERIES
.queries_%[queries_n]:
  %if stream_pages
    STREAM_START v
    mov ask, t1
  %endif
  %ifidn %2, q8
    lea t2, [width + 8 * width]             ; 36 bytes for 32 dimensions
    shr t2, 3
    lea row, [4 * width]
  %else
    imul t2, width, ELEM
  %endif
  %if ISA_512
    AT_ONCE queries_n, 8, 8, 4, 2
  %else
    AT_ONCE queries_n, 8, 4, 2, 1
    %ifidn %2, q8
      AT_ONCE queries_n, 4, 4 - 2 * (queries_n == 3), 2, 1
    %endif
  %endif
  %if at_once * LANES <= UNIT               ; parts of a unit one after the other
.unit_%[queries_n]:
  cmp width, UNIT
  jb .all_%[queries_n]
    %assign part 0
    %rep UNIT / (at_once * LANES)
  MIX_TILE queries_n, at_once, %2, part * (UNIT == 32)
      %assign part part + at_once
    %endrep
  jmp .unit_%[queries_n]
.all_%[queries_n]:
  %else
    %rep 4                                  ; at_once, then half of it, and so on
      %if at_once * LANES >= UNIT
.tile_%[queries_n]_%[at_once]:
  cmp width, LANES * at_once
  jb .less_%[queries_n]_%[at_once]
  MIX_TILE queries_n, at_once, %2, 0
  jmp .tile_%[queries_n]_%[at_once]
.less_%[queries_n]_%[at_once]:
      %endif
      %assign at_once at_once / 2
    %endrep
  %endif
  kern_ret
  %assign queries_n queries_n + 1
%endrep
kern_end
%endmacro

ATTN_MIX avx2, f32
ATTN_MIX avx512, f32
ATTN_MIX avx2, f16
ATTN_MIX avx512, f16
ATTN_MIX avx2, q8
ATTN_MIX avx512, q8
ATTN_MIX avx2, f32, _pages
ATTN_MIX avx512, f32, _pages
ATTN_MIX avx2, f16, _pages
ATTN_MIX avx512, f16, _pages
