// machine.cpp - the CPU's name, the date, the commit.
#include "machine.h"
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <algorithm>
#include <ctime>
#include <fstream>
#include "commit.h"
#include "common/app.h"
#include "engine/threads.h"
#include "probe/last_cache.h"

namespace nyb {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "a CPU without a name";
}

}  // namespace

Machine machine_here(const std::string& command) {
  Machine m;
  m.cpu = cpu_name();
  m.date = fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
  m.version = program_version();
  m.commit = kCommit;
  m.command = command;
  m.cpus = cpus_usable();
  m.last_cache = last_cache().all;
  return m;
}

std::string machine_words(const Machine& m) {
  return fmt::format("{}, {} CPU{}, last cache {} MiB; {}", human_words(m.cpu), m.cpus, m.cpus == 1 ? "" : "s", m.last_cache >> 20,
                     made_by(m));
}

std::string made_by(const Machine& m) {
  return human_words(fmt::format("nybble {}{}{}, {}", m.version, m.commit.empty() ? "" : " at ", m.commit, m.date));
}

}  // namespace nyb
