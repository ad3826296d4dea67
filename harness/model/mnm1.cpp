// mnm1.cpp - version 1 of the model file (MNMODEL1): a header of numbers, then row-major tensors, each on 64 bytes
// (docs/model-file.md, "Version 1").
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

constexpr uint64_t kHeaderBytes = 4096, kFieldsEnd = 96, kPad = 64;
constexpr uint64_t kInt4GroupBytes = kGroup / 2;
constexpr double kEps = 1e-5;
enum Quant : uint64_t { kF32 = 0, kInt8 = 1, kInt4 = 2 };

// A matrix of the file, and what of it the next tensor is cut from.
struct Matrix {
  uint64_t data = 0, scales = 0;  // offsets
  uint64_t row = 0;               // rows that were cut off already
};

class Reader {
 public:
  Reader(const std::string& path, const std::string& name) : src_(source_of_file(path, name)) {}

  ModelSource run() {
    header();
    tensors();
    if (at_ != file().size())
      throw Error(fmt::format("{}: the file has {} bytes where its header asks for {} {}: it was cut off or added to", src_.path,
                              file().size(), at_, header_text()));
    return std::move(src_);
  }

 private:
  const MappedFile& file() const { return src_.files.front(); }
  uint64_t u64(uint64_t at) const { return get_le<uint64_t>(file().data() + at); }
  [[noreturn]] void fail(const std::string& what) const { throw Error(fmt::format("{}: {}", src_.path, what)); }

  std::string header_text() const {
    const ModelShape& s = src_.shape;
    return fmt::format(
        "(layers {}, width {}, heads {}, key/value heads {}, head dimension {}, feed-forward {}, vocabulary {}, type {})", s.layers,
        s.dim, s.heads, s.kv_heads, s.head_dim, s.ffn, s.vocab, quant_);
  }

  void header() {
    if (file().size() < kHeaderBytes)
      fail(fmt::format("the file ends after {} bytes, within the {} of a version 1 header", file().size(), kHeaderBytes));
    ModelShape& s = src_.shape;
    struct Field {
      const char* name;
      uint32_t& value;
    };
    const std::array<Field, 8> fields = {{{"layers", s.layers},
                                          {"width", s.dim},
                                          {"query heads", s.heads},
                                          {"key/value heads", s.kv_heads},
                                          {"head dimension", s.head_dim},
                                          {"feed-forward", s.ffn},
                                          {"vocabulary", s.vocab},
                                          {"longest context", s.ctx}}};
    for (size_t i = 0; i < fields.size(); i++) {
      const uint64_t v = u64(8 + 8 * i);
      if (v == 0 || v > UINT32_MAX) fail(fmt::format("{} is {}, which is not within 1 to {}", fields[i].name, v, UINT32_MAX));
      fields[i].value = static_cast<uint32_t>(v);
    }
    quant_ = u64(80);
    if (quant_ > kInt4) fail(fmt::format("the quantization type is {}; 0 (f32), 1 (int8) and 2 (int4) are read", quant_));
    for (uint64_t i = kFieldsEnd; i < kHeaderBytes; i++)
      if (file().data()[i] != 0) fail(fmt::format("byte {} of the header is {} where zeros belong", i, file().data()[i]));
    shape_check(s, src_.path);
    const uint64_t q_dim = uint64_t{s.heads} * s.head_dim;
    if (quant_ == kInt4 && (s.dim % kGroup != 0 || q_dim % kGroup != 0 || s.ffn % kGroup != 0))
      fail(
          fmt::format("int4 goes by groups of {} columns, and width {}, heads x head dimension {} and feed-forward {} are not all "
                      "multiples of that",
                      kGroup, s.dim, q_dim, s.ffn));
    const auto base = get_le<double>(file().data() + 72);
    if (!(base > 0 && std::isfinite(base))) fail(fmt::format("the RoPE base is {}, which is not a finite number above zero", base));
    RopeRule rule;
    rule.theta = base;
    s.rope_freqs = rope_frequencies(rule, s.head_dim);
    src_.tied = true;
    at_ = kHeaderBytes;
    family_meta(*family_find("llama"), s, kEps, src_.path, src_.meta);
    src_.tokenizer_hash = u64(88);
  }

  // Bytes from at_ on, within the file; what follows begins on 64 bytes.
  uint64_t take(const std::string& what, uint64_t bytes) {
    if (bytes > file().size() || at_ > file().size() - bytes)
      fail(
          fmt::format("the file ends within {}: {} bytes from byte {} on where it has {}; it is cut off, or its header {} is wrong",
                      what, bytes, at_, file().size(), header_text()));
    const uint64_t at = at_;
    at_ = (at_ + bytes + kPad - 1) / kPad * kPad;
    return at;
  }

