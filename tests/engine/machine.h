// machine.h - a machine made up: the files of /proc and /sys that say what it has, under a folder.
#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include "support/data.h"

namespace nyb::test {

// A machine that is a folder.
class Machine {
 public:
  Machine() {
    static int count = 0;
    root_ = tmp_dir() / ("machine" + std::to_string(count++));
    std::filesystem::create_directories(root_);
  }
  Machine& file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
    return *this;
  }
  // cpus CPUs, `smt` neighbours a core, all allowed
  Machine& cpus(unsigned cpus, unsigned smt = 1) {
    for (unsigned c = 0; c < cpus; c++) {
      const unsigned first = c / smt * smt;
      const std::string list = smt == 1 ? std::to_string(c) : std::to_string(first) + "-" + std::to_string(first + smt - 1);
      file("sys/devices/system/cpu/cpu" + std::to_string(c) + "/topology/core_cpus_list", list + "\n");
    }
    file("sys/devices/system/cpu/online", "0-" + std::to_string(cpus - 1) + "\n");
    return allow("0-" + std::to_string(cpus - 1));
  }
  Machine& allow(const std::string& list) {
    return file("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t" + list + "\nMems_allowed_list:\t0\n");
  }
  Machine& v2(const std::string& group, const std::string& mount_root = "/") {
    file("proc/self/cgroup", "0::" + group + "\n");
    return file("proc/self/mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n30 1 0:26 " + mount_root +
                                           " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  Machine& v1(const std::string& group, const std::string& mount_root = "/") {
    file("proc/self/cgroup", "7:memory:/other\n4:cpu,cpuacct:" + group + "\n1:name=systemd:/\n");
    return file("proc/self/mountinfo", "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n32 1 0:28 " + mount_root +
                                           " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  }
  Machine& max(const std::string& group, const std::string& text) { return file("sys/fs/cgroup" + group + "/cpu.max", text); }
  Machine& cfs(const std::string& group, const std::string& quota, const std::string& period) {
    file("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_quota_us", quota + "\n");
    return file("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_period_us", period + "\n");
  }
  // 1024-byte units that /proc/meminfo calls available
  Machine& available(uint64_t kb) {
    return file("proc/meminfo", "MemTotal:       16000000 kB\nMemFree:  1 kB\nMemAvailable:   " + std::to_string(kb) + " kB\n");
  }
  Machine& v1_memory(const std::string& group) {
    file("proc/self/cgroup", "7:memory:" + group + "\n4:cpu,cpuacct:/other\n");
    return file("proc/self/mountinfo", "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  }
  // memory of a group of version 2
  Machine& level(const std::string& group, const std::string& limit, const std::string& used, const std::string& stat = "") {
    const std::string folder = "sys/fs/cgroup" + group + "/";
    return file(folder + "memory.max", limit + "\n")
        .file(folder + "memory.current", used + "\n")
        .file(folder + "memory.stat", stat);
  }
  std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

}  // namespace nyb::test
