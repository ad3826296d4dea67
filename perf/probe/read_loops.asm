; read_loops: loops that only read, the measure of what memory gives. No kernel of the list; perf alone calls them.
;   read_N: returns the exclusive or of all 64-bit words of p[bytes], so that no load can be left out; bytes is a
;   multiple of 512 (what is beyond the last whole 512 is not read); any alignment. N results are in flight.
;   read_N_ahead: the same with the prefetches of the products (stream.inc), so that nothing they gain is theirs alone.
;
; registers: m0..m(N-1) the words so far
%include "abi.inc"
%include "isa.inc"
%include "stream.inc"

%macro READ_LOOP 2-3
path_begin %1
kern read_%2%3, 2, 0, %2, p, bytes
  %assign i 0
  %rep %2
    vpxor x%[i], x%[i], x%[i]
    %assign i i + 1
  %endrep
  and bytes, -512
  jz .fold
  add bytes, p
.next:
  %assign i 0
  %rep 512 / VBYTES
    %assign a i % %2
    %if ISA_512
      vpxord m%[a], m%[a], [p + VBYTES * i]
    %else
      vpxor m%[a], m%[a], [p + VBYTES * i]
    %endif
    %assign i i + 1
  %endrep
  %ifnempty %3
    %assign i 0
    %rep 8
      STREAM_LINE p + 64 * i
      %assign i i + 1
    %endrep
    STREAM_PAGE p
  %endif
  add p, 512
  cmp p, bytes
  jne .next
.fold:
  %assign i 1
  %rep %2 - 1
    %if ISA_512
      vpxord m0, m0, m%[i]
    %else
      vpxor m0, m0, m%[i]
    %endif
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
  kern_ret
kern_end
%endmacro

%macro READ_LOOPS 1
READ_LOOP %1, 1
READ_LOOP %1, 4
READ_LOOP %1, 8
READ_LOOP %1, 8, _ahead
%endmacro

READ_LOOPS avx2
READ_LOOPS avx512
