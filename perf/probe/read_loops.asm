; read_loops: loops that only read, the measure of what memory gives. No kernel of the list; perf alone calls them.
;   read_N: returns the exclusive or of all 64-bit words of p[bytes], so that no load can be left out; bytes is a
;   multiple of 512 (what is beyond the last whole 512 is not read); any alignment. N results are in flight.
;   read_N_ahead, read_N_pages: the same with the prefetches of the products (stream.inc), in order and by pages, so that nothing they
;   gain is theirs alone.
;   read_streams: the same in six places at once, each a sixth of all: a core follows several streams, and where one of them is
;   held up (a page's end, a line that is late) the others go on.
;
;   loads_N, loads_N_pages: the loads of a product in panels that are one stream (int8, int4 ...), N bytes of it at a time, and of
;   nothing else: w[bytes] with the products' prefetches, and for each N bytes ten or twenty broadcasts of x (32 bytes of it, again and
;   again: it lies in the first cache). Returns as read_N does; bytes is a multiple of 32.
;   loads_streams: the same of the products in streams (six_streams.inc): in six places at once, of which each asks ahead.
;   loads_f32: those of gemv_f32, four panels of cols columns at once, and x[cols].
;
; registers: m0..m(N-1) the words so far; m15 x, which nothing is done with
%include "six_streams.inc"
%include "stream.inc"

; m0..m(%1-1) = 0
%macro CLEAR 1
  %assign i 0
  %rep %1
    vpxor x%[i], x%[i], x%[i]
    %assign i i + 1
  %endrep
%endmacro

; [in, out] %1 ^= %2, a register or memory
%macro LOAD 2
  %if ISA_512
    vpxord %1, %1, %2
  %else
    vpxor %1, %1, %2
  %endif
%endmacro

; rax = the words of m0..m(%1-1) folded into one
%macro FOLD 1
  %assign i 1
  %rep %1 - 1
    LOAD m0, m%[i]
    %assign i i + 1
  %endrep
  %if ISA_512
    vextracti64x4 y1, m0, 1
    vpxor y0, y0, y1
  %endif
  vextracti128 x1, y0, 1                    ; the halves, and their two words
  vpxor x0, x0, x1
  vpshufd x1, x0, 0b01_00_11_10
  vpxor x0, x0, x1
  vmovq rax, x0
%endmacro

%macro READ_LOOP 2-3
path_begin %1
STREAM_ORDER %3, 8
kern read_%2%3, 2, 0, %2, p, bytes
  CLEAR %2
  and bytes, -512
  jz .fold
  add bytes, p
  STREAM_START p
.next:
  %assign i 0
  %rep 512 / VBYTES
    %assign a i % %2
    LOAD m%[a], [p + VBYTES * i]
    %assign i i + 1
  %endrep
  %ifnempty %3
    %assign i 0
    %rep 8
      STREAM_LINE p + 64 * i, i
      %assign i i + 1
    %endrep
    STREAM_TURN p
  %endif
  add p, 512
  cmp p, bytes
  jne .next
.fold:
  FOLD %2
  kern_ret
kern_end
%endmacro

%macro READ_STREAMS 1
path_begin %1
kern read_streams, 2, 0, 6, p, bytes, stop  ; stop is no argument: its register is free
  CLEAR 6
  and bytes, -512
  imul t0, bytes, 21845                     ; 21845 / 2^17 is just under a sixth
  shr t0, 17
  and t0, -64                               ; a stream, in bytes
  lea t1, [3 * t0]
  lea t2, [5 * t0]
  lea stop, [p + t0]                        ; of the first
  add bytes, p
  cmp p, stop
  je .rest
.turn:
  %assign i 0
  %rep 64 / VBYTES
    LOAD m0, [p + VBYTES * i]
    LOAD m1, [p + t0 + VBYTES * i]
    LOAD m2, [p + 2 * t0 + VBYTES * i]
    LOAD m3, [p + t1 + VBYTES * i]
    LOAD m4, [p + 4 * t0 + VBYTES * i]
    LOAD m5, [p + t2 + VBYTES * i]
    %assign i i + 1
  %endrep
  add p, 64
  cmp p, stop
  jne .turn
  add p, t2                                 ; the end of the sixth
.rest:
  cmp p, bytes
  je .fold
  %assign i 0
  %rep 64 / VBYTES
    LOAD m%[i], [p + VBYTES * i]
    %assign i i + 1
  %endrep
  add p, 64
  jmp .rest
.fold:
  FOLD 6
  kern_ret
kern_end
%endmacro

