// bpe_model.cpp - byte-level BPE: words cut by a pattern, their bytes merged.
#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "kern/error.h"
#include "text/bpe.h"
#include "text/splitter.h"
#include "text/text_model.h"

namespace nyb {
namespace {

constexpr size_t kCachedWords = size_t{1} << 14;  // of one text
constexpr size_t kCachedBytes = 64;               // a longer word seldom comes twice

class BpeModel final : public TextModel {
 public:
  BpeModel(const Meta& meta, Vocab& vocab, bool whole_words) {
    read_merges(meta, vocab, whole_words);
    try {
      splitter_ = std::make_unique<Splitter>(meta.get<std::string>(key::tok_pattern));
    } catch (const Error& e) { key_fails(key::tok_pattern, fmt::format("is no pattern: {}", e.what())); }
  }

  void append(std::string_view text, std::vector<int32_t>& out) const override;
  bool has_prefix(int32_t) const override { return false; }
  int32_t unknown() const override { return -1; }

 private:
  void read_merges(const Meta& meta, Vocab& vocab, bool whole_words);

  std::unique_ptr<Bpe> bpe_;
  std::unique_ptr<Splitter> splitter_;
  std::unordered_map<std::string_view, int32_t> words_;  // taken whole; empty for plain "bpe"
};

void BpeModel::read_merges(const Meta& meta, Vocab& vocab, bool whole_words) {
  const auto& tokens = vocab.tokens;
  const auto& special = vocab.special;
  std::array<int32_t, 256> byte_ids{};
  byte_ids.fill(-1);
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (special[id] || tokens[id].size() != 1) continue;
    int32_t& slot = byte_ids[static_cast<unsigned char>(tokens[id][0])];
    if (slot < 0) slot = static_cast<int32_t>(id);
  }
  for (size_t b = 0; b < byte_ids.size(); ++b) {
    if (byte_ids[b] < 0) key_fails(key::tok_tokens, fmt::format("has no token for the byte 0x{:02x} that text may become", b));
  }

  const auto& all = meta.get<std::vector<uint32_t>>(key::tok_merges);
  if (all.size() % 3 != 0) key_fails(key::tok_merges, fmt::format("has {} numbers, not a multiple of three", all.size()));
  std::vector<uint32_t> merges;
  merges.reserve(all.size());
  std::vector<bool> made(tokens.size(), false);
  for (size_t i = 0; i < all.size(); i += 3) {
    bool plain = true;
    for (size_t k = i; k < i + 3; ++k) {
      key_id(key::tok_merges, all[k], tokens.size());
      plain = plain && !special[all[k]];
    }
    if (!plain) continue;  // text never becomes a special
    const std::string &left = tokens[all[i]], &right = tokens[all[i + 1]], &result = tokens[all[i + 2]];
    if (left.empty() || right.empty() || result.size() != left.size() + right.size() || !result.starts_with(left) ||
        !result.ends_with(right)) {
      key_fails(key::tok_merges,
                fmt::format("makes token {} of {} and {}, whose bytes are others", all[i + 2], all[i], all[i + 1]));
    }
    merges.insert(merges.end(), all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(i) + 3);
    made[all[i + 2]] = true;
  }
  bpe_ = std::make_unique<Bpe>(byte_ids, merges);

  for (size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty() || special[id]) continue;
    // Where words are taken whole, one that no merge makes need not have been added by hand.
    if (whole_words) words_.emplace(tokens[id], static_cast<int32_t>(id));
    if (!whole_words && tokens[id].size() > 1 && !made[id]) vocab.named.add(tokens[id], static_cast<int32_t>(id));
  }
}

void BpeModel::append(std::string_view text, std::vector<int32_t>& out) const {
  struct Place {
    size_t from, count;  // in out
  };
  std::unordered_map<std::string_view, Place> seen;
  splitter_->split(text, [&](std::string_view word) {
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
  });
}

}  // namespace

std::unique_ptr<TextModel> bpe_model(const Meta& meta, Vocab& vocab) {
  return std::make_unique<BpeModel>(meta, vocab, meta.get<std::string>(key::tok_kind) == "bpe-words");
}

}  // namespace nyb
