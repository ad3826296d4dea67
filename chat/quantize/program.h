// program.h - the quantize program as a function.
#pragma once

namespace nyb {

// What main does. Returns the exit code; throws nothing.
int quantize_main(int argc, char** argv);

}  // namespace nyb
