// mca.h - what llvm-mca predicts for a kernel, from a model of the CPU: a bound to hold the measured cycles against.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include "kern/kern.h"

namespace nyb {

struct McaBound {
  double cycles = 0;    // an element, of the loops that a call is spent in, every load finding its data in the first cache
  double share = 0;     // of the instructions executed that are in these loops; the others count nothing
  std::string problem;  // why there is no bound; else empty
};

class Mca {
 public:
  Mca();
  // "llvm-mca 14.0.6, icelake-server", or "llvm-mca: not installed".
  const std::string& what() const { return what_; }

  // Steps through the kernel's small_call (trace.h), disassembles its loops with llvm-mc and asks llvm-mca about each one that has
  // a twentieth of the instructions. Once for a kernel and path; problem where any of this does not work here.
  const McaBound& bound(const KernTable& k, const std::string& kernel);

  // Problems so far, but that it is not installed: "llvm-mca on gemv_q8/vnni: ...".
  std::vector<std::string> problems() const;

  // Cycles of one turn of a loop, once it goes round and round. Throws Error with what LLVM said where it cannot tell.
  double turn_cycles(std::span<const uint8_t> code) const;

 private:
  McaBound asked(const KernTable& k, const std::string& kernel) const;

  std::string what_;
  bool there_ = false;
  std::map<std::pair<std::string, Path>, McaBound> known_;
};

}  // namespace nyb
