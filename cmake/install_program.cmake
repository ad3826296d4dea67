# Run by `cmake --install` after NYB_PROGRAM was copied: debug information, which holds the paths of the build, goes; the man page
# comes.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(program "${root}/bin/${NYB_PROGRAM}")
set(page share/man/man1/${NYB_PROGRAM}.1)

if(NYB_STRIP)
  execute_process(COMMAND "${NYB_STRIP}" --strip-debug --preserve-dates "${program}" COMMAND_ERROR_IS_FATAL ANY)
endif()

find_program(HELP2MAN help2man)
if(HELP2MAN)
  message(STATUS "Installing: ${root}/${page}")
  file(MAKE_DIRECTORY "${root}/share/man/man1")
  # help2man hands the program's name to a shell, which would cut a folder's name at a space
  execute_process(WORKING_DIRECTORY "${root}/bin" COMMAND "${HELP2MAN}" --no-info "--name=${NYB_SUMMARY}"
    --manual=Nybble "--source=Nybble ${NYB_VERSION}" "--output=${root}/${page}" "./${NYB_PROGRAM}" COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${CMAKE_INSTALL_PREFIX}/${page}")
else()
  message(STATUS "Not installed: ${root}/${page}, since there is no help2man here")
endif()
