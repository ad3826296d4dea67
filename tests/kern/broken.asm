; broken.asm - sums of two vectors, each with one fault that a check of the tests must catch (broken_test.cpp says which). Where a
; convention allows what another forbids, the same kernel is right in one of its two forms.
%include "abi.inc"
%include "isa.inc"

section .rodata
one_ulp: dd 0, 0, 0, 0, 0, 1, 0, 0
round_down: dd 0x3F80

path_begin avx2

; y = a + b; t0 is n afterwards
%macro add_vectors 0
  xor t0d, t0d
  sub n, LANES
  jl .tail
.vector:
  vmovups m0, [a + 4 * t0]
  vaddps m0, m0, [b + 4 * t0]
  vmovups [y + 4 * t0], m0
  add t0, LANES
  cmp t0, n
  jle .vector
.tail:
  add n, LANES
  jmp .tail_test
.one:
  vmovss x0, [a + 4 * t0]
  vaddss x0, x0, [b + 4 * t0]
  vmovss [y + 4 * t0], x0
  inc t0
.tail_test:
  cmp t0, n
  jl .one
%endmacro

; kern_ret with %1 in place of the return
%macro kern_ret_with 1+
  vzeroupper
%ifdef NYB_MS_ABI
  mov rdi, [rsp + 16 * abi_save_x]
  mov rsi, [rsp + 16 * abi_save_x + 8]
  add rsp, abi_frame
%endif
  %1
%endmacro

; A right sum with the instruction %2 after it: broken_%1.
%macro after_sum 2+
kern broken_%1, 4, 0, 1, a, b, y, n
  add_vectors
  %2
  kern_ret
kern_end
%endmacro

; A right sum that returns by the instruction %2.
%macro instead_of_ret 2+
kern broken_%1, 4, 0, 1, a, b, y, n
  add_vectors
  kern_ret_with %2
  ret
kern_end
%endmacro

after_sum nothing, nop                          ; the right one
after_sum rbx, mov rbx, n
after_sum rbp, xor ebp, ebp
after_sum r12, inc r12
after_sum r13, mov r13d, r13d                   ; only the upper half
after_sum r14, mov r14b, 1                      ; only the low byte
after_sum r15, not r15
after_sum xmm6, vxorps xmm6, xmm6, xmm6         ; Win64 preserves it
after_sum xmm15, vmovss xmm15, xmm15, xmm0
instead_of_ret rdi, mov edi, 5                  ; Win64 preserves it
instead_of_ret rsi, mov esi, 5

after_sum write_past, mov byte [y + 4 * n], 0
after_sum write_before, mov byte [y - 1], 0
after_sum read_past, mov t0b, [a + 4 * n]
after_sum read_before, mov t0b, [b - 1]
after_sum mxcsr, ldmxcsr [round_down]
after_sum direction, std
after_sum x87, fld1
after_sum mmx, movd mm0, t0d                    ; no emms
after_sum ud2, ud2
after_sum null, mov t0d, [abs 0]

; One instruction cannot do these.
%macro push_far 0
  sub rsp, 512
  mov [rsp], t0
  add rsp, 512
%endmacro
after_sum stack_below, push_far                 ; fine on Win64, where the kernel's frame has unwind codes of its own
after_sum red_zone, mov [rsp - 128], t0         ; fine on System V; Win64 has none, but nothing can see it
%ifdef NYB_MS_ABI
instead_of_ret home_space, mov [rsp + 8 + 24], t0   ; the callee's own
instead_of_ret canary, mov [rsp + 8 + 32], t0
%else
instead_of_ret home_space, nop
instead_of_ret canary, mov [rsp + 8], t0
%endif
instead_of_ret ret_8, ret 8
instead_of_ret lost_return, push t0             ; and so returns to n

%macro divide 0
  xor ecx, ecx
  div ecx
%endmacro
after_sum divide, divide

%macro write_input 0
  test n, n
  jz .none
  mov t0d, [a]
  mov [a], t0d                                  ; the same value
.none:
%endmacro
after_sum write_input, write_input

kern broken_upper, 4, 0, 1, a, b, y, n          ; no vzeroupper
  add_vectors
%ifdef NYB_MS_ABI
  mov rdi, [rsp + 16 * abi_save_x]
  mov rsi, [rsp + 16 * abi_save_x + 8]
  add rsp, abi_frame
%endif
  ret
kern_end

kern broken_zeroed_gpr, 4, 0, 1, a, b, y, n     ; takes t0 for zero
  jmp .test
.one:
  vmovss x0, [a + 4 * t0]
  vaddss x0, x0, [b + 4 * t0]
  vmovss [y + 4 * t0], x0
  inc t0
