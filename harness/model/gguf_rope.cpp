#include "model/gguf_rope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kern/dmath.h"
#include "kern/error.h"
#include "model/rope.h"

namespace nyb {
namespace {

constexpr double kClose = 0x1p-22;
constexpr double kTwoPi = 0x1.921fb54442d18p+2;

bool close(double a, double b) { return std::abs(a - b) <= kClose * std::abs(b); }

// A number that somebody wrote: whole, else as it is.
double written(double x) {
  const double whole = std::floor(x + 0.5);
  return std::abs(whole - x) <= 1e-9 * x ? whole : x;
}

class Search {
 public:
  Search(const std::vector<double>& freqs, uint32_t head_dim, uint32_t ctx, const std::string& where)
      : freqs_(freqs), head_dim_(head_dim), ctx_(ctx), where_(where) {
    if (freqs.size() != head_dim / 2)
      throw Error(fmt::format("{}: RoPE turns {} of {} pairs of a head, which a GGUF of this family cannot say", where,
                              freqs.size(), head_dim / 2));
    base_of(0);
  }

  bool even() {
    rule_.factor = written(plain_[0] / freqs_[0]);
    rule_.scaling = close(rule_.factor, 1) ? RopeScaling::none : RopeScaling::linear;
    return gives();
  }

  // A ramp leaves the first pairs or the last ones evenly apart.
  bool yarn() {
    const size_t n = freqs_.size();
    if (n < 2) return false;
    for (const size_t pair : {size_t{0}, n - 2}) {
      base_of(pair);
      if (ramp()) return true;
    }
    return false;
  }

  const RopeRule& rule() const { return rule_; }

  // Of the frequencies of the base.
  std::vector<float> factors() const {
    std::vector<float> out;
    for (size_t i = 0; i < freqs_.size(); i++) {
      const double f = plain_[i] / freqs_[i];
      if (!(f >= 1e-6 && f <= 1e30))
        throw Error(fmt::format("{}: the RoPE frequency of pair {} is {}, which cannot be said in a GGUF", where_, i, freqs_[i]));
      out.push_back(static_cast<float>(f));
    }
    return out;
  }

 private:
  // From pair to pair the frequencies of a base go down by the same factor.
  void base_of(size_t pair) {
    rule_ = {};
    if (const double ratio = pair + 1 < freqs_.size() ? freqs_[pair] / freqs_[pair + 1] : 0; std::isnormal(ratio))
      rule_.theta = written(det_pow(ratio, static_cast<double>(head_dim_) / 2));
    if (!(rule_.theta > 1e-30 && rule_.theta < 1e30)) rule_.theta = 10000;
    plain_ = rope_frequencies(rule_, head_dim_);
  }

  bool ramp() {
    const size_t n = freqs_.size();
    rule_.scaling = RopeScaling::yarn;
    rule_.factor = written(plain_[n - 1] / freqs_[n - 1]);
    if (!(rule_.theta > 1) || !(rule_.factor > 1)) return false;
    rule_.original_ctx = std::max(1.0, std::floor(ctx_ / rule_.factor + 0.5));
    if (gives()) return true;
    // Pairs up to `low` are left alone, from `high` on they have their frequency / factor: which contexts have these ends?
    const auto way = [&](size_t i) { return (1 - freqs_[i] / plain_[i]) / (1 - 1 / rule_.factor); };
    size_t low = 0, high = n - 1;
    while (low + 1 < n && way(low + 1) < 1e-9) low++;
    while (high > low + 1 && way(high - 1) > 1 - 1e-9) high--;
    const double from = std::max(low == 0 ? 1 : context_of(rule_.beta_fast, low), context_of(rule_.beta_slow, high - 1));
    const double to = std::min(context_of(rule_.beta_fast, low + 1), context_of(rule_.beta_slow, high));
    if (!(from < to && to < 1e9)) return false;
    rule_.original_ctx = std::floor(std::sqrt(from * to) + 0.5);
    return gives();
  }

  bool gives() const {
    const std::vector<double> f = rope_frequencies(rule_, head_dim_);
    return std::equal(f.begin(), f.end(), freqs_.begin(), close);
  }

  // In which context pair x turns so often.
  double context_of(double turns, size_t x) const {
    return turns * kTwoPi * det_pow(rule_.theta, 2 * static_cast<double>(x) / head_dim_);
  }

  const std::vector<double>& freqs_;
  uint32_t head_dim_, ctx_;
  const std::string& where_;
  RopeRule rule_;
  std::vector<double> plain_;
};

}  // namespace

GgufRope gguf_rope(const std::vector<double>& freqs, uint32_t head_dim, uint32_t ctx, double magnitude, bool any_factors,
                   const std::string& where) {
  Search s(freqs, head_dim, ctx, where);
  GgufRope out;
  const bool even = s.even();
  out.magnitude = magnitude;
  if (even) {
    if (s.rule().scaling == RopeScaling::linear) {
      out.scaling = "linear";
      out.factor = s.rule().factor;
    }
  } else if (any_factors) {
    out.factors = s.factors();
  } else if (s.yarn()) {
    out.scaling = "yarn";
    out.factor = s.rule().factor;
    out.original_ctx = static_cast<uint32_t>(s.rule().original_ctx);
    out.magnitude = magnitude / yarn_magnitude(out.factor);
    if (close(out.magnitude, 1)) out.magnitude = 1;
  } else {
    throw Error(where +
                ": its positions are scaled in a way that a GGUF of this family cannot say (neither linear nor yarn as it "
                "is usual)");
  }
  out.base = s.rule().theta;
  return out;
}

void gguf_rope_keys(const GgufRope& r, const std::string& arch, uint32_t head_dim, GgufKeys& keys) {
  const std::string rope = arch + ".rope.";
  keys.u32(rope + "dimension_count", head_dim);
  keys.f32(rope + "freq_base", r.base);
  if (!r.scaling.empty()) {
    keys.str(rope + "scaling.type", r.scaling);
    keys.f32(rope + "scaling.factor", r.factor);
  }
  if (r.scaling == "yarn") keys.u32(rope + "scaling.original_context_length", r.original_ctx);
  if (r.magnitude != 1) keys.f32(rope + "scaling.attn_factor", r.magnitude);
}

}  // namespace nyb
