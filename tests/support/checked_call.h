// checked_call.h - calls a kernel as a caller of its ABI would at its nastiest, and says what the kernel broke.
//
// Before the call: volatile registers, upper halves of narrow arguments, whole vector registers (upper halves too, beside float
// arguments as well) and opmasks hold seeded garbage; rsp is as the ABI has it on a stack of its own, with canaries above the
// arguments. After it: preserved registers, rsp, canaries, upper halves (vzeroupper), MXCSR but for its sticky flags, direction
// flag, x87 state. A fault ends the call and becomes a finding. One thread at a time.
#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace nyb::test {

enum class Abi : uint8_t { sysv, win64 };
const char* abi_name(Abi a);

enum class Check : uint8_t {
  saved_gpr,      // a preserved integer register
  saved_xmm,      // Win64: xmm6-15
  stack_pointer,  // rsp after the return
  stack_canary,   // above the arguments
  stack_below,    // System V kernels leave the stack below the red zone alone, as their unwind information says
  upper,          // bits 511:128 of vectors 0-15
  mxcsr,
  direction,
  x87,
  fault,   // a signal
  guard,   // a signal, for an access outside of a buffer or a write to an input
  slack,   // a byte beside a buffer changed
  result,  // other bytes than the reference's
};
const char* check_name(Check c);

struct Finding {
  Check check;
  std::string text;
};

struct CallArg {
  uint64_t bits;
  uint8_t width;  // in bits: above it an integer register holds garbage
  bool is_float;
};
template <class T>
CallArg call_arg(T v) {
  if constexpr (std::is_same_v<T, float>) {
    return {std::bit_cast<uint32_t>(v), 32, true};
  } else if constexpr (std::is_pointer_v<T>) {
    return {reinterpret_cast<uint64_t>(v), 64, false};
  } else {
    static_assert(std::is_unsigned_v<T>, "kernels take pointers, unsigned integers and floats");
    return {v, 8 * sizeof(T), false};
  }
}

struct CallOutcome {
  uint64_t rax = 0;
  uint32_t xmm0 = 0;              // its low 32 bits
  int signal = 0;                 // not 0: the call did not return
  uint64_t fault_address = 0;     // si_addr; 0 too where the CPU names none (a non-canonical address)
  uint64_t fault_code = 0;        // the instruction's offset from the function's start
  std::vector<Finding> findings;  // of a fault only the fault
};

// At most 6 integer and 4 float arguments, in the order of the prototype. Every use of garbage follows from the seed.
CallOutcome checked_call(const void* fn, Abi abi, std::span<const CallArg> args, uint64_t seed);

// The handlers that turn SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGTRAP inside of a checked call into findings; installed by the
// first call too. Signals outside of one go to the handler that was there. vnni::install() comes after this.
void install_fault_handlers();

// splitmix64, the garbage's source
inline uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace nyb::test
