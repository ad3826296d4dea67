// perf_bare - the whole perf program as on a CPU with nothing that a vector path needs. For tests.
#include "perf/program.h"

int main(int argc, char** argv) { return nyb::perf_main(argc, argv, {}); }
