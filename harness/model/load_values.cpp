// load_values.cpp - what the metadata says, and the numbers that lie beside the weights.
#include <fmt/format.h>

#include <cfloat>
#include <cmath>

#include "kern/dmath.h"
#include "kern/error.h"
#include "model/bytes.h"
#include "model/family.h"
#include "model/load_check.h"
#include "model/meta_io.h"

namespace nyb {
namespace {

class MetaChecker {
 public:
  MetaChecker(const Meta& meta, const std::string& path) : meta_(meta), path_(path) {}

  template <class T>
  const T& need(const char* k) const {
    if (!meta_.has(k)) throw Error(fmt::format("{}: the metadata key \"{}\" is missing", path_, k));
    return meta_.get<T>(k);  // its type was checked when it was decoded
  }

  void word(const char* k, std::string_view only) const {
    const auto& v = need<std::string>(k);
    if (v != only) throw Error(fmt::format("{}: {} is {}; this program runs \"{}\" only", path_, k, shown(v), only));
  }

  // a double that is used as a float: finite there, and above zero unless zero is let in
  float number(const char* k, bool zero_ok) const {
    const double v = need<double>(k);
    if (!(v >= 0 && v <= FLT_MAX) || (!zero_ok && static_cast<float>(v) == 0))
      throw Error(fmt::format("{}: {} is {}, which is not a finite number {} zero", path_, k, v, zero_ok ? "from" : "above"));
    return static_cast<float>(v);
  }

  // 0 or 1; 0 when absent
  bool flag(const char* k) const {
    const auto* v = meta_.find<uint64_t>(k);
    if (v && *v > 1) throw Error(fmt::format("{}: {} is {} where 0 or 1 belongs", path_, k, *v));
    return v && *v == 1;
  }

  void ids(const char* k, uint64_t limit) const {
    if (const auto* v = meta_.find<std::vector<uint32_t>>(k))
      for (size_t i = 0; i < v->size(); i++) id(k, i, (*v)[i], limit);
  }
  void id(const char* k, size_t i, uint64_t value, uint64_t limit) const {
    if (value >= limit) throw Error(fmt::format("{}: {}[{}] is token {}, beyond the {} there are", path_, k, i, value, limit));
  }

 private:
  const Meta& meta_;
  const std::string& path_;
};

void tokenizer_check(const MetaChecker& c, const Meta& meta, const ModelShape& shape, const std::string& path) {
  uint64_t limit = shape.vocab;
  if (const auto* tokens = meta.find<std::vector<std::string>>(key::tok_tokens)) {
    if (tokens->size() > shape.vocab)
      throw Error(fmt::format("{}: tok.tokens has {} tokens, more than the vocabulary of {}", path, tokens->size(), shape.vocab));
    limit = tokens->size();
  }
  if (const auto* merges = meta.find<std::vector<uint32_t>>(key::tok_merges); merges && merges->size() % 3 != 0)
    throw Error(fmt::format("{}: tok.merges has {} numbers, which are not triples", path, merges->size()));
  if (const auto* scores = meta.find<std::vector<double>>(key::tok_scores); scores && scores->size() != limit)
    throw Error(fmt::format("{}: tok.scores has {} numbers for {} tokens", path, scores->size(), limit));
  if (const auto* types = meta.find<std::vector<uint32_t>>(key::tok_types); types && types->size() != limit)
    throw Error(fmt::format("{}: tok.types has {} numbers for {} tokens", path, types->size(), limit));
  for (const char* k :
       {key::tok_merges, key::tok_specials, key::tok_named, key::tok_whole, key::tok_strips_before, key::tok_strips_after})
    c.ids(k, limit);
  c.ids(key::tok_ends, shape.vocab);
  if (const auto* bos = meta.find<uint64_t>(key::tok_bos)) c.id(key::tok_bos, 0, *bos, shape.vocab);
  if (const auto* unknown = meta.find<uint64_t>(key::tok_unknown)) c.id(key::tok_unknown, 0, *unknown, limit);
  c.flag(key::tok_add_bos);
}

// What layers have that not all families have.
void layers_check(const MetaChecker& c, const Meta& meta, ModelShape& shape, const std::string& path) {
  shape.qkv_bias = c.flag(key::qkv_bias);
  shape.o_bias = c.flag(key::o_bias);
  shape.qk_norm = c.flag(key::qk_norm);
  if (const auto* windows = meta.find<std::vector<uint32_t>>(key::windows)) {
    if (windows->size() != shape.layers)
      throw Error(fmt::format("{}: attn.windows has {} numbers for {} layers", path, windows->size(), shape.layers));
    shape.windows = *windows;
  }
  if (const auto* none = meta.find<std::vector<uint32_t>>(key::rope_none)) {
    for (size_t i = 0; i < none->size(); i++)
      if ((*none)[i] >= shape.layers || (i > 0 && (*none)[i] <= (*none)[i - 1]))
        throw Error(fmt::format("{}: rope.none[{}] is {}, which is not a layer of the {} in ascending order", path, i, (*none)[i],
                                shape.layers));
    shape.no_rope = *none;
  }
}

// Whether one of sixteen f16 is infinite or NaN: its five exponent bits are then all set, and one more carries
// into the sign's place, which was cleared. Four at a time and without a branch, so that memory is what one waits for.
bool any_not_finite(const uint8_t* scales) {
  uint64_t carry = 0;
  for (size_t i = 0; i < kPanelRows / 4; i++) carry |= (get_le<uint64_t>(scales + 8 * i) & 0x7c007c007c007c00) + 0x0400040004000400;
  return (carry & 0x8000800080008000) != 0;
}

// Where a type has sixteen f16: one for each row in every unit of so many columns and bytes.
struct Halves {
  TType type;
  uint64_t unit_cols, unit_bytes, at;  // at: within the unit
  const char *what, *unit;
};
constexpr Halves kHalves[] = {
    {TType::q4, kGroup, kQ4GroupBytes, kQ4NibbleBytes, "scale", "group"},
    {TType::q80, kGroup, kQ80GroupBytes, kQ8GroupBytes, "scale", "group"},
    {TType::q4k, kBlockCols, kQ4kBlockBytes, 0, "scale", "block"},
    {TType::q4k, kBlockCols, kQ4kBlockBytes, 2 * kPanelRows, "minimum", "block"},
    {TType::q6k, kBlockCols, kQ6kBlockBytes, 0, "scale", "block"},
};

// The f16 lie among the weights, in q4 32 bytes of every 288: too far apart for the CPU to fetch ahead by itself, which asking
// for those of 64 groups on makes up for (a gigabyte in a quarter of the time).
constexpr uint64_t kAhead = 64;

void halves_check(const Tensor& t, const Halves& h, const std::string& path) {
  const uint64_t units = t.cols / h.unit_cols + (t.cols % h.unit_cols != 0), n = panels_of(t.rows) * units;
  for (uint64_t i = 0; i < n; i++) {
    const uint8_t* s = t.data + i * h.unit_bytes + h.at;
    if (i + kAhead < n) __builtin_prefetch(s + kAhead * h.unit_bytes);
    if (!any_not_finite(s)) continue;
    uint64_t r = 0;
    while ((get_le<uint16_t>(s + 2 * r) & 0x7c00) != 0x7c00) r++;
    throw Error(fmt::format("{}: the {} of row {}, {} {} of tensor {} is not finite", path, h.what, i / units * kPanelRows + r,
                            h.unit, i % units, t.name));
  }
}

}  // namespace

void meta_check(const Meta& meta, ModelShape& shape, const std::string& path) {
  const MetaChecker c(meta, path);
  if (const auto& family = c.need<std::string>(key::family); !family_find(family))
    throw Error(fmt::format("{}: family is {}; this program runs {}", path, shown(family), family_names(&Family::name)));
  c.word(key::act, "silu");
  c.word(key::rope_style, "half");
  shape.norm_eps = c.number(key::norm_eps, true);
  shape.attn_scale = c.number(key::attn_scale, false);
  shape.rope_factor = meta.has(key::rope_factor) ? c.number(key::rope_factor, false) : 1.0f;
  shape.rope_freqs = c.need<std::vector<double>>(key::rope_freqs);
  const size_t n = shape.rope_freqs.size();
  if (n == 0 || n > shape.head_dim / 2)
    throw Error(fmt::format("{}: rope.freqs has {} frequencies where a head of {} takes 1 to {}", path, n, shape.head_dim,
                            shape.head_dim / 2));
  // angles go to det_sincos, which takes up to 2^30
  for (size_t i = 0; i < n; i++) {
    const double f = shape.rope_freqs[i];
    if (!(f >= 0 && f * shape.ctx <= kMostRadians))
      throw Error(fmt::format("{}: rope.freqs[{}] is {}, which over {} positions is not within 0 to 2^30", path, i, f, shape.ctx));
  }
  layers_check(c, meta, shape, path);
  tokenizer_check(c, meta, shape, path);
}

void values_check(const Model& m) {
  for (const Tensor& t : m.tensors) {
    if (t.type == TType::vec) {
      for (uint64_t i = 0; i < t.cols; i++)
        if (!std::isfinite(t.vec()[i])) throw Error(fmt::format("{}: value {} of tensor {} is not finite", m.path, i, t.name));
    } else if (t.type == TType::q8) {
      for (uint64_t r = 0; r < panels_of(t.rows) * kPanelRows; r++)
        if (!std::isfinite(t.row_scale()[r]))
          throw Error(fmt::format("{}: the scale of row {} of tensor {} is not finite", m.path, r, t.name));
    }
    for (const Halves& h : kHalves)
      if (h.type == t.type) halves_check(t, h, m.path);
  }
}

}  // namespace nyb
