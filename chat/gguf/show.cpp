#include "gguf/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "common/app.h"
#include "model/bytes.h"
#include "model/dequant.h"
#include "model/gguf_front.h"
#include "model/source.h"

namespace nyb {
namespace {

constexpr size_t kTextShown = 100, kListShown = 6;

std::string text_shown(std::string_view s) {
  const std::string all = human_words(s);
  return all.size() <= kTextShown ? fmt::format("\"{}\"", all)
                                  : fmt::format("\"{}\"... ({} bytes)", human_words(s.substr(0, kTextShown)), s.size());
}

std::string one(GgufType t, const uint8_t* p) {
  switch (t) {
    case GgufType::f32: return fmt::format("{}", get_le<float>(p));
    case GgufType::f64: return fmt::format("{}", get_le<double>(p));
    case GgufType::boolean: return *p == 0 ? "false" : "true";
    case GgufType::string: return text_shown(gguf_string(p));
    case GgufType::u64: return fmt::format("{}", get_le<uint64_t>(p));
    default: return fmt::format("{}", *gguf_int(t, p));
  }
}

std::string value(const GgufValue& v) {
  if (v.type != GgufType::list) return one(v.type, v.data);
  std::string out = fmt::format("{} x {}", v.count, gguf_type_name(v.element));
  if (v.element == GgufType::list) return out;
  const uint8_t* p = v.data;
  for (uint64_t i = 0; i < std::min<uint64_t>(v.count, kListShown); i++) {
    out += (i == 0 ? ": " : ", ") + one(v.element, p);
    p += v.element == GgufType::string ? sizeof(uint64_t) + gguf_string(p).size() : gguf_element_bytes(v.element);
  }
  return v.count > kListShown ? out + " ..." : out;
}

bool same(const GgufValue& a, const GgufValue& b) {
  return a.type == b.type && a.element == b.element && a.bytes == b.bytes && std::memcmp(a.data, b.data, a.bytes) == 0;
}

std::string dims(const GgufTensor& t) { return fmt::format("{}", fmt::join(t.dims.begin(), t.dims.begin() + t.rank, " x ")); }

uint64_t values_of(const GgufTensor& t) { return t.dims[0] * t.dims[1] * t.dims[2] * t.dims[3]; }

// The greatest difference of values, and at which; nothing where a type is not read.
std::string greatest(const GgufTensor& a, const GgufTensor& b) {
  if (!ggml_is_read(a.type->number) || !ggml_is_read(b.type->number)) return "not compared";
  const SourceTensor sa = source_of_gguf(a), sb = source_of_gguf(b);
  constexpr uint64_t at_once = 1 << 16;
  std::vector<float> va(at_once), vb(at_once);
  double worst = 0, squares = 0, own = 0;
  uint64_t at = 0;
  for (uint64_t from = 0; from < values_of(a); from += at_once) {
    const uint64_t n = std::min(at_once, values_of(a) - from);
    source_read(sa, from, n, va.data());
    source_read(sb, from, n, vb.data());
    for (uint64_t i = 0; i < n; i++) {
      const double d = std::abs(static_cast<double>(va[i]) - static_cast<double>(vb[i]));
      if (std::isnan(d) ? !std::isnan(worst) : d > worst) {  // beyond a NaN there is nothing
        worst = d;
        at = from + i;
      }
      squares += d * d;
      own += static_cast<double>(va[i]) * static_cast<double>(va[i]);
    }
    if (interrupted()) throw Interrupted{};
  }
  source_release(sa);
  source_release(sb);
  if (worst == 0) return "the same values";
  return fmt::format("differ by {:.3g} at most (value {}), relative L2 {:.3g}", worst, at,
                     own > 0 ? std::sqrt(squares / own) : HUGE_VAL);
}

}  // namespace

std::string gguf_info(const Gguf& g) {
  uint64_t bytes = 0;
  for (const MappedFile& f : g.files()) bytes += f.size();
  std::string out = fmt::format("{}: {} keys, {} tensors, {}{}\n", human_words(g.path()), g.keys().size(), g.tensors().size(),
                                human_bytes(bytes), g.files().size() > 1 ? fmt::format(" in {} files", g.files().size()) : "");
  for (const auto& [key, v] : g.keys()) out += fmt::format("{}  {}\n", human_words(key), value(v));
  size_t width = 0;
  for (const GgufTensor& t : g.tensors()) width = std::max(width, t.name.size());
  std::map<std::string_view, std::pair<uint64_t, uint64_t>> types;  // tensors and bytes
  for (const GgufTensor& t : g.tensors()) {
    out += fmt::format("{:<{}}  {:<5}  {:<14}  {:>10}\n", human_words(t.name), width, t.type->name, dims(t), human_bytes(t.bytes));
    types[t.type->name].first++;
    types[t.type->name].second += t.bytes;
  }
  for (const auto& [name, sum] : types) out += fmt::format("{}: {} tensors, {}\n", name, sum.first, human_bytes(sum.second));
  return out;
}

std::string gguf_diff(const Gguf& a, const Gguf& b) {
  std::string out;
  size_t keys = 0, tensors = 0;
  const auto only = [&](const Gguf& in, const std::string& what) {
    out += fmt::format("only in {}: {}\n", human_words(in.path()), what);
  };
  for (const auto& [key, v] : a.keys()) {
    const auto it = b.keys().find(key);
    const std::string name = human_words(key);
    if (it == b.keys().end())
      only(a, fmt::format("key {}  {}", name, value(v)));
    else if (!same(v, it->second))
      out += fmt::format("key {}  {} | {}\n", name, value(v), value(it->second));
    else
      keys++;
  }
  for (const auto& [key, v] : b.keys())
    if (!a.has(key)) only(b, fmt::format("key {}  {}", human_words(key), value(v)));
  for (const GgufTensor& t : a.tensors()) {
    const GgufTensor* o = b.tensor(t.name);
    const std::string name = human_words(t.name);
    if (!o) {
      only(a, "tensor " + name);
    } else if (t.dims != o->dims) {
      out += fmt::format("tensor {}  {} | {}\n", name, dims(t), dims(*o));
    } else if (t.type == o->type && std::memcmp(t.data, o->data, t.bytes) == 0) {
      tensors++;
    } else {
      out += fmt::format("tensor {}  {}{}\n", name, t.type == o->type ? "" : fmt::format("{} | {}  ", t.type->name, o->type->name),
                         greatest(t, *o));
    }
  }
  for (const GgufTensor& t : b.tensors())
    if (!a.tensor(t.name)) only(b, "tensor " + human_words(t.name));
  return out + fmt::format("the same: {} keys, {} tensors\n", keys, tensors);
}

}  // namespace nyb
