// program.h - the gguf program as a function.
#pragma once

namespace nyb {

// What main does. Returns the exit code; throws nothing.
int gguf_main(int argc, char** argv);

}  // namespace nyb
