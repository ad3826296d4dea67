// read_loops.cpp - which read loops a CPU can run.
#include "probe/read_loops.h"

namespace nyb {

extern "C" {
uint64_t nyb_read_1_avx2(const void* p, size_t bytes);
uint64_t nyb_read_4_avx2(const void* p, size_t bytes);
uint64_t nyb_read_8_avx2(const void* p, size_t bytes);
uint64_t nyb_read_8_ahead_avx2(const void* p, size_t bytes);
uint64_t nyb_read_8_pages_avx2(const void* p, size_t bytes);
uint64_t nyb_read_streams_avx2(const void* p, size_t bytes);
uint64_t nyb_read_1_avx512(const void* p, size_t bytes);
uint64_t nyb_read_4_avx512(const void* p, size_t bytes);
uint64_t nyb_read_8_avx512(const void* p, size_t bytes);
uint64_t nyb_read_8_ahead_avx512(const void* p, size_t bytes);
uint64_t nyb_read_8_pages_avx512(const void* p, size_t bytes);
uint64_t nyb_read_streams_avx512(const void* p, size_t bytes);
}

std::vector<ReadLoop> read_loops(const CpuFeatures& cpu) {
  std::vector<ReadLoop> loops;
  if (cpu_missing(cpu, Path::avx2).empty()) {
    loops.push_back({"ymm x1", nyb_read_1_avx2});
    loops.push_back({"ymm x4", nyb_read_4_avx2});
    loops.push_back({"ymm x8", nyb_read_8_avx2});
    loops.push_back({"ymm x8 ahead", nyb_read_8_ahead_avx2});
    loops.push_back({"ymm x8 by pages", nyb_read_8_pages_avx2});
    loops.push_back({"ymm, 6 streams", nyb_read_streams_avx2});
  }
  if (cpu_missing(cpu, Path::avx512).empty()) {
    loops.push_back({"zmm x1", nyb_read_1_avx512});
    loops.push_back({"zmm x4", nyb_read_4_avx512});
    loops.push_back({"zmm x8", nyb_read_8_avx512});
    loops.push_back({"zmm x8 ahead", nyb_read_8_ahead_avx512});
    loops.push_back({"zmm x8 by pages", nyb_read_8_pages_avx512});
    loops.push_back({"zmm, 6 streams", nyb_read_streams_avx512});
  }
  return loops;
}

}  // namespace nyb
