// memory_test.cpp - made-up machines: how much memory is left; and the true one: what a mapping takes.
#include "engine/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "engine/cgroup.h"
#include "machine.h"

namespace nyb {
namespace {

using test::Machine;

MemoryLeft left(const Machine& m) { return memory_left(m.root()); }

TEST(Memory, WhatTheMachineHas) {
  EXPECT_EQ(left(Machine().available(1000)).bytes, 1024000u);
  EXPECT_EQ(left(Machine().available(1000)).group_limit, 0u);
  EXPECT_EQ(left(Machine()).bytes, UINT64_MAX) << "nothing is known";
  EXPECT_EQ(left(Machine().file("proc/meminfo", "MemAvailable: much\n")).bytes, UINT64_MAX);
}

TEST(Memory, WhatAGroupLeaves) {
  Machine m;
  m.available(10000000).v2("/a/b").level("/a/b", "5000000", "1000000");
  EXPECT_EQ(left(m).bytes, 4000000u);
  EXPECT_EQ(left(m).group_limit, 5000000u);
  m.level("/a", "3000000", "2500000");
  EXPECT_EQ(left(m).bytes, 500000u) << "a level above leaves less";
  EXPECT_EQ(left(m).group_limit, 3000000u);
  m.level("/a", "3000000", "2500000", "anon 100000\ninactive_file 1400000\nactive_file 600000\nslab 5\n");
  EXPECT_EQ(left(m).bytes, 2500000u) << "files in the page cache make room";
  m.level("/a", "max", "2500000").level("/a/b", "max", "1");
  EXPECT_EQ(left(m).bytes, 10240000000u);
  EXPECT_EQ(left(m).group_limit, 0u);
  m.level("/a", "3000000", "4000000");
  EXPECT_EQ(left(m).bytes, 0u) << "a limit that was lowered";
  EXPECT_EQ(left(Machine().available(10).v2("/a").level("/a", "5000000", "1")).group_limit, 0u) << "the machine has less";
}

TEST(Memory, WhatAGroupOfVersion1Leaves) {
  Machine m;
  const std::string folder = "sys/fs/cgroup/memory/a/";
  m.available(10000000).v1_memory("/a").file(folder + "memory.limit_in_bytes", "5000000\n");
  m.file(folder + "memory.usage_in_bytes", "3000000\n")
      .file(folder + "memory.stat", "inactive_file 1\ntotal_inactive_file 1000000\n");
  EXPECT_EQ(left(m).bytes, 3000000u);
  m.file(folder + "memory.limit_in_bytes", "9223372036854771712\n");  // how version 1 writes that there is none
  EXPECT_EQ(left(m).bytes, 10240000000u);
}

TEST(Memory, TheSwitchOfHugePages) {
  const std::string at = "sys/kernel/mm/transparent_hugepage/enabled";
  EXPECT_EQ(huge_pages_off(Machine().file(at, "always [madvise] never\n").root()), "");
  EXPECT_EQ(huge_pages_off(Machine().file(at, "[always] madvise never\n").root()), "");
  EXPECT_EQ(huge_pages_off(Machine().file(at, "always madvise [never]\n").root()), "/" + at + " says never");
  EXPECT_EQ(huge_pages_off(Machine().root()), "this system has no transparent huge pages");
}

TEST(Memory, WhatAMappingTakes) {
  constexpr size_t kPage = 4096, kPages = 64;
  // pages that nobody may use on both sides: the mapping stays one of its own
  auto* p = static_cast<char*>(mmap(nullptr, (kPages + 2) * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(p, MAP_FAILED);
  ASSERT_EQ(mprotect(p + kPage, kPages * kPage, PROT_READ | PROT_WRITE), 0);
  (void)madvise(p, (kPages + 2) * kPage, MADV_NOHUGEPAGE);
  EXPECT_EQ(range_use(p + kPage, kPages * kPage).resident, 0u);
  std::memset(p + kPage, 1, 10 * kPage);
  EXPECT_EQ(range_use(p + kPage, kPages * kPage).resident, 10 * kPage);
  EXPECT_EQ(range_use(p + kPage, kPages * kPage).huge, 0u);
  munmap(p, (kPages + 2) * kPage);
  EXPECT_GT(peak_rss(), uint64_t{1} << 20);
}

// A mapping's own lines, and no other's.
TEST(Memory, TheLinesOfSmaps) {
  Machine m;
  m.file("proc/self/smaps",
         "7f0000000000-7f0000200000 r--p 00000000 00:00 0\nSize: 2048 kB\nRss: 100 kB\nAnonHugePages: 64 kB\n"
         "7f0000200000-7f0000400000 r--p 00000000 00:00 0\nSize: 2048 kB\nRss:                2048 kB\nPss: 7 kB\nAnonHugePages:   "
         "   2048 kB\n"
         "7f0000400000-7f0000500000 rw-p 00000000 00:00 0\nRss: 1000 kB\nAnonHugePages: 512 kB\n");
  const RangeUse one = range_use(reinterpret_cast<const void*>(0x7f0000200000), 0x200000, m.root());
  EXPECT_EQ(one.resident, uint64_t{2048} << 10);
  EXPECT_EQ(one.huge, uint64_t{2048} << 10);
  const RangeUse two = range_use(reinterpret_cast<const void*>(0x7f0000000000), 0x200001, m.root());
  EXPECT_EQ(two.resident, uint64_t{2148} << 10);
}

}  // namespace
}  // namespace nyb