  // Rows and columns are those of a checked shape: below 2^55 values.
  Matrix matrix(const std::string& what, uint64_t rows, uint64_t cols) {
    Matrix m;
    if (quant_ == kF32) {
      m.data = take(what, rows * cols * sizeof(float));
    } else if (quant_ == kInt8) {
      m.data = take(what, rows * cols);
      m.scales = take("the scales of " + what, rows * sizeof(float));
    } else {
      m.data = take(what, rows * cols / kGroup * kInt4GroupBytes);
      m.scales = take("the scales of " + what, rows * cols / kGroup * sizeof(float));
    }
    return m;
  }

  // The next rows of a matrix, which belong to one tensor of ours.
  void cut(Matrix& m, std::string name, uint64_t rows, uint64_t cols, uint64_t pairs_of = 0) {
    SourceTensor t;
    t.name = std::move(name);
    t.shape = {rows, cols};
    t.pairs_of = pairs_of;
    const uint64_t first = m.row * cols, values = rows * cols;
    const uint8_t* b = file().data();
    if (quant_ == kF32) {
      t.data = b + m.data + first * sizeof(float);
      t.bytes = values * sizeof(float);
    } else {
      const bool int8 = quant_ == kInt8;
      t.type = int8 ? SourceType::q8 : SourceType::q4;
      t.group = int8 ? cols : kGroup;
      t.data = b + m.data + (int8 ? first : first / 2);
      t.bytes = int8 ? values : values / 2;
      t.scales = b + m.scales + first / t.group * sizeof(float);
      scales_check(t, values / t.group);
    }
    m.row += rows;
    src_.tensors.push_back(std::move(t));
  }

  void scales_check(const SourceTensor& t, uint64_t count) const {
    for (uint64_t i = 0; i < count; i++)
      if (const auto scale = get_le<float>(t.scales + 4 * i); !std::isfinite(scale))
        fail(fmt::format("scale {} of {} is not a finite number", i, t.name));
  }

  void vec(std::vector<SourceTensor>& to, const std::string& name) {
    SourceTensor t;
    t.name = name;
    t.shape = {1, src_.shape.dim};
    t.bytes = uint64_t{src_.shape.dim} * sizeof(float);
    t.data = file().data() + take(name, t.bytes);
    to.push_back(std::move(t));
  }

  // In the file all matrices come before all norms, here a norm before the matrices that it is for.
  void tensors() {
    const ModelShape& s = src_.shape;
    const uint64_t d = s.dim, q = uint64_t{s.heads} * s.head_dim, kv = uint64_t{s.kv_heads} * s.head_dim;
    Matrix embed = matrix("E", s.vocab, d);
    struct Layer {
      Matrix qkv, o, w13, w2;
    };
    std::vector<Layer> layers;
    for (uint64_t l = 0; l < s.layers; l++) {
      const auto name = [l](const char* part) { return fmt::format("{} of layer {}", part, l); };
      Layer& m = layers.emplace_back();
      m.qkv = matrix(name("Wqkv"), q + 2 * kv, d);
      m.o = matrix(name("Wo"), d, q);
      m.w13 = matrix(name("W13"), 2 * uint64_t{s.ffn}, d);
      m.w2 = matrix(name("W2"), d, s.ffn);
    }
    std::vector<SourceTensor> norms;
    for (uint64_t l = 0; l < s.layers; l++) {
      vec(norms, fmt::format("n1 of layer {}", l));
      vec(norms, fmt::format("n2 of layer {}", l));
    }
    vec(norms, "the last norm");

    cut(embed, "E", s.vocab, d);
    for (uint64_t l = 0; l < s.layers; l++) {
      const auto name = [l](const char* part) { return fmt::format("{} of layer {}", part, l); };
      Layer& m = layers[l];
      src_.tensors.push_back(norms[2 * l]);
      cut(m.qkv, name("Wq"), q, d, s.head_dim);
      cut(m.qkv, name("Wk"), kv, d, s.head_dim);
      cut(m.qkv, name("Wv"), kv, d);
      cut(m.o, name("Wo"), d, q);
      src_.tensors.push_back(norms[2 * l + 1]);
      cut(m.w13, name("W1"), s.ffn, d);
      cut(m.w13, name("W3"), s.ffn, d);
      cut(m.w2, name("W2"), d, s.ffn);
    }
    src_.tensors.push_back(norms.back());
  }

  ModelSource src_;
  uint64_t quant_ = kF32;
  uint64_t at_ = 0;  // in the file; beyond it by padding only
};

}  // namespace

ModelSource mnm1_open(const std::string& path, const std::string& name) {
  const MxcsrScope float_rules;  // for the frequencies
  return Reader(path, name).run();
}

}  // namespace nyb
