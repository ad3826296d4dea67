// threads_test.cpp - made-up machines: what limits the number of threads, and what is said of it.
#include "engine/threads.h"

#include <gtest/gtest.h>

#include "kern/error.h"
#include "machine.h"

namespace nyb {
namespace {

using test::Machine;

void expect(const Machine& m, unsigned count, const std::string& reason) {
  const ThreadChoice c = threads_default(m.root());
  EXPECT_EQ(c.count, count) << c.reason;
  EXPECT_EQ(c.reason, reason);
}

TEST(Threads, CountsCoresNotTheirThreads) {
  expect(Machine().cpus(4), 4, "4 physical cores");
  expect(Machine().cpus(8, 2), 4, "4 physical cores");
  expect(Machine().cpus(1), 1, "1 physical core");
  EXPECT_EQ(cpus_usable(Machine().cpus(8, 2).root()), 8u);
}

TEST(Threads, FollowsTheAffinityMask) {
  expect(Machine().cpus(8).allow("1,3,5-6"), 4, "affinity mask of 4 CPUs");
  expect(Machine().cpus(8).allow("5"), 1, "affinity mask of 1 CPU");
  expect(Machine().cpus(8, 2).allow("0-3"), 2, "2 physical cores of the affinity mask's 4 CPUs");
  expect(Machine().cpus(8, 2).allow("1,3"), 2, "affinity mask of 2 CPUs");  // the neighbours are not ours
  EXPECT_EQ(cpus_usable(Machine().cpus(8, 2).allow("0-3").root()), 4u);
}

TEST(Threads, ReadsTheOlderListOfNeighboursAndDoesWithoutAny) {
  Machine old;
  old.allow("0-3").file("sys/devices/system/cpu/online", "0-3\n");
  for (const char* c : {"0", "2"})
    old.file(std::string("sys/devices/system/cpu/cpu") + c + "/topology/thread_siblings_list", "0,2\n");
  for (const char* c : {"1", "3"})
    old.file(std::string("sys/devices/system/cpu/cpu") + c + "/topology/thread_siblings_list", "1,3\n");
  expect(old, 2, "2 physical cores");
  expect(Machine().allow("0-2"), 3, "3 physical cores");
}

TEST(Threads, ObeysAQuotaOfVersion2) {
  expect(Machine().cpus(8).v2("/a").max("/a", "150000 100000\n"), 1, "cgroup quota 1.50 CPUs");
  expect(Machine().cpus(8).v2("/a").max("/a", "399999 100000\n"), 3, "cgroup quota 3.99 CPUs");
  expect(Machine().cpus(8).v2("/a").max("/a", "50000 100000\n"), 1, "cgroup quota 0.50 CPUs");
  expect(Machine().cpus(8).v2("/a").max("/a", "max 100000\n"), 8, "8 physical cores");
  expect(Machine().cpus(2).v2("/a").max("/a", "800000 100000\n"), 2, "2 physical cores");
  expect(Machine().cpus(2).v2("/a").max("/a", "250000 100000\n"), 2, "2 physical cores");
  EXPECT_EQ(cpus_usable(Machine().cpus(8).v2("/a").max("/a", "250000 100000\n").root()), 2u);
  EXPECT_EQ(cpus_usable(Machine().cpus(8).v2("/a").max("/a", "50000 100000\n").root()), 1u);
}

TEST(Threads, LooksAtEveryLevelUpToTheRoot) {
  expect(Machine().cpus(8).v2("/a/b/c").max("/a/b/c", "max 100000").max("/a/b", "600000 100000").max("/a", "300000 100000"), 3,
         "cgroup quota 3.00 CPUs");
  expect(Machine().cpus(8).v2("/a/b/c").max("", "200000 100000").max("/a", "300000 100000"), 2, "cgroup quota 2.00 CPUs");
  expect(Machine().cpus(8).v2("/").max("", "200000 100000"), 2, "cgroup quota 2.00 CPUs");
  // a group beside the path is nobody's business
  expect(Machine().cpus(8).v2("/a/b").max("/a/c", "100000 100000"), 8, "8 physical cores");
}

TEST(Threads, ObeysAQuotaOfVersion1) {
  expect(Machine().cpus(8).v1("/a/b").cfs("/a/b", "250000", "100000"), 2, "cgroup quota 2.50 CPUs");
  expect(Machine().cpus(8).v1("/a/b").cfs("/a/b", "-1", "100000").cfs("/a", "50000", "10000"), 5, "cgroup quota 5.00 CPUs");
  expect(Machine().cpus(8).v1("/a/b").cfs("/a/b", "-1", "100000"), 8, "8 physical cores");
  // the memory controller's group is another one
  expect(Machine().cpus(8).v1("/a").cfs("/other", "100000", "100000"), 8, "8 physical cores");
}

TEST(Threads, FindsTheGroupInsideAContainer) {
  // only the container's own part of the hierarchy is mounted
  expect(Machine().cpus(8).v2("/docker/abc/x", "/docker/abc").max("/x", "200000 100000"), 2, "cgroup quota 2.00 CPUs");
  expect(Machine().cpus(8).v1("/docker/abc", "/docker/abc").cfs("", "200000", "100000"), 2, "cgroup quota 2.00 CPUs");
  // a group that is not under what is mounted: the mount point is what there is
  expect(Machine().cpus(8).v2("/elsewhere", "/docker/abc").max("", "300000 100000"), 3, "cgroup quota 3.00 CPUs");
  expect(Machine().cpus(8).v2("/docker/abcdef", "/docker/abc").max("def", "100000 100000"), 8, "8 physical cores");
  expect(Machine().cpus(8).v2("/../outside").max("", "300000 100000"), 3, "cgroup quota 3.00 CPUs");
}

TEST(Threads, ReadsEscapedMountPoints) {
  Machine m;
  m.cpus(8).file("proc/self/cgroup", "0::/a\n");
  m.file("proc/self/mountinfo", "30 1 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
  m.file("my groups/a/cpu.max", "300000 100000\n");
  expect(m, 3, "cgroup quota 3.00 CPUs");
}

TEST(Threads, TakesNonsenseForNoLimit) {
  for (const char* text : {"", "\n", "max", "0 100000", "100000 0", "-5 100000", "1e5 100000", "100000", "100000 100000 1",
                           "99999999999999999999 1", "x y", "100000\t100000"})
    expect(Machine().cpus(8).v2("/a").max("/a", text), 8, "8 physical cores");
  expect(Machine().cpus(8).v2("/a"), 8, "8 physical cores");
  Machine garbage;
  garbage.cpus(4)
      .file("proc/self/cgroup", ":::\n0:\nnothing\n0::\n")
      .file("proc/self/mountinfo", " - \n1 2 3 - cgroup2\n\n- cgroup2 - cgroup2\n");
  expect(garbage, 4, "4 physical cores");
  Machine odd;  // a group and a mount point that are not paths
  odd.cpus(4)
      .file("proc/self/cgroup", "0::group\n")
      .file("proc/self/mountinfo", "30 1 0:26 /  rw - cgroup2 cgroup2 rw\n30 1 0:26 / x rw - cgroup2 cgroup2 rw\n");
  expect(odd, 4, "4 physical cores");
  for (const char* list : {"3-1", "a", "0-", "1,,2", "1;2", "99999999", "-1"}) {
    Machine m;
    m.cpus(4).file("sys/devices/system/cpu/cpu0/topology/core_cpus_list", list);
    expect(m, 4, "4 physical cores");
  }
}

TEST(Threads, WorkOnAnEmptyMachine) {
  const ThreadChoice c = threads_default(Machine().root());  // nothing to read: the real mask, each CPU a core
  EXPECT_GE(c.count, 1u);
  EXPECT_FALSE(c.reason.empty());
}

TEST(Threads, WorkHere) {
  const ThreadChoice c = threads_default();
  EXPECT_GE(c.count, 1u);
  EXPECT_LE(c.count, cpus_usable());
  EXPECT_FALSE(c.reason.empty());
}

TEST(Threads, PickPrefersWhatWasAskedFor) {
  const std::string root = Machine().cpus(4).root();
  EXPECT_EQ(threads_pick(3, "2", root).count, 3u);
  EXPECT_EQ(threads_pick(3, "2", root).reason, "asked for by --threads");
  EXPECT_EQ(threads_pick(3, "nonsense", root).count, 3u);
  EXPECT_EQ(threads_pick(0, "2", root).count, 2u);
  EXPECT_EQ(threads_pick(0, "2", root).reason, "asked for by NYBBLE_THREADS");
  EXPECT_EQ(threads_pick(0, "1024", root).count, 1024u);
  for (const char* none : {static_cast<const char*>(nullptr), ""})
    EXPECT_EQ(threads_pick(0, none, root).reason, "4 physical cores");
}

TEST(Threads, PickRefusesWhatMakesNoSense) {
  for (const long n : {-1L, 1025L, 1L << 40}) EXPECT_THROW(threads_pick(n, nullptr), Error) << n;
  for (const char* text : {"0", "-2", "1025", "two", "2x", " 2", "2.5", "99999999999999999999999"}) {
    try {
      threads_pick(0, text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("NYBBLE_THREADS"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("1024"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace nyb
