# The kernels: every asm/*.asm becomes one object that holds each path's body. The objects of the Win64 calling convention
# (ELF, for the tests to call) and of the Win64 object format (assembled, never linked here) come from the same sources.
file(GLOB NYB_ASM CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/asm/*.asm)
file(GLOB NYB_INC CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/macros/*.inc)
# nasm -MD leaves out included files, so the macros are named as dependencies
set_source_files_properties(${NYB_ASM} PROPERTIES OBJECT_DEPENDS "${NYB_INC}")
set(NYB_NASM_FLAGS -w+all -I${CMAKE_SOURCE_DIR}/macros/)
if(NYB_WERROR)
  list(APPEND NYB_NASM_FLAGS -Werror)
endif()

add_library(nyb_asm OBJECT ${NYB_ASM})
target_compile_options(nyb_asm PRIVATE ${NYB_NASM_FLAGS} -g -F dwarf)
add_library(nyb_asm_ms OBJECT EXCLUDE_FROM_ALL ${NYB_ASM})
target_compile_options(nyb_asm_ms PRIVATE ${NYB_NASM_FLAGS} -DNYB_MS_ABI)

set(NYB_WIN64)
foreach(src ${NYB_ASM})
  get_filename_component(name ${src} NAME_WE)
  set(obj ${CMAKE_BINARY_DIR}/win64/${name}.obj)
  add_custom_command(OUTPUT ${obj}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/win64
    COMMAND ${CMAKE_ASM_NASM_COMPILER} -f win64 ${NYB_NASM_FLAGS} -o ${obj} ${src}
    DEPENDS ${src} ${NYB_INC} VERBATIM)
  list(APPEND NYB_WIN64 ${obj})
endforeach()
add_custom_target(nyb_asm_win64 DEPENDS ${NYB_WIN64})
