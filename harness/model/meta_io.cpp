// meta_io.cpp - the metadata written in order, and read with nothing taken on trust.
#include "model/meta_io.h"

#include <fmt/format.h>

#include <algorithm>

#include "kern/error.h"
#include "model/bytes.h"

namespace nyb {
namespace {

constexpr uint64_t kEntryBytes = 24;
constexpr uint64_t kMaxKey = 255;
constexpr uint32_t kRequired = 1;

struct Known {
  std::string_view key;
  uint32_t type;
};
constexpr Known kKnown[] = {
    {key::family, 3},
    {key::name, 3},
    {key::norm_eps, 2},
    {key::act, 3},
    {key::attn_scale, 2},
    {key::qkv_bias, 1},
    {key::o_bias, 1},
    {key::qk_norm, 1},
    {key::windows, 4},
    {key::rope_none, 4},
    {key::rope_style, 3},
    {key::rope_freqs, 5},
    {key::rope_factor, 2},
    {key::tok_kind, 3},
    {key::tok_tokens, 6},
    {key::tok_merges, 4},
    {key::tok_pattern, 3},
    {key::tok_scores, 5},
    {key::tok_types, 4},
    {key::tok_add_prefix, 1},
    {key::tok_byte_fallback, 1},
    {key::tok_unknown, 1},
    {key::tok_unicode, 3},
    {key::tok_specials, 4},
    {key::tok_bos, 1},
    {key::tok_add_bos, 1},
    {key::tok_ends, 4},
    {key::tok_eos, 1},
    {key::chat_template, 3},
    {key::source_file, 3},
    {key::source_hash, 1},
    {key::tok_patterns, 6},
    {key::tok_normal, 3},
    {key::tok_each_unknown, 1},
    {key::tok_named, 4},
    {key::tok_whole, 4},
    {key::tok_strips_before, 4},
    {key::tok_strips_after, 4},
};

const Known* find_known(std::string_view k) {
  const auto* it = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& e) { return e.key == k; });
  return it == std::end(kKnown) ? nullptr : it;
}

bool key_valid(std::string_view k) {
  return !k.empty() && k.size() <= kMaxKey && std::all_of(k.begin(), k.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

std::string value_bytes(const MetaValue& value) {
  std::string out;
  std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) {
          out = v;
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          put_le(out, static_cast<uint64_t>(v.size()));
          for (const auto& s : v) {
            put_le(out, static_cast<uint32_t>(s.size()));
            out += s;
          }
        } else if constexpr (std::is_same_v<T, std::vector<uint32_t>> || std::is_same_v<T, std::vector<double>>) {
          for (const auto x : v) put_le(out, x);
        } else {
          put_le(out, v);
        }
      },
      value);
  return out;
}

template <class T>
std::vector<T> list(std::span<const uint8_t> b, const std::string& what) {
  if (b.size() % sizeof(T) != 0)
    throw Error(fmt::format("{} has {} bytes, not a multiple of the {} of an element", what, b.size(), sizeof(T)));
  std::vector<T> v(b.size() / sizeof(T));
  for (size_t i = 0; i < v.size(); i++) v[i] = get_le<T>(b.data() + i * sizeof(T));
  return v;
}

std::vector<std::string> strings(std::span<const uint8_t> b, const std::string& what) {
  if (b.size() < 8) throw Error(fmt::format("{} has {} bytes, fewer than the 8 of its count", what, b.size()));
  const auto n = get_le<uint64_t>(b.data());
  // every string costs four bytes at least, so a count that the bytes cannot hold is known before anything is reserved
  if (n > (b.size() - 8) / 4) throw Error(fmt::format("{} says {} strings, more than its {} bytes can hold", what, n, b.size()));
  std::vector<std::string> v;
  v.reserve(n);
  size_t at = 8;
  for (uint64_t i = 0; i < n; i++) {
    if (b.size() - at < 4) throw Error(fmt::format("{} ends before the length of string {} of {}", what, i, n));
    const auto len = get_le<uint32_t>(b.data() + at);
    at += 4;
    if (b.size() - at < len)
      throw Error(fmt::format("{} has string {} of {} bytes with {} bytes left", what, i, len, b.size() - at));
    v.emplace_back(reinterpret_cast<const char*>(b.data()) + at, len);
    at += len;
  }
  if (at != b.size()) throw Error(fmt::format("{} has {} bytes after its {} strings", what, b.size() - at, n));
  return v;
}

