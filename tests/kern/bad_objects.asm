; bad_objects.asm - what the checks of the objects must refuse, a kernel a fault; its name says which. Never run.
section .note.GNU-stack noalloc noexec nowrite progbits

%macro dot_vnni8 0
  {vex} vpdpbssd ymm0, ymm1, ymm2
%endmacro

%macro bad 2+
global nyb_bad_%1_avx2:function (nyb_bad_%1_avx2.end - nyb_bad_%1_avx2)
align 64
nyb_bad_%1_avx2:
  endbr64
  %2
  ret
.end:
%endmacro

section .text.avx2 progbits alloc exec nowrite align=64
bad nothing, vaddps ymm0, ymm1, ymm2
bad evex_zmm, vaddps zmm0, zmm1, zmm2
bad evex_ymm16, vaddps ymm16, ymm1, ymm2
bad evex_dot, vpdpbusd ymm0, ymm1, ymm2         ; NASM 2.16 gives EVEX for it
bad evex_xmm, vmovdqu32 xmm1, xmm2
bad opmask, kmovw k1, eax                       ; VEX-coded, and still AVX-512
bad dot_vnni8, dot_vnni8
bad feature_bmi2, shlx eax, ecx, edx
bad feature_bmi1, tzcnt eax, ecx
bad feature_popcnt, popcnt eax, ecx
bad feature_gfni, vgf2p8mulb ymm0, ymm1, ymm2
bad approximate_rcp, vrcpps ymm0, ymm1
bad approximate_rsqrt, vrsqrtss xmm0, xmm1, xmm1
bad undecodable, db 0x06                        ; no instruction in 64-bit mode

; symbols
section .text.vnni progbits alloc exec nowrite align=64
global nyb_bad_size_vnni:function
nyb_bad_size_vnni:
  endbr64
  ret
align 64
global nyb_bad_type_vnni
nyb_bad_type_vnni:
  endbr64
  ret
align 64
global nyb_bad_endbr_vnni:function (nyb_bad_endbr_vnni.end - nyb_bad_endbr_vnni)
nyb_bad_endbr_vnni:
  xor eax, eax
  xor ecx, ecx
  ret
.end:
align 64
global nyb_bad_section_avx2:function (nyb_bad_section_avx2.end - nyb_bad_section_avx2)
nyb_bad_section_avx2:
  endbr64
  ret
.end:
  nop
global nyb_bad_aligned_vnni:function (nyb_bad_aligned_vnni.end - nyb_bad_aligned_vnni)
nyb_bad_aligned_vnni:
  endbr64
  ret
.end:
