// cache_test.cpp - which caches there are, and how much must be read for them to be of no use.
#include <gtest/gtest.h>
#include "engine/machine.h"
#include "probe/last_cache.h"
#include "probe/probe.h"

namespace nyb::test {
namespace {

std::string cache_file(unsigned cpu, int index, const char* what) {
  return "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/" + what;
}

// Two pairs of CPUs, each pair with a last cache of its own, and one CPU without any but its own.
TEST(Probe, CachesOfAllCpus) {
  Machine m;
  m.cpus(6);
  for (unsigned cpu = 0; cpu < 4; ++cpu) {
    m.file(cache_file(cpu, 0, "size"), "48K\n").file(cache_file(cpu, 0, "level"), "1\n");
    m.file(cache_file(cpu, 0, "shared_cpu_list"), std::to_string(cpu) + "\n");
    m.file(cache_file(cpu, 3, "size"), cpu < 2 ? "32768K\n" : "98304K\n").file(cache_file(cpu, 3, "level"), "3\n");
    m.file(cache_file(cpu, 3, "shared_cpu_list"), cpu < 2 ? "0-1\n" : "2-3\n");
  }
  m.file(cache_file(4, 2, "size"), "2048K\n").file(cache_file(4, 2, "level"), "2\n");
  EXPECT_EQ(last_cache(m.root()).all, size_t{32768 + 98304 + 2048} << 10);
  EXPECT_EQ(last_cache(m.root()).one, size_t{2048} << 10);
  m.allow("2-3");
  EXPECT_EQ(last_cache(m.root()).all, size_t{98304} << 10);
  EXPECT_EQ(last_cache(m.root()).one, size_t{98304} << 10);
  m.available(size_t{4} << 20);
  EXPECT_EQ(probe_size(m.root()).bytes, size_t{4 * 96} << 20);
  EXPECT_EQ(probe_size(m.root()).note(), "");
  m.available(1 << 20);
  EXPECT_EQ(probe_size(m.root()).bytes, size_t{256} << 20);
  EXPECT_NE(probe_size(m.root()).note().find("over 256 MiB and not over 384"), std::string::npos) << probe_size(m.root()).note();
  EXPECT_EQ(last_cache(Machine().root()).all, 0u) << "a system that does not tell";
}

}  // namespace
}  // namespace nyb::test