MetaValue decode_value(uint32_t type, std::span<const uint8_t> b, const std::string& what) {
  if ((type == 1 || type == 2) && b.size() != 8) throw Error(fmt::format("{} has {} bytes where 8 belong", what, b.size()));
  switch (type) {
    case 1: return get_le<uint64_t>(b.data());
    case 2: return get_le<double>(b.data());
    case 3: return std::string(reinterpret_cast<const char*>(b.data()), b.size());
    case 4: return list<uint32_t>(b, what);
    case 5: return list<double>(b, what);
    default: return strings(b, what);
  }
}

}  // namespace

std::string shown(std::string_view s) {
  std::string out = "\"";
  for (const char ch : s.substr(0, 64)) {
    const auto c = static_cast<unsigned char>(ch);
    if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
      out += fmt::format("\\x{:02x}", c);
    else
      out += ch;
  }
  return out + (s.size() > 64 ? "...\"" : "\"");
}

std::string meta_encode(const Meta& meta) {
  std::string out;
  for (const auto& [k, e] : meta.entries()) {
    if (!key_valid(k)) throw Error("a model file cannot hold the key " + shown(k));
    const std::string value = value_bytes(e.value);
    put_le(out, static_cast<uint32_t>(k.size()));
    put_le(out, meta_type(e.value));
    put_le(out, e.required ? kRequired : 0u);
    put_le(out, 0u);
    put_le(out, static_cast<uint64_t>(value.size()));
    out += k;
    out += value;
  }
  return out;
}

Meta meta_decode(std::span<const uint8_t> bytes, uint64_t count, const std::string& where) {
  if (count > bytes.size() / kEntryBytes)
    throw Error(fmt::format("{}: the header says {} keys, more than {} bytes of metadata can hold", where, count, bytes.size()));
  Meta meta;
  std::string last;
  size_t at = 0;
  for (uint64_t i = 0; i < count; i++) {
    const size_t left = bytes.size() - at;
    if (left < kEntryBytes)
      throw Error(fmt::format("{}: the metadata ends before key {} of {} ({} bytes left)", where, i, count, left));
    const uint8_t* e = bytes.data() + at;
    const auto key_len = get_le<uint32_t>(e), type = get_le<uint32_t>(e + 4), flags = get_le<uint32_t>(e + 8),
               zero = get_le<uint32_t>(e + 12);
    const auto value_len = get_le<uint64_t>(e + 16);
    const size_t room = left - kEntryBytes;
    if (key_len > room || value_len > room - key_len) {
      throw Error(fmt::format("{}: metadata key {} has a name of {} and a value of {} bytes with {} bytes left", where, i, key_len,
                              value_len, room));
    }
    const std::string k(reinterpret_cast<const char*>(e) + kEntryBytes, key_len);
    if (!key_valid(k)) throw Error(fmt::format("{}: metadata key {} has the malformed name {}", where, i, shown(k)));
    if (k == last) throw Error(fmt::format("{}: the metadata key \"{}\" is there twice", where, k));
    if (k < last) throw Error(fmt::format("{}: the metadata keys \"{}\" and \"{}\" are out of order", where, last, k));
    if (flags > kRequired || zero != 0)
      throw Error(fmt::format("{}: the metadata key \"{}\" has flags {:#x} and {:#x} that this program does not know", where, k,
                              flags, zero));
    const std::span<const uint8_t> value = bytes.subspan(at + kEntryBytes + key_len, value_len);
    const std::string what = fmt::format("{}: the metadata key \"{}\"", where, k);
    const bool required = flags & kRequired;
    if (const Known* kn = find_known(k)) {
      if (type != kn->type)
        throw Error(fmt::format("{} has value type {} ({}) where a {} belongs", what, type, meta_type_name(type),
                                meta_type_name(kn->type)));
      meta.set(k, decode_value(type, value, what), required);
    } else if (required) {
      throw Error(what + " is needed to run the model and unknown to this program; a newer one may know it");
    }
    last = k;
    at += kEntryBytes + key_len + value_len;
  }
  if (at != bytes.size()) throw Error(fmt::format("{}: {} bytes of metadata follow its {} keys", where, bytes.size() - at, count));
  return meta;
}

}  // namespace nyb
