# What `cmake --install` puts where. Everything is found from the program's own place, so the prefix may be moved as a whole.

# nyb_install(NAME SUMMARY): the program of target NAME becomes bin/nybble-NAME, with a completion for bash and a man page that is
# made of its --help. SUMMARY is what the page's first line says it does.
function(nyb_install name summary)
  set(NYB_PROGRAM nybble-${name})
  install(PROGRAMS $<TARGET_FILE:${name}> DESTINATION bin RENAME ${NYB_PROGRAM})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/completion.bash.in ${PROJECT_BINARY_DIR}/completions/${NYB_PROGRAM} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/completions/${NYB_PROGRAM} DESTINATION share/bash-completion/completions)
  install(CODE "set(NYB_PROGRAM ${NYB_PROGRAM})\nset(NYB_SUMMARY [[${summary}]])\nset(NYB_VERSION ${PROJECT_VERSION})\n\
set(NYB_STRIP [[${CMAKE_STRIP}]])")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_program.cmake)
  set_property(GLOBAL APPEND PROPERTY NYB_INSTALLED ${name})
endfunction()

install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/nybble)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/doc/nybble FILES_MATCHING PATTERN *.md)

add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
  -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)
