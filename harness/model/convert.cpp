// convert.cpp - the two readings of each tensor, and what is said about them.
#include "model/convert.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>

#include "kern/error.h"
#include "kern/mxcsr.h"
#include "model/format.h"
#include "model/keep.h"
#include "model/quant.h"
#include "model/writer.h"

namespace nyb {
namespace {

// Panels whose product is measured, at most, spread over the matrix.
constexpr uint64_t kMeasured = 64;

std::string kind_of(const std::string& slot) {
  if (slot.ends_with("norm")) return "norms";
  if (slot.ends_with("bias")) return "biases";
  return slot.substr(slot.rfind('.') + 1);  // npos + 1 is 0: the whole name
}

class Converter {
 public:
  Converter(const ModelSource& src, const ConvertOptions& o) : src_(src), options_(o), slots_(model_slots(src.shape, src.tied)) {
    for (const TensorSlot& s : slots_) total_ += 2 * s.rows * s.cols;
  }

  ConvertReport run(const std::string& out) {
    const MxcsrScope float_rules;
    output_check(out);
    std::vector<TensorPlan> table;
    std::vector<TypePlan> plans;
    for (size_t i = 0; i < slots_.size(); i++) {
      plans.push_back(plan_for(i));
      table.push_back({slots_[i].name, plans[i].type, slots_[i].rows, slots_[i].cols});
    }
    Meta meta = src_.meta;
    meta.set(key::source_hash, uint64_t{0});
    MnmWriter writer(out, src_.shape, meta, table);
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash(XXH3_createState(), XXH3_freeState);
    XXH3_64bits_reset(hash.get());
    for (size_t i = 0; i < slots_.size(); i++) {
      const SourceTensor& t = src_.tensors[i];
      XXH3_64bits_update(hash.get(), t.data, t.bytes);
      if (t.scales && (t.scales < t.data || t.scales >= t.data + t.bytes))  // apart from their integers
        XXH3_64bits_update(hash.get(), t.scales, t.shape[0] * t.shape[1] / t.group * sizeof(float));
      write(writer, i, plans[i]);
      source_release(t);
      report_.params += slots_[i].rows * slots_[i].cols;
    }
    writer.set(key::source_hash, XXH3_64bits_digest(hash.get()));
    writer.finish();
    report_.file_bytes = writer.file_bytes();
    return std::move(report_);
  }

 private:
  void advance(uint64_t values) {
    done_ += values;
    if (options_.progress) options_.progress(done_, total_);
  }

  [[noreturn]] void not_finite(size_t i, uint64_t index) const {
    const SourceTensor& t = src_.tensors[i];
    const uint64_t cols = slots_[i].cols, row = source_row(t, index / cols), col = index % cols;
    throw Error(fmt::format("{}: weight {} of tensor {} (row {}, column {}) is not a finite number", src_.files[t.file].path(),
                            row * cols + col, t.name, row, col));
  }

  // Nothing: the source's own.
  std::optional<TType> asked(size_t i) const {
    const TensorSlot& s = slots_[i];
    if (!s.matrix) return TType::vec;
    return s.name == "head" || (src_.tied && s.name == "embed") ? options_.head : options_.type;
  }

  // The first reading: refuses what is not finite, and decides the tensor's type and how it comes about.
  TypePlan plan_for(size_t i) {
    const TensorSlot& s = slots_[i];
    const std::optional<TType> type = asked(i);
    TypePlan plan = type ? TypePlan{*type, Via::floats} : type_kept(src_.tensors[i]);
    const bool wants_q4 = plan.type == TType::q4 && plan.via == Via::floats;
    Vanished vanished;
    std::vector<float> row(s.cols);
    for (uint64_t r = 0; r < s.rows; r++) {
      source_read(src_.tensors[i], r * s.cols, s.cols, row.data());
      if (const auto bad = find_not_finite(row.data(), s.cols)) not_finite(i, r * s.cols + *bad);
      if (plan.via == Via::floats && (plan.type == TType::q4 || plan.type == TType::q80)) {
        if (const auto f = find_scale_fault(plan.type, row.data(), s.cols)) {
          report_.notes.push_back(
              fmt::format("{} is kept in int8: row {}, columns {} to {} have weights up to {:.3g}, {} for {} scale in f16", s.name,
                          r, f->group * kGroup, std::min<uint64_t>(f->group * kGroup + kGroup, s.cols) - 1, f->amax,
                          f->large ? "too large" : "too small", plan.type == TType::q4 ? "an int4" : "a q8_0"));
          plan.type = TType::q8;
        }
      }
      if (wants_q4) {
        const Vanished v = count_vanished(row.data(), s.cols);
        vanished.in_q4 += v.in_q4;
        vanished.in_q8 += v.in_q8;
      }
      advance(s.cols);
    }
    source_release(src_.tensors[i]);
    if (vanished.in_q4 != 0) {
      report_.notes.push_back(fmt::format(
          "{}: the int4 scale of {} group{} of weights would be zero in f16; {} of them became zero in int8 too", s.name,
          vanished.in_q4, vanished.in_q4 == 1 ? "" : "s", vanished.in_q8 == 0 ? "none" : std::to_string(vanished.in_q8)));
    }
    return plan;
  }

