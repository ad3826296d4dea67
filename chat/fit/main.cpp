// main.cpp - will it fit, and how fast.
#include "fit/program.h"

int main(int argc, char** argv) { return nyb::fit_main(argc, argv); }
