// memory.cpp - figures of the system and of the engine, and their words.
#include "chat/memory.h"
#include <fmt/format.h>
#include "common/app.h"
#include "engine/memory.h"

namespace nyb {

MemoryReport memory_report(const Runtime& r) {
  const std::span<const uint8_t> file = r.model->bytes();
  const RangeUse use = range_use(file.data(), file.size());
  MemoryReport m;
  m.load = r.model->load;
  m.file = file.size();
  m.resident = use.resident;
  m.huge = use.huge;
  m.kv = r.engine->kv_bytes();
  m.working = r.engine->work_bytes();
  m.engine = m.kv + m.working;
  m.peak = peak_rss();
  return m;
}

std::string memory_line(const MemoryReport& m) {
  return fmt::format(
      "memory: model file {} {}, {} of it resident, {} in huge pages; KV cache {}, working buffers {}, engine {}; peak RSS {}",
      human_bytes(m.file), m.load == LoadMode::huge ? "copied" : "mapped", human_bytes(m.resident), human_bytes(m.huge),
      human_bytes(m.kv), human_bytes(m.working), human_bytes(m.engine), human_bytes(m.peak));
}

std::string usage_lines(const Runtime& r) { return load_line(r) + "\n" + memory_line(memory_report(r)); }

std::string load_line(const Runtime& r) {
  const LoadTimes& t = r.load;
  const std::string model = r.model->load == LoadMode::huge ? fmt::format("reading the file {:.3f}, checking it {:.3f}",
                                                                          r.model->read_seconds, t.model - r.model->read_seconds)
                                                            : fmt::format("mapping and checking the file {:.3f}", t.model);
  return fmt::format("loaded in {:.3f} s: {}, tokenizer and template {:.3f}, engine {:.3f}", t.total(), model, t.text, t.engine);
}

}  // namespace nyb
