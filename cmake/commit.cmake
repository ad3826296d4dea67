# Writes OUT, a header with the commit of SOURCE ("+changed" where files differ from it; "" without git), and only when it is
# another: run by every build.
set(commit "")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} describe --always --abbrev=10 --dirty=+changed --exclude=* WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(text "#pragma once\ninline constexpr char kCommit[] = \"${commit}\";\n")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
endif()
