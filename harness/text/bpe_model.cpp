// bpe_model.cpp - byte-level BPE: words cut by patterns, their bytes merged.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "kern/error.h"
#include "text/bpe.h"
#include "text/byte_map.h"
#include "text/merge_table.h"
#include "text/splitter.h"
#include "text/text_model.h"
#include "text/utf8.h"

namespace nyb {
namespace {

constexpr size_t kCachedWords = size_t{1} << 14;  // of one text
constexpr size_t kCachedBytes = 64;               // a longer word seldom comes twice

class BpeModel final : public TextModel {
 public:
  BpeModel(const Meta& meta, const Vocab& vocab, bool whole_words) : vocab_(vocab) {
    const size_t size = vocab.tokens.size();
    std::vector<bool> open(size);  // what merges may make
    const std::vector<bool> whole = key_set(meta, key::tok_whole, size);
    for (size_t id = 0; id < size; ++id) {
      const auto n = static_cast<int32_t>(id);
      open[id] = !vocab.closed[id] && !whole[id];
      if (vocab.tokens[id].empty() || vocab.closed[id]) continue;
      if (whole[id]) whole_.add(vocab.tokens[id], n);
      if (whole_words && open[id]) words_.emplace(vocab.tokens[id], n);
    }
    read_bytes(open);
    bpe_ = std::make_unique<Bpe>(byte_ids_, read_merges(meta, vocab, [&](size_t id) { return open[id]; }));
    read_patterns(meta);
  }

  void append(std::string_view text, bool first, std::vector<int32_t>& out) const override;
  bool has_prefix(int32_t, bool) const override { return false; }
  bool parts_text(int32_t id) const override { return vocab_.special[static_cast<size_t>(id)]; }

 private:
  struct Place {
    size_t from, count;  // in the ids so far
  };
  using Seen = std::unordered_map<std::string_view, Place>;

  void read_bytes(const std::vector<bool>& open);
  void read_patterns(const Meta& meta);
  void append_word(std::string_view word, Seen& seen, std::vector<int32_t>& out) const;

  const Vocab& vocab_;
  std::array<int32_t, 256> byte_ids_{};  // -1: the vocabulary has none, and the byte is read as U+FFFD
  bool lacking_ = false;                 // some are -1
  std::unique_ptr<Bpe> bpe_;
  std::unique_ptr<Splitter> splitter_;
  NameSet whole_;                                        // taken from a text before it is cut
  std::unordered_map<std::string_view, int32_t> words_;  // taken whole; empty for plain "bpe"
};

void BpeModel::read_bytes(const std::vector<bool>& open) {
  byte_ids_.fill(-1);
  for (size_t id = 0; id < open.size(); ++id) {
    if (!open[id] || vocab_.tokens[id].size() != 1) continue;
    int32_t& slot = byte_ids_[static_cast<unsigned char>(vocab_.tokens[id][0])];
    if (slot < 0) slot = static_cast<int32_t>(id);
  }
  for (size_t b = 0; b < byte_ids_.size(); ++b) {
    lacking_ = lacking_ || byte_ids_[b] < 0;
    if (byte_ids_[b] < 0 && !byte_is_rare(static_cast<unsigned char>(b)))
      key_fails(key::tok_tokens, fmt::format("has no token for the byte 0x{:02x} that text may become", b));
  }
}

void BpeModel::read_patterns(const Meta& meta) {
  const auto* several = meta.find<std::vector<std::string>>(key::tok_patterns);
  const char* const key = several ? key::tok_patterns : key::tok_pattern;
  const auto patterns = several ? *several : std::vector<std::string>{meta.get<std::string>(key)};
  try {
    splitter_ = std::make_unique<Splitter>(patterns);
  } catch (const Error& e) { key_fails(key, fmt::format("is no pattern: {}", e.what())); }
}

void BpeModel::append(std::string_view text, bool, std::vector<int32_t>& out) const {
  const auto lacks = [this](char c) { return byte_ids_[static_cast<unsigned char>(c)] < 0; };
  std::string replaced;
  if (lacking_ && std::any_of(text.begin(), text.end(), lacks)) {
    for (const char& c : text) replaced += lacks(c) ? kUtf8Replacement : std::string_view(&c, 1);
    text = replaced;
  }
  Seen seen;
  whole_.cut(
      text, [&](std::string_view rest) { splitter_->split(rest, [&](std::string_view word) { append_word(word, seen, out); }); },
      [&](int32_t id) { out.push_back(id); });
}

void BpeModel::append_word(std::string_view word, Seen& seen, std::vector<int32_t>& out) const {
  if (!words_.empty()) {
    if (const auto it = words_.find(word); it != words_.end()) return out.push_back(it->second);
  }
  if (word.size() < 2 || word.size() > kCachedBytes) return bpe_->encode(word, out);
  if (const auto it = seen.find(word); it != seen.end()) {
    const Place p = it->second;
    for (size_t i = 0; i < p.count; ++i) out.push_back(out[p.from + i]);
    return;
  }
  const size_t from = out.size();
  bpe_->encode(word, out);
  if (seen.size() < kCachedWords) seen.emplace(word, Place{from, out.size() - from});
}

}  // namespace

std::unique_ptr<TextModel> bpe_model(const Meta& meta, const Vocab& vocab) {
  return std::make_unique<BpeModel>(meta, vocab, meta.get<std::string>(key::tok_kind) == "bpe-words");
}

}  // namespace nyb