%macro READ_LOOPS 1
READ_LOOP %1, 1
READ_LOOP %1, 4
READ_LOOP %1, 8
READ_LOOP %1, 8, _ahead
READ_LOOP %1, 8, _pages
READ_STREAMS %1
%endmacro

READ_LOOPS avx2
READ_LOOPS avx512

path_begin avx2
kern loads_streams, 3, 0, 16, w, x, bytes
  CLEAR 12
  imul t0, bytes, 0x2aaa                    ; 0x2aaa / 2^16 is just under a sixth; as far as 2^47
  shr t0, 16
  and t0, -64                               ; a stream, in bytes
  lea t1, [w + t0]                          ; the end of the first
  add bytes, w
  cmp w, t1
  je .rest
.turn:
  vbroadcastss m15, [x]
  vbroadcastss m14, [x + 16]
  %assign k 0
  %rep 6
    STREAMS_ON k, w, t0
    %assign a k % 3
    %assign i 2 * k
    LOAD m%[i], [w + a * t0]
    %assign i 2 * k + 1
    LOAD m%[i], [w + a * t0 + VBYTES]
    STREAMS_LINE w + a * t0
    %assign k k + 1
  %endrep
  STREAMS_BACK 6, w, t0
  add w, 64
  cmp w, t1
  jne .turn
  lea w, [w + 4 * t0]
  add w, t0
.rest:
  cmp w, bytes
  jae .fold
  LOAD m0, [w]
  add w, 32
  jmp .rest
.fold:
  FOLD 12
  kern_ret
kern_end

%macro LOADS 3-4
path_begin %1
STREAM_ORDER %4, %2 / 64
kern loads_%2%4, 3, 0, 16, w, x, bytes
  CLEAR 8
  add bytes, w
  STREAM_START w
  lea t2, [bytes - %2]                      ; the last place of a whole turn
  cmp w, t2
  ja .rest
.turn:
  %assign i 0
  %rep %2 / VBYTES
    %assign a i % 8
    LOAD m%[a], [w + VBYTES * i]
    %assign i i + 1
  %endrep
  %assign i 0
  %rep %3
    vbroadcastss m15, [x + 4 * (i % 8)]
    %assign i i + 1
  %endrep
  %assign i 0
  %rep %2 / 64
    STREAM_LINE w + 64 * i, i
    %assign i i + 1
  %endrep
  STREAM_TURN w
  add w, %2
  cmp w, t2
  jbe .turn
.rest:
  cmp w, bytes
  je .fold
  vmovdqu y15, [w]
  LOAD m0, m15
  add w, 32
  jmp .rest
.fold:
  FOLD 8
  kern_ret
kern_end
%endmacro

; %1 panels at w, which moves on by one
%macro LOAD_COLUMNS 1
  mov t0, cols
  test t0, t0
  jz %%done
%%column:
  vbroadcastss m15, [x + 4 * t0]
  %assign v 0
  %rep PANEL_VECS
    %assign i v
    LOAD m%[i], [w + VBYTES * v]
    %if %1 == 4
      %assign i v + PANEL_VECS
      LOAD m%[i], [w + t1 + VBYTES * v]
      %assign i v + 2 * PANEL_VECS
      LOAD m%[i], [w + 2 * t1 + VBYTES * v]
      %assign i v + 3 * PANEL_VECS
      LOAD m%[i], [w + t2 + VBYTES * v]
    %endif
    %assign v v + 1
  %endrep
  add w, 64
  inc t0
  jnz %%column
%%done:
%endmacro

%macro LOADS_F32 1
path_begin %1
kern loads_f32, 4, 0, 16, w, x, cols, panels
  CLEAR 8
  lea x, [x + 4 * cols]
  mov t1, cols
  shl t1, 6
  lea t2, [3 * t1]
  neg cols
  sub panels, 4
  jb .rest
.four:
  LOAD_COLUMNS 4
  add w, t2
  sub panels, 4
  jae .four
.rest:
  add panels, 4
  jz .fold
.one:
  LOAD_COLUMNS 1
  dec panels
  jnz .one
.fold:
  FOLD 8
  kern_ret
kern_end
%endmacro

%macro ALL_LOADS 1
LOADS %1, 512, 10                           ; q8: a group's 32 bytes of x by four, its scale, its sum
LOADS %1, 512, 10, _pages
LOADS %1, 576, 20                           ; q4: two groups'
LOADS %1, 576, 20, _pages
LOADS_F32 %1
%endmacro

ALL_LOADS avx2
ALL_LOADS avx512
