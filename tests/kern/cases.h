// cases.h - what each kernel is run on. One entry a kernel; a test compares the list with kernels.def.
#pragma once
#include <string_view>
#include <vector>

#include "kern/run.h"

namespace nyb::test {

struct KernelCase {
  std::string_view name;
  std::vector<Shape> shapes;  // sizes, in the body's own order
  std::vector<Shape> few;     // those that are run at every misalignment too
  std::vector<Kind> kinds;
  void (*body)(KernRun&, const Shape&, Kind);  // one case: opens it, makes inputs, calls, compares
  void (*extra)(KernRun&);                     // what does not fit that scheme; may be null
};
const std::vector<KernelCase>& kernel_cases();
const KernelCase& case_of(std::string_view name);

// All shapes x kinds x both edges and a misalignment, then the few at all 64 misalignments, then the extras. Stops when the run
// is full of findings.
void run_case(KernRun& run, const KernelCase& c);

// The entries, by file.
std::vector<KernelCase> norm_cases();
std::vector<KernelCase> exp_cases();
std::vector<KernelCase> gemv_cases();
std::vector<KernelCase> gemm_cases();
std::vector<KernelCase> attn_cases();

// Sizes around every tile: 0..70 and around 128, 256 and 1000.
std::vector<Shape> lengths(size_t from);
// All combinations.
std::vector<Shape> grid(const std::vector<size_t>& a, const std::vector<size_t>& b, const std::vector<size_t>& c = {0});
std::vector<size_t> range(size_t from, size_t to, std::initializer_list<size_t> more = {});  // from..to and more

// A kernel of two vectors and one result, which lies beside them, then on the first, then on the second.
void run_pair(KernRun& run, void (*kernel)(const float*, const float*, float*, size_t), const std::vector<float>& a,
              const std::vector<float>& b, Kind kind);

// Numbers that are not finite, a quiet and a signalling NaN of each sign among them.
std::vector<float> not_finite();

}  // namespace nyb::test
