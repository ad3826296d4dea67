#include "paths.h"

#include <gtest/gtest.h>

#include "kern/cpu.h"
#include "support/vnni_patch.h"

namespace nyb::test {
namespace {

bool has(Path p) { return cpu_missing(cpu_here(), p).empty(); }

bool can_emulate() { return has(Path::avx2); }

bool install() {
  if (!vnni::install()) {
    ADD_FAILURE() << "the emulation cannot be installed: the signal frames of this system carry no AVX state";
    return false;
  }
  vnni::enable_patching(true);  // whole models: traps would take minutes
  EXPECT_TRUE(vnni::patching());
  return true;
}

}  // namespace

const std::vector<Path>& runnable_paths() {
  static const bool emulated = can_emulate() && !(has(Path::vnni) && has(Path::vnni8)) && install();
  static const std::vector<Path> paths = [] {
    std::vector<Path> v{Path::ref};
    for (const Path p : {Path::avx2, Path::vnni, Path::vnni8, Path::avx512})
      if (has(p) || (emulated && (p == Path::vnni || p == Path::vnni8))) v.push_back(p);
    return v;
  }();
  return paths;
}

std::string cannot_run(Path p) {
  (void)runnable_paths();
  if (can_emulate() && (p == Path::vnni || p == Path::vnni8)) return "";
  return cpu_missing(cpu_here(), p);
}

EmulationWatch::EmulationWatch(const Engine& e) : path_(e.kern().path), bytes_(e.kv() == KvType::q8) {
  const Model& m = e.model();
  const auto product = [this](const Tensor* t) {
    bytes_ = bytes_ || t->type == TType::q8 || t->type == TType::q80;
    nibbles_ = nibbles_ || t->type == TType::q4 || t->type == TType::q4k || t->type == TType::q6k;
  };
  for (const LayerTensors& l : m.layers)
    for (const Tensor* t : {l.q, l.k, l.v, l.o, l.gate, l.up, l.down}) product(t);
  product(m.head);
  vnni::forget_runs();
}

EmulationWatch::~EmulationWatch() {
  const CpuFeatures& cpu = cpu_here();
  const bool vnni = path_ == Path::vnni, vnni8 = path_ == Path::vnni8;
  for (int i = 0; i < vnni::NOPS; i++) {
    const auto op = static_cast<vnni::Op>(i);
    bool due = false;
    if (op == vnni::BUSD) due = !cpu.avx_vnni && ((vnni && (bytes_ || nibbles_)) || (vnni8 && nibbles_));
    if (op == vnni::BSSD) due = !cpu.avx_vnni_int8 && vnni8 && bytes_;
    EXPECT_EQ(vnni::ran(op), due) << path_name(path_) << ", emulation of operation " << i << " (vnni_emu.h)";
  }
}

}  // namespace nyb::test
