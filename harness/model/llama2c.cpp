// llama2c.cpp - the model files of llama2.c: a header of seven numbers, then the tensors without names.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "kern/error.h"
#include "kern/mxcsr.h"
#include "model/bytes.h"
#include "model/family.h"
#include "model/format.h"
#include "model/rope.h"
#include "model/source.h"

namespace nyb {
namespace {

constexpr uint32_t kMagicAk42 = 0x616b3432;
constexpr uint64_t kFieldsBytes = 7 * 4, kNewHeaderBytes = 256;

// Where the layers' tensors of one kind begin, one after the other.
struct Run {
  uint64_t offset = 0;
  uint64_t each = 0;  // bytes of a layer's
  bool quantized = false;
};

class Reader {
 public:
  Reader(const std::string& path, const std::string& name) : src_(source_of_file(path, name)) {}

  ModelSource run() {
    header();
    src_.shape.rope_freqs = rope_frequencies({}, src_.shape.head_dim);
    family_meta(*family_find("llama"), src_.shape, 1e-5, src_.path, src_.meta);
    if (version_ == 0)
      legacy_tensors();
    else
      tensors();
    if (at_ != file().size())
      throw Error(
          fmt::format("{}: {} bytes follow the last tensor, which ends at {}: the header {} is wrong, or the file was added to",
                      src_.path, file().size() - at_, at_, header_text()));
    in_order();
    return std::move(src_);
  }

 private:
  const MappedFile& file() const { return src_.files.front(); }

  void need_header(uint64_t bytes) const {
    if (file().size() < bytes)
      throw Error(
          fmt::format("{}: the file ends after {} bytes, within the {} of a llama2.c header", src_.path, file().size(), bytes));
  }

  void header() {
    need_header(kFieldsBytes);
    const uint8_t* b = file().data();
    uint64_t at = 0;
    if (get_le<uint32_t>(b) == kMagicAk42) {
      need_header(kNewHeaderBytes);
      const auto version = get_le<int32_t>(b + 4);
      if (version != 1 && version != 2)
        throw Error(fmt::format("{}: the llama2.c version is {}; 0, 1 and 2 are read", src_.path, version));
      version_ = version;
      at = 8;
    }
    for (size_t i = 0; i < 7; i++) fields_[i] = get_le<int32_t>(b + at + 4 * i);
    at_ = at + kFieldsBytes;
    shape();
    if (version_ != 0) flags();
  }

  // In llama2.c's words.
  std::string header_text() const {
    return fmt::format("(dim {}, hidden_dim {}, n_layers {}, n_heads {}, n_kv_heads {}, vocab_size {}, seq_len {})", fields_[0],
                       fields_[1], fields_[2], fields_[3], fields_[4], fields_[5], fields_[6]);
  }

  std::string no_model_text() const {
    return fmt::format("{}: this is no model of llama2.c, by its header {}", src_.path, header_text());
  }
  [[noreturn]] void no_model(const std::string& why) const { throw Error(fmt::format("{}: {}", no_model_text(), why)); }

  void shape() {
    constexpr const char* names[] = {"dim", "hidden_dim", "n_layers", "n_heads", "n_kv_heads", "vocab_size", "seq_len"};
    std::array<uint32_t, 7> v{};
    for (size_t i = 0; i < 7; i++) {
      // a negative vocabulary says that the head is a tensor of its own
      const bool sign = i == 5 && version_ == 0;
      const int64_t value = sign && fields_[i] < 0 ? -int64_t{fields_[i]} : int64_t{fields_[i]};
      if (value < 1) no_model(fmt::format("{} is {}", names[i], fields_[i]));
      v[i] = static_cast<uint32_t>(value);
    }
    src_.tied = fields_[5] > 0;
    ModelShape& s = src_.shape;
    s.dim = v[0];
    s.ffn = v[1];
    s.layers = v[2];
    s.heads = v[3];
    s.kv_heads = v[4];
    s.vocab = v[5];
    s.ctx = v[6];
    if (s.dim % s.heads != 0) no_model(fmt::format("dim is not a multiple of the {} heads", s.heads));
    s.head_dim = s.dim / s.heads;
    shape_check(s, no_model_text());
  }

  // What follows the seven numbers of versions 1 and 2.
  void flags() {
    const uint8_t* b = file().data();
    if (b[at_] > 1) no_model(fmt::format("the flag for a shared head is {}", b[at_]));
    src_.tied = b[at_++] == 1;
    if (version_ == 2) {
      const auto group = get_le<int32_t>(b + at_);
      if (group < 1) no_model(fmt::format("the group size is {}", group));
      group_ = static_cast<uint64_t>(group);
      at_ += 4;
    }
    for (; at_ < kNewHeaderBytes; at_++)
      if (b[at_] != 0) no_model(fmt::format("byte {} is {} where zeros belong", at_, b[at_]));
  }

  // The next `count` tensors of rows x cols, within the file. Rows and columns are those of a checked shape.
  Run take(const char* what, uint64_t count, uint64_t rows, uint64_t cols, bool quantized = false) {
    const uint64_t values = rows * cols;  // below 2^55
    if (quantized && values % group_ != 0)
      no_model(fmt::format("the {} values of {} are no multiple of the group size {}", values, what, group_));
    const uint64_t each = quantized ? values + values / group_ * sizeof(float) : values * sizeof(float);
    if (count > (file().size() - at_) / each)
      throw Error(
          fmt::format("{}: the file ends within {}: {} x {} bytes from byte {} on where the file has {}; it is cut off, or its "
                      "header {} is wrong",
                      src_.path, what, count, each, at_, file().size(), header_text()));
    const Run run{at_, each, quantized};
    at_ += count * each;
    return run;
  }

