// panel_loads.cpp - which loop loads which type.
#include "probe/panel_loads.h"
#include <cstring>

namespace nyb {

extern "C" {
uint64_t nyb_loads_512_avx2(const void* w, const void* x, size_t bytes);
uint64_t nyb_loads_576_avx2(const void* w, const void* x, size_t bytes);
uint64_t nyb_loads_512_pages_avx2(const void* w, const void* x, size_t bytes);
uint64_t nyb_loads_576_pages_avx2(const void* w, const void* x, size_t bytes);
uint64_t nyb_loads_streams_avx2(const void* w, const void* x, size_t bytes);
uint64_t nyb_loads_f32_avx2(const void* w, const float* x, size_t cols, size_t panels);
uint64_t nyb_loads_512_avx512(const void* w, const void* x, size_t bytes);
uint64_t nyb_loads_576_avx512(const void* w, const void* x, size_t bytes);
uint64_t nyb_loads_512_pages_avx512(const void* w, const void* x, size_t bytes);
uint64_t nyb_loads_576_pages_avx512(const void* w, const void* x, size_t bytes);
uint64_t nyb_loads_f32_avx512(const void* w, const float* x, size_t cols, size_t panels);
}

const PanelLoads* panel_loads(const CpuFeatures& cpu, const KernTable& kern) {
  static constexpr PanelLoads narrow{nyb_loads_512_avx2, nyb_loads_576_avx2, nyb_loads_f32_avx2};
  static constexpr PanelLoads wide{nyb_loads_512_avx512, nyb_loads_576_avx512, nyb_loads_f32_avx512};
  static constexpr PanelLoads narrow_pages{nyb_loads_512_pages_avx2, nyb_loads_576_pages_avx2, nyb_loads_f32_avx2};
  static constexpr PanelLoads wide_pages{nyb_loads_512_pages_avx512, nyb_loads_576_pages_avx512, nyb_loads_f32_avx512};
  static constexpr PanelLoads narrow_streams{nyb_loads_streams_avx2, nyb_loads_streams_avx2, nyb_loads_f32_avx2, &narrow};
  static constexpr PanelLoads wide_streams{nyb_loads_streams_avx2, nyb_loads_streams_avx2, nyb_loads_f32_avx512, &wide};
  if (!cpu_missing(cpu, Path::avx2).empty()) return nullptr;
  const bool wide_path = kern.path == Path::avx512;
  switch (kern.order) {
    case Order::in_order: break;
    case Order::pages: return wide_path ? &wide_pages : &narrow_pages;
    case Order::streams: return wide_path ? &wide_streams : &narrow_streams;
  }
  return wide_path ? &wide : &narrow;
}

uint64_t load_panels(const PanelLoads& loads, const Tensor& w, size_t from, size_t to, const MatIn& x) {
  if (loads.few && to - from < kStreams) return load_panels(*loads.few, w, from, to, x);
  const uint8_t* const panel = w.panel(from);
  if (w.type == TType::f32) return loads.f32(panel, x.values, w.cols, to - from);
  const auto stream = w.type == TType::q4 ? loads.by_576 : loads.by_512;
  return stream(panel, x.groups, (to - from) * panel_bytes(w.type, w.cols));
}

uint64_t panels_xor(const Tensor& w, size_t from, size_t to) {
  uint64_t all = 0;
  for (const uint8_t *at = w.panel(from), *end = w.panel(to); at != end; at += sizeof all) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    all ^= word;
  }
  return all;
}

}  // namespace nyb
