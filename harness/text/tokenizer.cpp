// tokenizer.cpp - the tables from the metadata, and both directions.
#include "text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

#include "kern/error.h"
#include "text/bpe.h"
#include "text/splitter.h"

namespace nyb {
namespace {

constexpr size_t cached_words = size_t{1} << 14;  // of one text
constexpr size_t cached_bytes = 64;               // a longer word seldom comes twice

[[noreturn]] void fail(const char* key, const std::string& what) {
  throw Error(fmt::format("the model's key \"{}\" {}", key, what));
}

int32_t checked(const char* key, uint64_t id, size_t vocab) {
  if (id >= vocab) fail(key, fmt::format("names token {}, beyond the vocabulary of {}", id, vocab));
  return static_cast<int32_t>(id);
}

}  // namespace

struct Tokenizer::Impl {
  std::vector<std::string> tokens;
  std::vector<bool> special;
  std::optional<int32_t> bos;
  bool add_bos = false;
  std::vector<int32_t> ends;
  std::string unicode;  // of the conversion
  std::unique_ptr<Bpe> bpe;
  std::unique_ptr<Splitter> splitter;
  std::unordered_map<std::string_view, int32_t> words;    // taken whole; empty for plain "bpe"
  std::unordered_map<std::string_view, int32_t> by_name;  // specials, and tokens added by hand
  std::array<std::vector<size_t>, 256> name_lengths;      // of those, by first byte, longest first

  void read_ids(const Meta& meta);
  void read_merges(const Meta& meta, bool whole_words);
  void add_name(size_t id);
  void append(std::string_view text, std::vector<int32_t>& out) const;
  int32_t named_at(std::string_view text, size_t at) const;
  void append_named(std::string_view text, std::string& plain, std::vector<int32_t>& out) const;
};

// Which ids are special, and what for.
void Tokenizer::Impl::read_ids(const Meta& meta) {
  const size_t vocab = tokens.size();
  special.assign(vocab, false);
  for (const uint32_t id : meta.get<std::vector<uint32_t>>(key::tok_specials)) {
    checked(key::tok_specials, id, vocab);
    if (tokens[id].empty()) fail(key::tok_specials, fmt::format("names token {}, which has no text", id));
    special[id] = true;
  }
  if (const auto* id = meta.find<uint64_t>(key::tok_bos)) bos = checked(key::tok_bos, *id, vocab);
  if (const auto* flag = meta.find<uint64_t>(key::tok_add_bos)) {
    if (*flag > 1) fail(key::tok_add_bos, fmt::format("is {}, not 0 or 1", *flag));
    add_bos = *flag == 1 && bos;
  }
  if (const auto* list = meta.find<std::vector<uint32_t>>(key::tok_ends)) {
    for (const uint32_t id : *list) ends.push_back(checked(key::tok_ends, id, vocab));
  }
}

void Tokenizer::Impl::add_name(size_t id) {
  const std::string& name = tokens[id];
  by_name.emplace(name, static_cast<int32_t>(id));  // of two with one name the lower id stands
  auto& lengths = name_lengths[static_cast<unsigned char>(name[0])];
  const auto at = std::lower_bound(lengths.begin(), lengths.end(), name.size(), std::greater<>());
  if (at == lengths.end() || *at != name.size()) lengths.insert(at, name.size());
}

void Tokenizer::Impl::read_merges(const Meta& meta, bool whole_words) {
  const size_t vocab = tokens.size();
  std::array<int32_t, 256> byte_ids{};
  byte_ids.fill(-1);
  for (size_t id = 0; id < vocab; ++id) {
    if (special[id] || tokens[id].size() != 1) continue;
    int32_t& slot = byte_ids[static_cast<unsigned char>(tokens[id][0])];
    if (slot < 0) slot = static_cast<int32_t>(id);
  }
  for (size_t b = 0; b < byte_ids.size(); ++b) {
    if (byte_ids[b] < 0) fail(key::tok_tokens, fmt::format("has no token for the byte 0x{:02x} that text may become", b));
  }

  const auto& all = meta.get<std::vector<uint32_t>>(key::tok_merges);
  if (all.size() % 3 != 0) fail(key::tok_merges, fmt::format("has {} numbers, not a multiple of three", all.size()));
  std::vector<uint32_t> merges;
  merges.reserve(all.size());
  std::vector<bool> made(vocab, false);
  for (size_t i = 0; i < all.size(); i += 3) {
    bool plain = true;
    for (size_t k = i; k < i + 3; ++k) {
      checked(key::tok_merges, all[k], vocab);
      plain = plain && !special[all[k]];
    }
    if (!plain) continue;  // text never becomes a special
    const std::string &left = tokens[all[i]], &right = tokens[all[i + 1]], &result = tokens[all[i + 2]];
    if (left.empty() || right.empty() || result.size() != left.size() + right.size() || !result.starts_with(left) ||
        !result.ends_with(right)) {
      fail(key::tok_merges, fmt::format("makes token {} of {} and {}, whose bytes are others", all[i + 2], all[i], all[i + 1]));
    }
    merges.insert(merges.end(), all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(i) + 3);
    made[all[i + 2]] = true;
  }
  bpe = std::make_unique<Bpe>(byte_ids, merges);

  for (size_t id = 0; id < vocab; ++id) {
    if (tokens[id].empty()) continue;
    // Where words are taken whole, one that no merge makes need not have been added by hand.
    if (special[id] || (!whole_words && tokens[id].size() > 1 && !made[id])) add_name(id);
    if (whole_words && !special[id]) words.emplace(tokens[id], static_cast<int32_t>(id));
  }
}

void Tokenizer::Impl::append(std::string_view text, std::vector<int32_t>& out) const {
  struct Place {
    size_t from, count;  // in out
  };
  std::unordered_map<std::string_view, Place> seen;
  splitter->split(text, [&](std::string_view word) {
    if (!words.empty()) {
      if (const auto it = words.find(word); it != words.end()) return out.push_back(it->second);
    }
    if (word.size() < 2 || word.size() > cached_bytes) return bpe->encode(word, out);
    if (const auto it = seen.find(word); it != seen.end()) {
      const Place p = it->second;
      for (size_t i = 0; i < p.count; ++i) out.push_back(out[p.from + i]);
      return;
    }
    const size_t from = out.size();
    bpe->encode(word, out);
    if (seen.size() < cached_words) seen.emplace(word, Place{from, out.size() - from});
  });
}

// The longest named token that begins at text[at]; -1: none.
int32_t Tokenizer::Impl::named_at(std::string_view text, size_t at) const {
  for (const size_t n : name_lengths[static_cast<unsigned char>(text[at])]) {
    if (n > text.size() - at) continue;
    if (const auto it = by_name.find(text.substr(at, n)); it != by_name.end()) return it->second;
  }
  return -1;
}

// `plain` holds text not yet tokenized, so that it may meet what comes before and after.
void Tokenizer::Impl::append_named(std::string_view text, std::string& plain, std::vector<int32_t>& out) const {
  for (size_t i = 0; i < text.size();) {
    const int32_t id = named_at(text, i);
    if (id < 0) {
      plain += text[i++];
      continue;
    }
    append(plain, out);
    plain.clear();
    out.push_back(id);
    i += tokens[static_cast<size_t>(id)].size();
  }
}

Tokenizer::Tokenizer() : impl_(std::make_unique<Impl>()) {}
Tokenizer::~Tokenizer() = default;

std::unique_ptr<Tokenizer> Tokenizer::from_meta(const Meta& meta) {
  const auto* kind = meta.find<std::string>(key::tok_kind);
  if (!kind) return nullptr;
  if (*kind != "bpe" && *kind != "bpe-words") fail(key::tok_kind, fmt::format("is \"{}\"; bpe and bpe-words are known", *kind));
  std::unique_ptr<Tokenizer> tok(new Tokenizer);
  Impl& impl = *tok->impl_;
  impl.tokens = meta.get<std::vector<std::string>>(key::tok_tokens);
  if (impl.tokens.size() > size_t{INT32_MAX}) fail(key::tok_tokens, fmt::format("has {} entries, too many", impl.tokens.size()));
  impl.read_ids(meta);
  impl.read_merges(meta, *kind == "bpe-words");
  try {
    impl.splitter = std::make_unique<Splitter>(meta.get<std::string>(key::tok_pattern));
    if (const auto* version = meta.find<std::string>(key::tok_unicode)) impl.unicode = *version;
  } catch (const Error& e) { fail(key::tok_pattern, fmt::format("is no pattern: {}", e.what())); }
  return tok;
}

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> out;
  impl_->append(text, out);
  return out;
}

