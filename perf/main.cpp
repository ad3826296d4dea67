// main.cpp - measure the kernels.
#include "program.h"

int main(int argc, char** argv) { return nyb::perf_main(argc, argv, nyb::cpu_here()); }
