; emu_insns.asm - instructions for the emulation's decoder, in the order of emu_test.cpp. Never run.
default rel
section .note.GNU-stack noalloc noexec nowrite progbits
section .text
global nyb_emu_insns:data
global nyb_emu_insns_end:data
global nyb_emu_data:data
nyb_emu_insns:
  {vex} vpdpbssd ymm0, ymm1, ymm2
  {vex} vpdpbssd ymm15, ymm14, ymm13
  {vex} vpdpbssd xmm8, xmm7, xmm6
  {vex} vpdpbssds ymm3, ymm4, ymm5
  {vex} vpdpbsud ymm3, ymm4, ymm5
  {vex} vpdpbuud ymm3, ymm4, ymm5
  {vex} vpdpbssd ymm9, ymm1, [rax]
  {vex} vpdpbssd ymm9, ymm1, [rsp]
  {vex} vpdpbssd ymm9, ymm1, [rbp]
  {vex} vpdpbssd ymm9, ymm1, [r12 - 64]
  {vex} vpdpbssd ymm9, ymm1, [r13 + 4096]
  {vex} vpdpbssd ymm9, ymm1, [rdi + 4 * r9 + 32]
  {vex} vpdpbssd ymm9, ymm1, [r8 * 8 + 128]
  {vex} vpdpbssd ymm9, ymm1, [nyb_emu_data + 16]
nyb_emu_insns_end:
nyb_emu_data: times 64 db 0
