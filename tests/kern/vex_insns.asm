; vex_insns.asm - VPDPBUSD of vex.inc with every register and every form of address, in the order of vex_test.cpp. Never run.
%include "vex.inc"
section .note.GNU-stack noalloc noexec nowrite progbits
section .text
%define G0 rax
%define G1 rcx
%define G2 rdx
%define G3 rbx
%define G4 rsp
%define G5 rbp
%define G6 rsi
%define G7 rdi
%define G8 r8
%define G9 r9
%define G10 r10
%define G11 r11
%define G12 r12
%define G13 r13
%define G14 r14
%define G15 r15

global nyb_vex_insns:data
global nyb_vex_insns_end:data
nyb_vex_insns:
%assign d 0
%rep 16
  %assign u 0
  %rep 16
    %assign s 0
    %rep 16
      VPDPBUSD ymm%[d], ymm%[u], ymm%[s]
      %assign s s + 1
    %endrep
    %assign u u + 1
  %endrep
  %assign d d + 1
%endrep

%macro all_bases 1                              ; displacement
  %assign b 0
  %rep 16
    VPDPBUSD ymm9, ymm3, G%[b], %1
    VPDPBUSD ymm2, ymm12, G%[b], %1
    %assign b b + 1
  %endrep
%endmacro
all_bases 0
all_bases 8
all_bases -128
all_bases 127
all_bases 128
all_bases -129
all_bases 65536

%macro all_indexes 2                            ; displacement, scale
  %assign b 0
  %rep 16
    %assign x 0
    %rep 16
      %if x != 4
        VPDPBUSD ymm10, ymm5, G%[b], %1, G%[x], %2
      %endif
      %assign x x + 1
    %endrep
    %assign b b + 1
  %endrep
%endmacro
%macro all_scales 1
  all_indexes %1, 1
  all_indexes %1, 2
  all_indexes %1, 4
  all_indexes %1, 8
%endmacro
all_scales 0
all_scales -32
all_scales 4096
nyb_vex_insns_end:
