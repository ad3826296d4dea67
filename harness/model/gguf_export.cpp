#include "model/gguf_export.h"

#include <fmt/format.h>

#include <map>

#include "kern/error.h"
#include "kern/mxcsr.h"
#include "model/family.h"
#include "model/format.h"
#include "model/gguf_names.h"
#include "model/gguf_rows.h"
#include "model/writer.h"

namespace nyb {
namespace {

// llama.h's llama_ftype; of types that are kept there is none that says it.
uint32_t file_type(GgmlType t) {
  switch (t) {
    case GgmlType::f16: return 1;
    case GgmlType::q4_0: return 2;
    case GgmlType::q8_0: return 7;
    case GgmlType::bf16: return 32;
    default: return 0;
  }
}

// What is said once of all layers: "q", "embed" ...
std::string kind_of(const std::string& slot) { return slot.substr(slot.rfind('.') + 1); }

class Exporter {
 public:
  Exporter(const ModelSource& src, const ExportOptions& o) : src_(src), options_(o), slots_(model_slots(src.shape, src.tied)) {
    for (const TensorSlot& s : slots_) total_ += s.rows * s.cols;
  }

  ExportReport run(const GgufKeys& more, const std::string& out) {
    const MxcsrScope float_rules;
    output_check(out);
    std::vector<float> factors;
    GgufKeys keys = gguf_model_keys(src_, factors, report_.notes);
    pairs_ = family_find(src_.meta.get<std::string>(key::family))->gguf_pairs;
    if (options_.type) keys.u32("general.file_type", file_type(*options_.type));
    keys.add(more);
    std::vector<GgufPlan> plan;
    if (!factors.empty()) plan.push_back({kGgufRopeFactors, GgmlType::f32, 0, factors.size()});
    for (size_t i = 0; i < slots_.size(); i++)
      plan.push_back({gguf_name(slots_[i].name), type_of(i), slots_[i].matrix ? slots_[i].rows : 0, slots_[i].cols});
    GgufWriter writer(out, keys, plan);
    if (!factors.empty()) writer.data(factors.data(), factors.size() * sizeof(float));
    const size_t first = plan.size() - slots_.size();
    for (size_t i = 0; i < slots_.size(); i++) {
      write(writer, i, plan[first + i].type);
      source_release(src_.tensors[i]);
    }
    writer.finish();
    for (const auto& [kind, note] : fallen_) report_.notes.push_back(note);
    for (const auto& [kind, f] : faults_) {
      if (f.saturated != 0)
        report_.notes.push_back(
            fmt::format("{}: {} values or scales are larger than {} holds, and became the greatest that it does", kind, f.saturated,
                        options_.type == GgmlType::bf16 ? "bf16" : "f16"));
      if (f.vanished != 0)
        report_.notes.push_back(
            fmt::format("{}: the scales of {} groups are too small for f16, and their weights became zero", kind, f.vanished));
    }
    report_.file_bytes = writer.file_bytes();
    report_.params = total_;
    return std::move(report_);
  }

 private:
  GgmlType type_of(size_t i) {
    const TensorSlot& s = slots_[i];
    if (!s.matrix) return GgmlType::f32;
    const bool head = s.name == "head" || (src_.tied && s.name == "embed");
    const std::optional<GgmlType> asked = head ? options_.head : options_.type;
    if (!asked) return gguf_kept_type(src_.tensors[i]);
    const GgmlType type = gguf_fitting_type(*asked, s.cols);
    if (type != *asked)
      fallen_[kind_of(s.name)] = fmt::format("{}: rows of {} columns are no whole number of {}'s blocks of {}, so they are in f16",
                                             kind_of(s.name), s.cols, ggml_block(*asked).name, ggml_block(*asked).values);
    return type;
  }

  [[noreturn]] void not_finite(size_t i, uint64_t row, uint64_t col) const {
    const SourceTensor& t = src_.tensors[i];
    throw Error(fmt::format("{}: a weight of tensor {} (row {}, column {}) is not a finite number", src_.files[t.file].path(),
                            t.name, source_row(t, row), col));
  }

  // Rows in the order of the GGUF.
  void write(GgufWriter& writer, size_t i, GgmlType type) {
    const TensorSlot& s = slots_[i];
    const bool turned = pairs_ && gguf_turned(s.name);
    GgufRows rows(src_.tensors[i], type, options_.fit);
    std::vector<uint8_t> bytes(rows.row_bytes());
    for (uint64_t r = 0; r < s.rows; r++) {
      const uint64_t own = turned && s.matrix ? halves_from_pairs(r, src_.shape.head_dim) : r;
      try {
        rows.row(own, bytes.data());
      } catch (const GgufRows::NotFinite& bad) { not_finite(i, own, bad.col); }
      if (turned && !s.matrix)
        for (uint64_t c = 0; c < s.cols; c++)
          std::memcpy(bytes.data() + c * sizeof(float), &rows.values()[halves_from_pairs(c, src_.shape.head_dim)], sizeof(float));
      writer.data(bytes.data(), bytes.size());
      done_ += s.cols;
      if (options_.progress) options_.progress(done_, total_);
    }
    if (const RowFaults& f = rows.faults(); f.saturated + f.vanished != 0) {
      RowFaults& all = faults_[kind_of(s.name)];
      all.saturated += f.saturated;
      all.vanished += f.vanished;
    }
  }

  const ModelSource& src_;
  const ExportOptions& options_;
  std::vector<TensorSlot> slots_;
  bool pairs_ = false;
  uint64_t done_ = 0, total_ = 0;
  std::map<std::string, std::string> fallen_;
  std::map<std::string, RowFaults> faults_;
  ExportReport report_;
};

}  // namespace

ExportReport gguf_export(const ModelSource& src, const GgufKeys& more, const std::string& out, const ExportOptions& options) {
  return Exporter(src, options).run(more, out);
}

}  // namespace nyb
