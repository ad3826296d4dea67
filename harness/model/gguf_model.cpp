// gguf_model.cpp - a model in GGUF: its keys as a shape and metadata, and which of its tensors is which.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "kern/error.h"
#include "kern/mxcsr.h"
#include "model/bytes.h"
#include "model/dequant.h"
#include "model/family.h"
#include "model/format.h"
#include "model/gguf.h"
#include "model/gguf_names.h"
#include "model/meta_io.h"
#include "model/rope.h"
#include "model/source.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

// Keys after the architecture's name that change what is computed, of models that this program does not run.
constexpr const char* kNotRun[] = {"expert_count",
                                   "attention.scale",
                                   "attention.clamp_kqv",
                                   "attention.max_alibi_bias",
                                   "attention.temperature_scale",
                                   "attn_logit_softcapping",
                                   "final_logit_softcapping",
                                   "logit_scale",
                                   "residual_scale",
                                   "embedding_scale",
                                   "rope.scaling.yarn_attn_factor",
                                   "rope.scaling.yarn_ext_factor",
                                   "rope.scaling.yarn_log_multiplier",
                                   "use_parallel_residual",
                                   "pooling_type"};

class Importer {
 public:
  Importer(const std::string& path, const std::string& name) : g_(path), path_(g_.path()) {
    src_.path = path_;
    const std::string file = fs::path(path).filename().string();
    src_.meta.set(key::source_file, file);
    const std::string_view own = g_.str("general.name").value_or("");
    src_.meta.set(key::name, !name.empty() ? name : !own.empty() ? std::string(own) : fs::path(path).stem().string());
  }

  ModelSource run() {
    arch_ = need_str("general.architecture");
    family_ = family_of_gguf(arch_);
    if (!family_)
      throw Error(fmt::format("{}: general.architecture is {}, which this program does not run; those it runs are {}", path_,
                              shown(arch_), family_names(&Family::gguf)));
    shape();
    for (const char* k : kNotRun)
      if (is_set(k)) throw Error(fmt::format("{}: {} is set, which this program does not run", path_, of_arch(k)));
    positions();
    tensors();
    src_.files = std::move(g_).take_files();
    return std::move(src_);
  }

 private:
  std::string of_arch(std::string_view key) const { return arch_ + "." + std::string(key); }

  std::string need_str(const char* key) const {
    const auto v = g_.str(key);
    if (!v) throw Error(fmt::format("{}: key {} is missing", path_, key));
    return std::string(*v);
  }

  // Of a list with a value for each layer, which all have to be the same.
  std::optional<uint64_t> whole(const std::string& key) const {
    if (!g_.is_list(key)) return g_.u64(key);
    const std::vector<int64_t> all = g_.ints(key);
    if (all.empty()) throw Error(fmt::format("{}: key {} is an empty list", path_, key));
    for (const int64_t v : all)
      if (v != all[0])
        throw Error(fmt::format("{}: key {} has {} for one layer and {} for another, which this program does not run", path_, key,
                                all[0], v));
    return all[0] < 0 ? 0 : static_cast<uint64_t>(all[0]);  // 0 is refused below
  }

  uint32_t size(std::string_view part, std::optional<uint64_t> otherwise = {}) const {
    const std::string key = of_arch(part);
    const auto v = whole(key);
    if (!v && !otherwise) throw Error(fmt::format("{}: key {} is missing", path_, key));
    const uint64_t n = v ? *v : *otherwise;
    if (n == 0 || n > UINT32_MAX)
      throw Error(fmt::format("{}: key {} is {}, which is not within 1 to {}", path_, key, n, UINT32_MAX));
    return static_cast<uint32_t>(n);
  }

  double positive(std::string_view part, std::optional<double> otherwise = {}) const {
    const std::string key = of_arch(part);
    const auto v = g_.f64(key);
    if (!v && !otherwise) throw Error(fmt::format("{}: key {} is missing", path_, key));
    const double x = v ? *v : *otherwise;
    if (!(x <= 1e38) || !(static_cast<float>(x) > 0))
      throw Error(fmt::format("{}: key {} is {}, which is not above zero and held by a float", path_, key, x));
    return x;
  }

