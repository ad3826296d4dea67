# What test_kern links and reads besides its C++.

# kernels that the checks must catch, in both conventions
add_library(nyb_broken OBJECT ${CMAKE_CURRENT_LIST_DIR}/broken.asm)
target_compile_options(nyb_broken PRIVATE ${NYB_NASM_FLAGS})
add_library(nyb_broken_ms OBJECT ${CMAKE_CURRENT_LIST_DIR}/broken.asm)
target_compile_options(nyb_broken_ms PRIVATE ${NYB_NASM_FLAGS} -DNYB_MS_ABI)

# instructions that are read, never run
set(insns ${CMAKE_CURRENT_LIST_DIR}/emu_insns.asm ${CMAKE_CURRENT_LIST_DIR}/vex_insns.asm ${CMAKE_CURRENT_LIST_DIR}/bad_objects.asm)
add_library(nyb_insns OBJECT ${insns})
target_compile_options(nyb_insns PRIVATE -I${CMAKE_SOURCE_DIR}/macros/)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/broken.asm ${insns} PROPERTIES OBJECT_DEPENDS "${NYB_INC}")

target_sources(test_kern PRIVATE $<TARGET_OBJECTS:nyb_asm_ms> $<TARGET_OBJECTS:nyb_broken> $<TARGET_OBJECTS:nyb_broken_ms>
  $<TARGET_OBJECTS:nyb_insns>)
add_dependencies(test_kern nyb_asm_win64)

# the tests of the objects themselves find them in these lists
function(nyb_object_list kind paths)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/objects-${kind}.txt CONTENT "$<JOIN:${paths},\n>\n")
endfunction()
nyb_object_list(elf "$<TARGET_OBJECTS:nyb_asm>")
nyb_object_list(ms "$<TARGET_OBJECTS:nyb_asm_ms>")
nyb_object_list(win64 "${NYB_WIN64}")
nyb_object_list(insns "$<TARGET_OBJECTS:nyb_insns>")
