// registered.h - the benchmarks that Google Benchmark runs, with the manners of the other programs.
#pragma once

namespace nyb {

// Runs (or lists) what the filter of benchmark::Initialize() lets through. Throws Error for a filter that is no regular
// expression or lets nothing through, a file for the results that cannot be written, and where standard output cannot be
// written; ends the program quietly where nobody reads it any more.
void run_registered();

}  // namespace nyb
