// spm.cpp - the BPE of SentencePiece: characters merged, by the scores of what they make or by a list of merges; what no token
// spells falls to bytes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "kern/error.h"
#include "text/merge.h"
#include "text/merge_table.h"
#include "text/splitter.h"
#include "text/text_model.h"
#include "text/utf8.h"

namespace nyb {
namespace {

class SpmModel final : public TextModel {
 public:
  SpmModel(const Meta& meta, const Vocab& vocab) : vocab_(vocab) {
    read_types(meta);
    if (meta.has(key::tok_merges)) {
      merges_.emplace(read_merges(meta, vocab, [this](size_t id) { return is_piece(id); }));
    } else {
      read_scores(meta);
    }
    read_prefix(meta);
    read_fallback(meta);
    if (const auto* pattern = meta.find<std::string>(key::tok_pattern)) {
      try {
        splitter_ = std::make_unique<Splitter>(*pattern);
      } catch (const Error& e) { key_fails(key::tok_pattern, fmt::format("is no pattern: {}", e.what())); }
    }
  }

  void append(std::string_view text, bool first, std::vector<int32_t>& out) const override;
  bool has_prefix(int32_t id, bool first) const override {
    const auto n = static_cast<size_t>(id);
    return prefix_ != BlankBefore::none && (first || prefix_ != BlankBefore::first_bare) && types_[n] != TokenType::byte &&
           vocab_.tokens[n].starts_with(' ');
  }
  bool parts_text(int32_t id) const override {
    const auto n = static_cast<size_t>(id);
    return id != unknown_ && (vocab_.closed[n] || types_[n] == TokenType::whole);
  }

 private:
  struct Piece {
    int32_t id;
    uint32_t rank;  // the lower, the sooner it is made; pieces of one score share it
  };
  struct Part {
    uint32_t from, bytes;  // in the text
    int32_t id;            // what spells it, where a list of merges made it; -1: nothing
  };

  void read_types(const Meta& meta);
  void read_scores(const Meta& meta);
  void read_prefix(const Meta& meta);
  void read_fallback(const Meta& meta);
  bool is_piece(size_t id) const {
    return !vocab_.closed[id] && (types_[id] == TokenType::normal || types_[id] == TokenType::whole) && !vocab_.tokens[id].empty();
  }
  int32_t piece(std::string_view text) const;
  void merge(std::string_view run, std::vector<int32_t>& out) const;

