// program.h - the fit program as a function.
#pragma once

namespace nyb {

// What main does. Returns the exit code; throws nothing.
int fit_main(int argc, char** argv);

}  // namespace nyb
