// paths.h - which paths a task measures, and which kernels a path runs with code of its own.
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include "kern/cpu.h"
#include "kern/kern.h"

namespace nyb {

// Measuring a kernel that a path inherits would measure the same code twice. False also for a kernel that is not in the list.
bool own_body(std::string_view kernel, Path p);

// Throws Error for a path that `cpu` cannot run, naming what it lacks.
void check_runs(const CpuFeatures& cpu, Path p);

// Those asked for, or without any all but ref that `cpu` can run; adds a line to `missing` for each that it cannot. Throws Error
// for one asked for that it cannot run. May be empty.
std::vector<Path> measured_paths(const CpuFeatures& cpu, const std::vector<Path>& asked, std::vector<std::string>& missing);

}  // namespace nyb