  const Vocab& vocab_;
  std::vector<uint32_t> types_;
  std::unordered_map<std::string_view, Piece> pieces_;  // what merges may make
  size_t longest_ = 0;                                  // of them, in bytes
  NameSet whole_;                                       // taken from a text before any merge
  std::array<int32_t, 256> byte_ids_{};
  std::optional<MergeTable> merges_;    // in place of the scores
  std::unique_ptr<Splitter> splitter_;  // nullptr: a text is one word
  uint64_t prefix_ = BlankBefore::none;
  bool bytes_ = false;
  int32_t unknown_ = -1;
  bool each_unknown_ = false;  // or once for all that is together
};

void SpmModel::read_types(const Meta& meta) {
  const auto& tokens = vocab_.tokens;
  types_ = meta.get<std::vector<uint32_t>>(key::tok_types);
  if (types_.size() != tokens.size())
    key_fails(key::tok_types, fmt::format("has {} numbers for {} tokens", types_.size(), tokens.size()));
  byte_ids_.fill(-1);
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (types_[id] < TokenType::normal || types_[id] > TokenType::byte)
      key_fails(key::tok_types, fmt::format("gives token {} the type {}; 1 to 6 are known", id, types_[id]));
    const auto n = static_cast<int32_t>(id);
    if (vocab_.closed[id]) continue;
    if (types_[id] == TokenType::byte) {
      if (tokens[id].size() != 1)
        key_fails(key::tok_tokens, fmt::format("has {} bytes for token {}, which stands for one", tokens[id].size(), id));
      int32_t& slot = byte_ids_[static_cast<unsigned char>(tokens[id][0])];
      if (slot >= 0) key_fails(key::tok_tokens, fmt::format("has tokens {} and {} for the same byte", slot, id));
      slot = n;
    } else if (is_piece(id)) {
      const auto [it, fresh] = pieces_.emplace(tokens[id], Piece{n, 0});
      if (!fresh) key_fails(key::tok_tokens, fmt::format("has tokens {} and {} of the same text", it->second.id, id));
      if (types_[id] == TokenType::whole) whole_.add(tokens[id], n);
      longest_ = std::max(longest_, tokens[id].size());
    }
  }
}

void SpmModel::read_scores(const Meta& meta) {
  const auto& scores = meta.get<std::vector<double>>(key::tok_scores);
  if (scores.size() != types_.size())
    key_fails(key::tok_scores, fmt::format("has {} numbers for {} tokens", scores.size(), types_.size()));
  std::vector<double> order;
  for (size_t id = 0; id < scores.size(); ++id) {
    if (!std::isfinite(scores[id]))
      key_fails(key::tok_scores, fmt::format("gives token {} the score {}, which is not a finite number", id, scores[id]));
    order.push_back(scores[id]);
  }
  std::sort(order.begin(), order.end(), std::greater<>());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  for (auto& [text, piece] : pieces_) {
    const auto at = std::lower_bound(order.begin(), order.end(), scores[static_cast<size_t>(piece.id)], std::greater<>());
    piece.rank = static_cast<uint32_t>(at - order.begin());
  }
}

void SpmModel::read_prefix(const Meta& meta) {
  if (const auto* n = meta.find<uint64_t>(key::tok_add_prefix)) prefix_ = *n;
  if (prefix_ > BlankBefore::first_bare) key_fails(key::tok_add_prefix, fmt::format("is {}; 0 to 3 are known", prefix_));
  if (prefix_ != BlankBefore::none && !pieces_.contains(" "))
    key_fails(key::tok_add_prefix,
              fmt::format("is {}, but no token of the model is the blank that would come before a text", prefix_));
}

void SpmModel::read_fallback(const Meta& meta) {
  bytes_ = key_flag(meta, key::tok_byte_fallback, false);
  if (const auto* id = meta.find<uint64_t>(key::tok_unknown)) unknown_ = key_id(key::tok_unknown, *id, types_.size());
  each_unknown_ = key_flag(meta, key::tok_each_unknown, false);
  if (!bytes_ && unknown_ < 0)
    key_fails(key::tok_byte_fallback, "is not 1, and the model has no token for what its others do not spell");
  for (size_t b = 0; bytes_ && b < byte_ids_.size(); ++b) {
    if (byte_ids_[b] < 0) key_fails(key::tok_tokens, fmt::format("has no token for the byte 0x{:02x} that text may become", b));
  }
}

void SpmModel::append(std::string_view text, bool first, std::vector<int32_t>& out) const {
  if (text.empty()) return;
  if (text.size() >= kMaxParts)
    throw Error(fmt::format("a text of {} bytes is longer than the {} that can be tokenized", text.size(), kMaxParts - 1));
  const auto words = [&](std::string_view run) {
    if (!splitter_) return merge(run, out);
    splitter_->split(run, [&](std::string_view word) { merge(word, out); });
  };
  whole_.cut(
      text,
      [&](std::string_view stretch) {
        const bool bare = prefix_ == BlankBefore::each || stretch[0] != ' ';
        const bool here =
            prefix_ == BlankBefore::first_bare ? first && stretch.data() == text.data() : prefix_ != BlankBefore::none;
        if (!here || !bare) return words(stretch);
        std::string prefixed(1, ' ');
        words(prefixed.append(stretch));
      },
      [&](int32_t id) { out.push_back(id); });
}

int32_t SpmModel::piece(std::string_view text) const {
  if (text.size() > longest_) return -1;
  const auto it = pieces_.find(text);
  return it == pieces_.end() ? -1 : it->second.id;
}

// The parts are characters; of what is not UTF-8, bytes.
void SpmModel::merge(std::string_view run, std::vector<int32_t>& out) const {
  std::vector<Part> parts;
  parts.reserve(run.size());
  const auto add = [&](size_t from, size_t bytes) {
    parts.push_back({static_cast<uint32_t>(from), static_cast<uint32_t>(bytes), merges_ ? piece(run.substr(from, bytes)) : -1});
  };
  for (size_t i = 0; i < run.size();) {
    const size_t valid = i + utf8_valid_prefix(run.substr(i));
    while (i < valid) {
      size_t n = 1;
      while (i + n < valid && (run[i + n] & 0xc0) == 0x80) ++n;
      add(i, n);
      i += n;
    }
    if (i < run.size()) add(i++, 1);
  }
  bool was_unknown = false;
  merge_neighbours(
      parts,
      [&](const Part& a, const Part& b) {
        if (merges_) return a.id < 0 || b.id < 0 ? kNoRank : merges_->rank(a.id, b.id);
        const size_t bytes = size_t{a.bytes} + b.bytes;
        if (bytes > longest_) return kNoRank;
        const auto it = pieces_.find(run.substr(a.from, bytes));
        return it == pieces_.end() ? kNoRank : it->second.rank;
      },
      [&](uint32_t rank, Part& a, const Part& b) {
        a.bytes += b.bytes;
        if (merges_) a.id = merges_->made(rank);
      },
      [&](const Part& p) {
        const std::string_view text = run.substr(p.from, p.bytes);
        const int32_t id = merges_ ? p.id : piece(text);
        if (id >= 0) {
          out.push_back(id);
        } else if (bytes_) {
          for (const char c : text) out.push_back(byte_ids_[static_cast<unsigned char>(c)]);
        } else if (!was_unknown || each_unknown_) {
          out.push_back(unknown_);
        }
        was_unknown = id < 0;
      });
}

}  // namespace

std::unique_ptr<TextModel> spm_model(const Meta& meta, const Vocab& vocab) { return std::make_unique<SpmModel>(meta, vocab); }

}  // namespace nyb
