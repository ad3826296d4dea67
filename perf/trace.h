// trace.h - a call gone through instruction by instruction, to find the loops in which it spends them.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace nyb {

struct CodeLoop {
  std::vector<uint8_t> code;  // from its first instruction to the branch back to it, that included
  uint64_t turns = 0;
  uint64_t instructions = 0;  // executed in all turns
};

struct CallTrace {
  uint64_t instructions = 0;    // executed by the function at all
  std::vector<CodeLoop> loops;  // innermost ones, the one with the most instructions first
};

// Runs call(), which calls the function at `code`, with the processor's trap flag set: it stops after every instruction (some
// microseconds each) and SIGTRAP notes where. The function calls nothing, does not move the stack pointer, and is shorter than 16
// KiB. Without instructions where the system delivers no such signal. One at a time in a process.
CallTrace trace_call(const void* code, const std::function<void()>& call);

}  // namespace nyb