  // There, and not false, zero or empty.
  bool is_set(const char* part) const {
    const auto it = g_.keys().find(of_arch(part));
    if (it == g_.keys().end()) return false;
    switch (it->second.type) {
      case GgufType::f32:
      case GgufType::f64: return *g_.f64(it->first) != 0;
      case GgufType::boolean: return *g_.boolean(it->first);
      case GgufType::string:
      case GgufType::list: return true;
      default: return *g_.u64(it->first) != 0;
    }
  }

  void shape() {
    ModelShape& s = src_.shape;
    s.layers = size("block_count");
    s.dim = size("embedding_length");
    s.heads = size("attention.head_count");
    s.kv_heads = size("attention.head_count_kv", s.heads);
    if (!g_.has(of_arch("attention.key_length")) && s.dim % s.heads != 0)
      throw Error(fmt::format("{}: {} is {}, no multiple of {} heads, and {} is missing", path_, of_arch("embedding_length"), s.dim,
                              s.heads, of_arch("attention.key_length")));
    s.head_dim = size("attention.key_length", s.dim / s.heads);
    if (const uint32_t v = size("attention.value_length", s.head_dim); v != s.head_dim)
      throw Error(
          fmt::format("{}: heads of {} values in keys and {} in values, which this program does not run", path_, s.head_dim, v));
    s.ffn = size("feed_forward_length");
    s.ctx = size("context_length");
    const GgufTensor* embed = g_.tensor(gguf_name("embed"));
    if (!embed) throw Error(fmt::format("{}: tensor {} is missing", path_, gguf_name("embed")));
    if (embed->dims[1] > UINT32_MAX)
      throw Error(
          fmt::format("{}: tensor {} has {} rows, which is not within 1 to {}", path_, embed->name, embed->dims[1], UINT32_MAX));
    s.vocab = static_cast<uint32_t>(embed->dims[1]);
    shape_check(s, path_);
    src_.tied = !g_.tensor(gguf_name("head"));
    if (const auto window = whole(of_arch("attention.sliding_window")); window && *window != 0 && *window < s.ctx)
      throw Error(fmt::format("{}: {} is {}, below the context of {}, which this program does not run", path_,
                              of_arch("attention.sliding_window"), *window, s.ctx));
    // a file says by its tensors whether it has biases
    const bool asked = family_->biases == Biases::asked;
    s.qkv_bias = family_->biases == Biases::qkv || (asked && g_.tensor(gguf_name("layers.0.q_bias")));
    s.o_bias = asked && g_.tensor(gguf_name("layers.0.o_bias"));
    s.qk_norm = family_->qk_norm;
    s.no_rope = every_no_rope(family_->no_rope_interval, s.layers);
  }

  // A factor without a type is a linear one.
  RopeRule rope_rule() const {
    RopeRule r;
    r.theta = positive("rope.freq_base", 10000.0);
    const std::string type(g_.str(of_arch("rope.scaling.type")).value_or("linear"));
    if (type == "none") return r;
    if (type != "linear" && type != "yarn")
      throw Error(fmt::format("{}: {} is {}; none, linear and yarn are run", path_, of_arch("rope.scaling.type"), shown(type)));
    r.factor = positive("rope.scaling.factor", positive("rope.scale_linear", 1.0));
    r.scaling = type == "yarn" ? RopeScaling::yarn : r.factor == 1 ? RopeScaling::none : RopeScaling::linear;
    if (r.scaling != RopeScaling::yarn) return r;
    r.original_ctx = size("rope.scaling.original_context_length");
    r.beta_fast = positive("rope.scaling.yarn_beta_fast", r.beta_fast);
    r.beta_slow = positive("rope.scaling.yarn_beta_slow", r.beta_slow);
    if (r.beta_fast < r.beta_slow || !(r.theta > 1))
      throw Error(fmt::format("{}: yarn does not run with a base of {}, beta_fast {} and beta_slow {}", path_, r.theta, r.beta_fast,
                              r.beta_slow));
    return r;
  }