std::vector<int32_t> Tokenizer::encode_with_specials(std::string_view text) const { return encode_framed(text, {}, {}); }

std::vector<int32_t> Tokenizer::encode_framed(std::string_view before, std::string_view text, std::string_view after) const {
  std::vector<int32_t> out;
  std::string plain;
  impl_->append_named(before, plain, out);
  plain += text;
  impl_->append_named(after, plain, out);
  impl_->append(plain, out);
  return out;
}

std::string_view Tokenizer::name(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= impl_->tokens.size()) return {};
  return impl_->tokens[static_cast<size_t>(id)];
}

std::string_view Tokenizer::bytes(int32_t id) const { return is_special(id) ? std::string_view() : name(id); }

std::string Tokenizer::decode(const std::vector<int32_t>& ids) const {
  std::string out;
  for (const int32_t id : ids) out += bytes(id);
  return out;
}

bool Tokenizer::is_special(int32_t id) const {
  return id >= 0 && static_cast<size_t>(id) < impl_->special.size() && impl_->special[static_cast<size_t>(id)];
}

bool Tokenizer::is_end(int32_t id) const { return std::find(impl_->ends.begin(), impl_->ends.end(), id) != impl_->ends.end(); }

std::optional<int32_t> Tokenizer::bos() const { return impl_->bos; }
bool Tokenizer::add_bos() const { return impl_->add_bos; }
const std::vector<int32_t>& Tokenizer::ends() const { return impl_->ends; }
size_t Tokenizer::size() const { return impl_->tokens.size(); }

std::string Tokenizer::unicode_note() const {
  const std::string here = splitter_unicode();
  if (impl_->unicode.empty() || impl_->unicode == here) return {};
  return fmt::format(
      "the model's file was converted with the letters of Unicode {}, this program has those of Unicode {}: texts with characters "
      "new in between may give other tokens",
      impl_->unicode, here);
}

}  // namespace nyb