.test:
  cmp t0, n
  jl .one
  test n, n
  jz .none
  mov t1d, [a + 4 * t0 - 4]
.none:
  kern_ret
kern_end

kern broken_zeroed_vector, 4, 0, 4, a, b, y, n  ; takes m3 for zero
  xor t0d, t0d
  jmp .test
.one:
  vaddss x0, x3, [a + 4 * t0]
  vaddss x0, x0, [b + 4 * t0]
  vmovss [y + 4 * t0], x0
  inc t0
.test:
  cmp t0, n
  jl .one
  kern_ret
kern_end

kern broken_clean_upper, 4, 0, 3, a, b, y, n    ; takes the upper half of m2 for equal to what a whole load would bring
  xor t0d, t0d
  sub n, LANES
  jl .tail
.vector:
  movups x2, [a + 4 * t0]                       ; legacy encoding: bits 255:128 stay what they were
  vaddps m0, m2, [b + 4 * t0]
  vmovups [y + 4 * t0], m0
  add t0, LANES
  cmp t0, n
  jle .vector
.tail:
  add n, LANES
  jmp .test
.one:
  vmovss x0, [a + 4 * t0]
  vaddss x0, x0, [b + 4 * t0]
  vmovss [y + 4 * t0], x0
  inc t0
.test:
  cmp t0, n
  jl .one
  kern_ret
kern_end

kern broken_narrow, 4, 0, 1, a, b, y, n         ; for a 32-bit n: uses all 64 bits
  add_vectors
  kern_ret
kern_end

kern broken_one_lane, 4, 0, 1, a, b, y, n       ; the last bit of lane 5
  xor t0d, t0d
  sub n, LANES
  jl .tail
.vector:
  vmovups m0, [a + 4 * t0]
  vaddps m0, m0, [b + 4 * t0]
  vpxor m0, m0, [one_ulp]
  vmovups [y + 4 * t0], m0
  add t0, LANES
  cmp t0, n
  jle .vector
.tail:
  add n, LANES
  jmp .test
.one:
  vmovss x0, [a + 4 * t0]
  vaddss x0, x0, [b + 4 * t0]
  vmovss [y + 4 * t0], x0
  inc t0
.test:
  cmp t0, n
  jl .one
  kern_ret
kern_end

kern broken_tail, 4, 0, 1, a, b, y, n           ; leaves the last element out where one alone is left
  mov t1, n
  and t1, LANES - 1
  cmp t1, 1
  jne .all
  dec n
.all:
  add_vectors
  kern_ret
kern_end

kern broken_aliasing, 4, 0, 1, a, b, y, n       ; y = a, then y += b: wrong where y is b
  xor t0d, t0d
  jmp .copy_test
.copy:
  mov t1d, [a + 4 * t0]
  mov [y + 4 * t0], t1d
  inc t0
.copy_test:
  cmp t0, n
  jl .copy
  xor t0d, t0d
  jmp .test
.one:
  vmovss x0, [y + 4 * t0]
  vaddss x0, x0, [b + 4 * t0]
  vmovss [y + 4 * t0], x0
  inc t0
.test:
  cmp t0, n
  jl .one
  kern_ret
kern_end

kern broken_aligned, 4, 0, 1, a, b, y, n        ; wants aligned vectors
  xor t0d, t0d
  sub n, LANES
  jl .tail
.vector:
  vmovaps m0, [a + 4 * t0]
  vaddps m0, m0, [b + 4 * t0]
  vmovups [y + 4 * t0], m0
  add t0, LANES
  cmp t0, n
  jle .vector
.tail:
  add n, LANES
  jmp .test
.one:
  vmovss x0, [a + 4 * t0]
  vaddss x0, x0, [b + 4 * t0]
  vmovss [y + 4 * t0], x0
  inc t0
.test:
  cmp t0, n
  jl .one
  kern_ret
kern_end

; rsp changed between the prologue and a later fault must not matter to the handler
kern broken_stackless, 4, 0, 1, a, b, y, n
  xor esp, esp
  mov t0d, [abs 0]
  kern_ret
kern_end

path_begin avx512
kern broken_opmask, 4, 0, 1, a, b, y, n         ; takes k1 for all ones
  xor t0d, t0d
  jmp .test
.one:
  vmovss x0, [a + 4 * t0]
  vmovups x1, x0
  vaddss x1 {k1}, x0, [b + 4 * t0]
  vmovss [y + 4 * t0], x1
  inc t0
.test:
  cmp t0, n
  jl .one
  kern_ret
kern_end