  void positions() {
    ModelShape& s = src_.shape;
    if (const uint32_t turned = size("rope.dimension_count", s.head_dim); turned != s.head_dim)
      throw Error(fmt::format("{}: {} is {} where heads have {} values; partial rotation is not run", path_,
                              of_arch("rope.dimension_count"), turned, s.head_dim));
    const double eps = positive("attention.layer_norm_rms_epsilon");
    const RopeRule rule = rope_rule();
    s.rope_freqs = rope_frequencies(rule, s.head_dim);
    // beside what yarn multiplies sine and cosine by, as llama.cpp does
    const double magnitude = rule.scaling == RopeScaling::yarn ? yarn_magnitude(rule.factor) : 1;
    s.rope_factor = static_cast<float>(magnitude * positive("rope.scaling.attn_factor", 1.0));
    if (const GgufTensor* t = g_.tensor(kGgufRopeFactors)) {
      const SourceTensor factors = taken(*t, {s.head_dim / 2});
      std::vector<float> f(s.head_dim / 2);
      source_read(factors, 0, f.size(), f.data());
      for (size_t i = 0; i < f.size(); i++) {
        if (!std::isfinite(f[i]) || f[i] < 1e-6F)
          throw Error(fmt::format("{}: value {} of tensor {} is {}, by which no frequency can be divided", path_, i,
                                  kGgufRopeFactors, f[i]));
        s.rope_freqs[i] /= static_cast<double>(f[i]);
      }
    }
    family_meta(*family_, s, eps, path_, src_.meta);
  }

  // Checked against the shape, a row's length last as in a model file.
  SourceTensor taken(const GgufTensor& t, const std::vector<uint64_t>& want) {
    std::vector<uint64_t> is(t.dims.begin(), t.dims.begin() + t.rank);
    while (is.size() > want.size() && is.back() == 1) is.pop_back();
    std::reverse(is.begin(), is.end());
    const std::string& file = g_.files()[t.file].path();
    if (is != want)
      throw Error(fmt::format("{}: tensor {} has shape [{}] where the keys ask for [{}]", file, shown(t.name), fmt::join(is, ", "),
                              fmt::join(want, ", ")));
    if (!ggml_is_read(t.type->number))
      throw Error(
          fmt::format("{}: tensor {} is of type {}, which is not read; f32, f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0, q2_K to "
                      "q6_K, iq4_nl and iq4_xs are",
                      file, shown(t.name), t.type->name));
    SourceTensor out = source_of_gguf(t);
    out.shape = want;
    used_.insert(t.name);
    return out;
  }

  void tensors() {
    for (const TensorSlot& slot : model_slots(src_.shape, src_.tied)) {
      const std::string name = gguf_name(slot.name);
      const GgufTensor* t = g_.tensor(name);
      if (!t) throw Error(fmt::format("{}: tensor {} is missing", path_, name));
      SourceTensor s = taken(*t, slot.matrix ? std::vector<uint64_t>{slot.rows, slot.cols} : std::vector<uint64_t>{slot.cols});
      if (family_->gguf_pairs && gguf_turned(slot.name)) {
        s.pairs_of = src_.shape.head_dim;
        if (!slot.matrix) s.shape = {slot.cols, 1};  // of a bias each value is a row
      }
      src_.tensors.push_back(std::move(s));
    }
    for (const GgufTensor& t : g_.tensors())
      if (!used_.contains(t.name) && !t.name.ends_with(".attn_rot_embd"))  // buffers of old files that nobody reads
        throw Error(fmt::format("{}: tensor {} is not part of a {} model", g_.files()[t.file].path(), shown(t.name), arch_));
  }

  Gguf g_;
  std::string path_, arch_;
  const Family* family_ = nullptr;
  ModelSource src_;
  std::set<std::string_view> used_;
};

}  // namespace

SourceTensor source_of_gguf(const GgufTensor& t) {
  SourceTensor out;
  out.name = t.name;
  out.block = static_cast<GgmlType>(t.type->number);
  out.type = out.block == GgmlType::f32    ? SourceType::f32
             : out.block == GgmlType::f16  ? SourceType::f16
             : out.block == GgmlType::bf16 ? SourceType::bf16
                                           : SourceType::ggml;
  out.shape.assign(t.dims.begin(), t.dims.begin() + t.rank);
  std::reverse(out.shape.begin(), out.shape.end());
  out.data = t.data;
  out.bytes = t.bytes;
  out.file = t.file;
  return out;
}

ModelSource gguf_open(const std::string& path, const std::string& name) {
  const MxcsrScope float_rules;  // for the frequencies
  return Importer(path, name).run();
}

}  // namespace nyb
