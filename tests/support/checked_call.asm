; checked_call.asm - calls a function with every register filled, and records every register behind it.
;
;   nyb_checked_run()      uses and fills nyb_checked_state (struct State of checked_call.cpp; the offsets below are checked there)
;   nyb_checked_recover    where the fault handler resumes: the same way out, with .returned left 0
;
; The state lies at a fixed address, so that nothing has to survive in a register or on the stack of the function called.

%define FN 0            ; the function
%define STACK 8         ; rsp before the call
%define RETURNED 16     ; 1 after a return
%define VECTORS 20      ; 0: xmm0-15, 1: ymm0-15, 2: zmm0-31 and k0-7
%define XINUSE_OK 24    ; xgetbv with ecx = 1 may be used
%define MXCSR_IN 28
%define MXCSR_OUT 32
%define XINUSE 36
%define FLAGS 40
%define FPU 48          ; fnstenv, 28 bytes
%define GPR_IN 128      ; rax rcx rdx rbx rsp rbp rsi rdi r8..r15; the rsp of GPR_IN is not used
%define GPR_OUT 256
%define K_IN 384
%define K_OUT 448
%define VEC_IN 512
%define VEC_OUT 2560
%define STATE_SIZE 4608

default rel
section .note.GNU-stack noalloc noexec nowrite progbits

section .bss align=64
global nyb_checked_state:data (STATE_SIZE)
nyb_checked_state: resb STATE_SIZE
own_rsp: resq 1
own_mxcsr: resd 1

%define S nyb_checked_state

section .text
global nyb_checked_run:function
global nyb_checked_recover:function

; %1: 0 loads from VEC_IN and K_IN, 1 stores to VEC_OUT and K_OUT
%macro all_vectors 1
  cmp dword [S + VECTORS], 1
  je %%ymm
  ja %%zmm
  %assign i 0
  %rep 16
    %if %1
      movups [S + VEC_OUT + 64 * i], xmm%[i]
    %else
      movups xmm%[i], [S + VEC_IN + 64 * i]
    %endif
    %assign i i + 1
  %endrep
  jmp %%done
%%ymm:
  %assign i 0
  %rep 16
    %if %1
      vmovups [S + VEC_OUT + 64 * i], ymm%[i]
    %else
      vmovups ymm%[i], [S + VEC_IN + 64 * i]
    %endif
    %assign i i + 1
  %endrep
  jmp %%done
%%zmm:
  %assign i 0
  %rep 32
    %if %1
      vmovups [S + VEC_OUT + 64 * i], zmm%[i]
    %else
      vmovups zmm%[i], [S + VEC_IN + 64 * i]
    %endif
    %assign i i + 1
  %endrep
  %assign i 0
  %rep 8
    %if %1
      kmovq [S + K_OUT + 8 * i], k%[i]
    %else
      kmovq k%[i], [S + K_IN + 8 * i]
    %endif
    %assign i i + 1
  %endrep
%%done:
%endmacro

; %1: GPR_IN loads, GPR_OUT stores all but rax and rsp
%macro all_gprs 1
  %assign i 1
  %rep 15
    %if i != 4
      %if %1 = GPR_IN
        mov NAME%[i], [S + GPR_IN + 8 * i]
      %else
        mov [S + GPR_OUT + 8 * i], NAME%[i]
      %endif
    %endif
    %assign i i + 1
  %endrep
%endmacro
%define NAME1 rcx
%define NAME2 rdx
%define NAME3 rbx
%define NAME5 rbp
%define NAME6 rsi
%define NAME7 rdi
%define NAME8 r8
%define NAME9 r9
%define NAME10 r10
%define NAME11 r11
%define NAME12 r12
%define NAME13 r13
%define NAME14 r14
%define NAME15 r15

nyb_checked_run:
  endbr64
  push rbx
  push rbp
  push r12
  push r13
  push r14
  push r15
  mov [own_rsp], rsp
  stmxcsr [own_mxcsr]
  mov dword [S + RETURNED], 0
  all_vectors 0
  ldmxcsr [S + MXCSR_IN]
  mov rsp, [S + STACK]
  all_gprs GPR_IN
  mov rax, [S + GPR_IN]
  call [S + FN]
  mov dword [S + RETURNED], 1
nyb_checked_recover:
  mov [S + GPR_OUT], rax
  mov [S + GPR_OUT + 32], rsp
  all_gprs GPR_OUT
  mov rsp, [own_rsp]
  pushfq
  pop qword [S + FLAGS]
  cld
  stmxcsr [S + MXCSR_OUT]
  ldmxcsr [own_mxcsr]
  fnstenv [S + FPU]
  fninit
  cmp dword [S + XINUSE_OK], 0
  je .stored
  mov ecx, 1
  xgetbv
  mov [S + XINUSE], eax
.stored:
  all_vectors 1
  cmp dword [S + VECTORS], 0
  je .sse
  vzeroupper
.sse:
  pop r15
  pop r14
  pop r13
  pop r12
  pop rbp
  pop rbx
  ret

; A function that does nothing but leave the upper halves clean.
global nyb_checked_probe:function
nyb_checked_probe:
  endbr64
  vzeroupper
  ret
