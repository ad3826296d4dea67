// paths.h - the kernel paths that the engine's tests can run here, the missing VNNI instructions emulated.
#pragma once
#include <string>
#include <vector>

#include "engine/engine.h"
#include "kern/kern.h"
#include "model/model.h"

namespace nyb::test {

// ref, and every path that this CPU has or that the emulation gives it (vnni and vnni8 on a CPU with AVX2). Installs the
// emulation where it is needed; fails the test where it should run and does not.
const std::vector<Path>& runnable_paths();

// Why a path is not among them: what this CPU lacks that no emulation gives it. Empty: it is, or ought to be. Installs likewise.
std::string cannot_run(Path p);

// Lives while an engine runs. At its end it fails the test unless exactly those dot products were emulated that the engine's path
// uses on the types of its model and cache and this CPU lacks.
class EmulationWatch {
 public:
  explicit EmulationWatch(const Engine& e);
  ~EmulationWatch();
  EmulationWatch(const EmulationWatch&) = delete;
  EmulationWatch& operator=(const EmulationWatch&) = delete;

 private:
  Path path_;
  bool bytes_, nibbles_ = false;  // types that are multiplied by: of int8, and of fewer bits
};

}  // namespace nyb::test
