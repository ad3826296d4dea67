// mca.cpp - llvm-mc disassembles, llvm-mca reads its text.
#include "mca.h"
#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include "common/child.h"
#include "kern/error.h"
#include "kernel_call.h"
#include "trace.h"
#include "weights.h"

namespace nyb {
namespace {

constexpr std::chrono::seconds kLimit{20};
constexpr double kLeastShare = 0.05;  // of a loop that is asked about

std::string run_tool(const std::vector<std::string>& words, std::string_view in) {
  const ChildResult r = run_child(words, in, kLimit);
  if (r.good()) return r.out;
  throw Error(fmt::format("{} {}: {}", words[0], child_fault(r, kLimit), r.err.substr(0, r.err.find('\n'))));
}

// The word after `name` in what a tool says; "": it says no such thing.
std::string after(const std::string& text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string::npos) return {};
  const size_t begin = std::min(text.find_first_not_of(' ', at + name.size()), text.size());
  return text.substr(begin, std::min(text.find_first_of(" \n", begin), text.size()) - begin);
}

}  // namespace

Mca::Mca() {
  there_ = child_found("llvm-mca") && child_found("llvm-mc");
  if (!there_) {
    what_ = "llvm-mca: not installed";
    return;
  }
  try {
    const std::string said = run_tool({"llvm-mca", "--version"}, "");
    what_ = fmt::format("llvm-mca {}, {}", after(said, "LLVM version"), after(said, "Host CPU:"));
  } catch (const Error& e) {
    what_ = e.what();
    there_ = false;
  }
}

double Mca::turn_cycles(std::span<const uint8_t> code) const {
  std::string bytes;
  for (const uint8_t b : code) bytes += fmt::format("{:#04x} ", b);
  const std::string text = run_tool({"llvm-mc", "--disassemble", "--triple=x86_64"}, bytes + "\n");
  const std::string said = run_tool({"llvm-mca", "--mtriple=x86_64", "--instruction-info=0", "--resource-pressure=0"}, text);
  const double turns = std::strtod(after(said, "Iterations:").c_str(), nullptr);
  const double cycles = std::strtod(after(said, "Total Cycles:").c_str(), nullptr);
  if (turns > 0 && cycles > 0) return cycles / turns;
  throw Error("llvm-mca says nothing of cycles");
}

McaBound Mca::asked(const KernTable& k, const std::string& kernel) const {
  if (!there_) return {0, 0, "not installed"};
  const KernelCall call = small_call(kernel);
  const Memory memory(call.set_bytes, Memory::Pages::small);
  call.fill(memory.data());
  const CallTrace t = trace_call(kernel_code(k, kernel), [&] { call.run(k, memory.data()); });
  if (t.instructions == 0) return {0, 0, "this system does not step through instructions"};
  McaBound b;
  try {
    for (const CodeLoop& loop : t.loops) {
      const double share = static_cast<double>(loop.instructions) / static_cast<double>(t.instructions);
      if (share < kLeastShare) continue;
      b.cycles += turn_cycles(loop.code) * static_cast<double>(loop.turns) / call.elements;
      b.share += share;
    }
  } catch (const Error& e) { return {0, 0, e.what()}; }
  if (b.share == 0) b.problem = "no loop of it was found";
  return b;
}

const McaBound& Mca::bound(const KernTable& k, const std::string& kernel) {
  const auto key = std::make_pair(kernel, k.path);
  auto it = known_.find(key);
  if (it == known_.end()) it = known_.emplace(key, asked(k, kernel)).first;
  return it->second;
}

std::vector<std::string> Mca::problems() const {
  std::vector<std::string> all;
  for (const auto& [key, b] : known_)
    if (there_ && !b.problem.empty())
      all.push_back(fmt::format("llvm-mca on {}/{}: {}", key.first, path_name(key.second), b.problem));
  return all;
}

}  // namespace nyb