  void write(MnmWriter& writer, size_t i, const TypePlan& plan) {
    const TensorSlot& s = slots_[i];
    const TType type = plan.type;
    const uint64_t panels = panels_of(s.rows), size = panel_bytes(type, s.cols);
    const uint64_t stride = (panels + kMeasured - 1) / kMeasured;
    std::vector<float> w(kPanelRows * s.cols), scales;
    std::vector<uint8_t> panel(size);
    const ProductMeter meter(type == TType::vec ? 0 : s.cols);
    ConvertKind& kind = kind_row(i, type);
    uint64_t vanished = 0;
    for (uint64_t p = 0; p < panels; p++) {
      const uint64_t rows = std::min<uint64_t>(kPanelRows, s.rows - p * kPanelRows);
      source_read(src_.tensors[i], p * kPanelRows * s.cols, rows * s.cols, w.data());
      float row_scales[kPanelRows] = {};
      if (plan.via == Via::floats)
        quant_panel(type, w.data(), rows, s.cols, options_.fit, panel.data(), row_scales);
      else
        keep_panel(plan, src_.tensors[i], p * kPanelRows, rows, panel.data(), row_scales);
      writer.tensor(panel.data(), size);
      if (type == TType::q8) {
        scales.insert(scales.end(), row_scales, row_scales + kPanelRows);
        for (uint64_t r = 0; r < rows; r++) vanished += row_scales[r] == 0 && !all_zero(w.data() + r * s.cols, s.cols);
      }
      kind.weights.add(weight_error(type, w.data(), rows, s.cols, panel.data(), row_scales));
      if (p % stride == 0) kind.product.add(meter.measure(type, w.data(), rows, panel.data(), row_scales));
      advance(rows * s.cols);
    }
    if (type == TType::q8) writer.tensor(scales.data(), scales.size() * sizeof(float));
    if (vanished != 0)
      report_.notes.push_back(fmt::format("{}: {} rows have only weights below 1.5e-36 and became zero", s.name, vanished));
    kind.bytes += tensor_bytes(type, s.rows, s.cols);
  }

  static bool all_zero(const float* w, uint64_t n) {
    return std::all_of(w, w + n, [](float x) { return x == 0; });
  }

  ConvertKind& kind_row(size_t i, TType type) {
    const std::string name = kind_of(slots_[i].name);
    auto it = std::find_if(report_.kinds.begin(), report_.kinds.end(), [&](const ConvertKind& k) { return k.kind == name; });
    if (it == report_.kinds.end()) it = report_.kinds.insert(it, ConvertKind{name, {}, 0, {}, {}});
    std::string type_text(type == TType::vec ? "f32" : ttype_name(type));
    const std::string_view own = source_type_name(src_.tensors[i]);
    if (!asked(i) && own != type_text) type_text = fmt::format("{} as {}", own, type_text);
    if ((", " + it->types + ", ").find(", " + type_text + ", ") == std::string::npos)
      it->types += (it->types.empty() ? "" : ", ") + type_text;
    return *it;
  }

  const ModelSource& src_;
  const ConvertOptions& options_;
  std::vector<TensorSlot> slots_;
  uint64_t done_ = 0, total_ = 0;
  ConvertReport report_;
};

}  // namespace

ConvertReport convert(const ModelSource& src, const std::string& out, const ConvertOptions& options) {
  return Converter(src, options).run(out);
}

}  // namespace nyb