  void legacy_tensors() {
    const ModelShape& s = src_.shape;
    const uint64_t d = s.dim, kv = uint64_t{s.kv_heads} * s.head_dim, n = s.layers;
    embed_ = take("tok_embeddings", 1, s.vocab, d);
    attn_norm_ = take("attention_norm", n, 1, d);
    q_ = take("wq", n, d, d);
    k_ = take("wk", n, kv, d);
    v_ = take("wv", n, kv, d);
    o_ = take("wo", n, d, d);
    ffn_norm_ = take("ffn_norm", n, 1, d);
    gate_ = take("w1", n, s.ffn, d);
    down_ = take("w2", n, d, s.ffn);
    up_ = take("w3", n, s.ffn, d);
    out_norm_ = take("norm", 1, 1, d);
    take("freqs_cos", 1, s.ctx, s.head_dim / 2);  // no longer read by llama2.c itself
    take("freqs_sin", 1, s.ctx, s.head_dim / 2);
    if (!src_.tied) head_ = take("output", 1, s.vocab, d);
  }

  void tensors() {
    const ModelShape& s = src_.shape;
    const uint64_t d = s.dim, kv = uint64_t{s.kv_heads} * s.head_dim, n = s.layers;
    const bool q = version_ == 2;
    attn_norm_ = take("attention_norm", n, 1, d);
    ffn_norm_ = take("ffn_norm", n, 1, d);
    out_norm_ = take("norm", 1, 1, d);
    embed_ = take("tok_embeddings", 1, s.vocab, d, q);
    q_ = take("wq", n, d, d, q);
    k_ = take("wk", n, kv, d, q);
    v_ = take("wv", n, kv, d, q);
    o_ = take("wo", n, d, d, q);
    gate_ = take("w1", n, s.ffn, d, q);
    down_ = take("w2", n, d, s.ffn, q);
    up_ = take("w3", n, s.ffn, d, q);
    if (!src_.tied) head_ = take("output", 1, s.vocab, d, q);
    if (q) scales_check();
  }

  // Early files of version 2 have all scales behind all values, under the same header and of the same length: what stands in their
  // place there is no scale.
  void scales_check() const {
    const uint64_t values = uint64_t{src_.shape.vocab} * src_.shape.dim;
    const uint8_t* scales = file().data() + embed_.offset + values;
    for (uint64_t i = 0; i < values / group_; i++) {
      const auto scale = get_le<float>(scales + 4 * i);
      if (!std::isfinite(scale) || scale < 0)
        throw Error(
            fmt::format("{}: the scale of group {} of tok_embeddings is {}: the file is damaged, or of the early layout of "
                        "version 2 with all scales at its end, which is not read",
                        src_.path, i, scale));
    }
  }

  void add(std::string name, const Run& run, uint64_t layer, uint64_t rows, uint64_t cols, uint64_t pairs_of = 0) {
    SourceTensor t;
    t.name = std::move(name);
    t.shape = {rows, cols};
    t.data = file().data() + run.offset + layer * run.each;
    t.bytes = run.each;
    t.pairs_of = pairs_of;
    if (run.quantized) {
      t.type = SourceType::q8;
      t.group = group_;
      t.scales = t.data + rows * cols;
    }
    src_.tensors.push_back(std::move(t));
  }

  void in_order() {
    const ModelShape& s = src_.shape;
    const uint64_t d = s.dim, kv = uint64_t{s.kv_heads} * s.head_dim;
    add("tok_embeddings", embed_, 0, s.vocab, d);
    for (uint64_t l = 0; l < s.layers; l++) {
      const auto name = [l](const char* part) { return fmt::format("layers.{}.{}", l, part); };
      add(name("attention_norm"), attn_norm_, l, 1, d);
      add(name("wq"), q_, l, d, d, s.head_dim);
      add(name("wk"), k_, l, kv, d, s.head_dim);
      add(name("wv"), v_, l, kv, d);
      add(name("wo"), o_, l, d, d);
      add(name("ffn_norm"), ffn_norm_, l, 1, d);
      add(name("w1"), gate_, l, s.ffn, d);
      add(name("w3"), up_, l, s.ffn, d);
      add(name("w2"), down_, l, d, s.ffn);
    }
    add("norm", out_norm_, 0, 1, d);
    if (!src_.tied) add("output", head_, 0, s.vocab, d);
  }

  ModelSource src_;
  int version_ = 0;
  std::array<int32_t, 7> fields_{};
  uint64_t group_ = 0;  // of version 2
  uint64_t at_ = 0;     // in the file; never beyond it
  Run embed_, attn_norm_, q_, k_, v_, o_, ffn_norm_, gate_, up_, down_, out_norm_, head_;
};

}  // namespace

ModelSource llama2c_open(const std::string& path, const std::string& name) {
  const MxcsrScope float_rules;  // for the frequencies
  return Reader(path, name).run();
}

}  // namespace nyb
