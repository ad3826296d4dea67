// trace.cpp - the handler counts; what it counted is looked at afterwards.
#include "trace.h"
#include <algorithm>
#include <array>
#include <cstring>
#include "step_call.h"

namespace nyb {
namespace {

constexpr size_t kMostCode = size_t{16} << 10;

// What the handler knows; by offset from the function's beginning.
struct Steps {
  uintptr_t code = 0, stack = 0;
  size_t last = 0;
  bool inside = false;
  std::array<uint32_t, kMostCode> times;  // it was executed
  std::array<uint32_t, kMostCode> back;   // it led back,
  std::array<uint16_t, kMostCode> to;     // to there
};
Steps steps;

void on_step(const greg_t* regs) {
  const auto at = static_cast<uintptr_t>(regs[REG_RIP]), stack = static_cast<uintptr_t>(regs[REG_RSP]);
  if (at == steps.code && !steps.inside) {
    steps.inside = true;
    steps.stack = stack;
    steps.last = 0;
  }
  if (!steps.inside) return;
  const size_t offset = at - steps.code;
  if (stack != steps.stack || offset >= kMostCode) {  // it has returned
    steps.inside = false;
    return;
  }
  if (offset < steps.last) {
    steps.back[steps.last]++;
    steps.to[steps.last] = static_cast<uint16_t>(offset);
  }
  steps.times[offset]++;
  steps.last = offset;
}

// Bytes of the branch at p; 0: it is none.
size_t branch_bytes(const uint8_t* p) {
  if (p[0] == 0xeb || (p[0] >= 0x70 && p[0] <= 0x7f)) return 2;
  if (p[0] == 0xe9) return 5;
  return p[0] == 0x0f && p[1] >= 0x80 && p[1] <= 0x8f ? 6 : 0;
}

}  // namespace

CallTrace trace_call(const void* code, const std::function<void()>& call) {
  steps = {};
  steps.code = reinterpret_cast<uintptr_t>(code);
  step_call(on_step, call);

  CallTrace t;
  for (const uint32_t n : steps.times) t.instructions += n;
  for (size_t from = 0; from < kMostCode; ++from) {
    if (steps.back[from] == 0) continue;
    const size_t to = steps.to[from];
    bool innermost = true;
    for (size_t other = to; other < from; ++other) innermost = innermost && !(steps.back[other] > 0 && steps.to[other] >= to);
    const auto* const begin = static_cast<const uint8_t*>(code) + to;
    const size_t branch = branch_bytes(static_cast<const uint8_t*>(code) + from);
    if (!innermost || branch == 0) continue;
    CodeLoop loop{{begin, begin + (from - to) + branch}, steps.times[from], 0};
    for (size_t at = to; at <= from; ++at) loop.instructions += steps.times[at];
    t.loops.push_back(std::move(loop));
  }
  std::stable_sort(t.loops.begin(), t.loops.end(),
                   [](const CodeLoop& a, const CodeLoop& b) { return a.instructions > b.instructions; });
  return t;
}

}  // namespace nyb
