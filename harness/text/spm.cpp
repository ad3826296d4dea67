// spm.cpp - the BPE of SentencePiece: characters merged by the scores of what they make; what no token spells falls to bytes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "kern/error.h"
#include "text/merge.h"
#include "text/text_model.h"
#include "text/utf8.h"

namespace nyb {
namespace {

class SpmModel final : public TextModel {
 public:
  SpmModel(const Meta& meta, const Vocab& vocab) : vocab_(vocab) {
    read_types(meta);
    read_scores(meta);
    prefix_ = key_flag(meta, key::tok_add_prefix, false);
    if (prefix_ && !pieces_.contains(" "))
      key_fails(key::tok_add_prefix, "is 1, but no token of the model is the blank that would come before a text");
    read_fallback(meta);
  }

  void append(std::string_view text, std::vector<int32_t>& out) const override;
  bool has_prefix(int32_t id) const override {
    return prefix_ && types_[static_cast<size_t>(id)] != TokenType::byte && vocab_.tokens[static_cast<size_t>(id)].starts_with(' ');
  }
  int32_t unknown() const override { return unknown_; }

 private:
  struct Piece {
    int32_t id;
    uint32_t rank;  // the lower, the sooner it is made; pieces of one score share it
  };
  struct Part {
    uint32_t from, bytes;  // in the text
  };

  void read_types(const Meta& meta);
  void read_scores(const Meta& meta);
  void read_fallback(const Meta& meta);
  void merge(std::string_view run, std::vector<int32_t>& out) const;

  const Vocab& vocab_;
  std::vector<uint32_t> types_;
  std::unordered_map<std::string_view, Piece> pieces_;  // what merges may make
  size_t longest_ = 0;                                  // of them, in bytes
  NameSet whole_;                                       // taken from a text before any merge
  std::array<int32_t, 256> byte_ids_{};
  bool prefix_ = false, bytes_ = false;
  int32_t unknown_ = -1;
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
    if (vocab_.special[id]) continue;
    if (types_[id] == TokenType::byte) {
      if (tokens[id].size() != 1)
        key_fails(key::tok_tokens, fmt::format("has {} bytes for token {}, which stands for one", tokens[id].size(), id));
      int32_t& slot = byte_ids_[static_cast<unsigned char>(tokens[id][0])];
      if (slot >= 0) key_fails(key::tok_tokens, fmt::format("has tokens {} and {} for the same byte", slot, id));
      slot = n;
    } else if ((types_[id] == TokenType::normal || types_[id] == TokenType::whole) && !tokens[id].empty()) {
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

void SpmModel::read_fallback(const Meta& meta) {
  bytes_ = key_flag(meta, key::tok_byte_fallback, false);
  if (const auto* id = meta.find<uint64_t>(key::tok_unknown)) unknown_ = key_id(key::tok_unknown, *id, types_.size());
  if (!bytes_ && unknown_ < 0)
    key_fails(key::tok_byte_fallback, "is not 1, and the model has no token for what its others do not spell");
  for (size_t b = 0; bytes_ && b < byte_ids_.size(); ++b) {
    if (byte_ids_[b] < 0) key_fails(key::tok_tokens, fmt::format("has no token for the byte 0x{:02x} that text may become", b));
  }
}

void SpmModel::append(std::string_view text, std::vector<int32_t>& out) const {
  if (text.empty()) return;
  if (text.size() >= kMaxParts)
    throw Error(fmt::format("a text of {} bytes is longer than the {} that can be tokenized", text.size(), kMaxParts - 1));
  std::string prefixed;
  if (prefix_) text = prefixed.append(1, ' ').append(text);
  if (whole_.empty()) return merge(text, out);
  size_t from = 0;
  for (size_t i = 0; i < text.size();) {
    const int32_t id = whole_.at(text, i);
    if (id < 0) {
      ++i;
      continue;
    }
    merge(text.substr(from, i - from), out);
    out.push_back(id);
    from = i += vocab_.tokens[static_cast<size_t>(id)].size();
  }
  merge(text.substr(from), out);
}

// The parts are characters; of what is not UTF-8, bytes.
void SpmModel::merge(std::string_view run, std::vector<int32_t>& out) const {
  std::vector<Part> parts;
  parts.reserve(run.size());
  for (size_t i = 0; i < run.size();) {
    const size_t valid = i + utf8_valid_prefix(run.substr(i));
    while (i < valid) {
      size_t n = 1;
      while (i + n < valid && (run[i + n] & 0xc0) == 0x80) ++n;
      parts.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(n)});
      i += n;
    }
    if (i < run.size()) parts.push_back({static_cast<uint32_t>(i++), 1});
  }
  const auto find = [&](uint32_t from, size_t bytes) {
    return bytes > longest_ ? pieces_.end() : pieces_.find(run.substr(from, bytes));
  };
  bool was_unknown = false;
  merge_neighbours(
      parts,
      [&](const Part& a, const Part& b) {
        const auto it = find(a.from, size_t{a.bytes} + b.bytes);
        return it == pieces_.end() ? kNoRank : it->second.rank;
      },
      [](uint32_t, Part& a, const Part& b) { a.bytes += b.bytes; },
      [&](const Part& p) {
        const auto it = find(p.from, p.bytes);
        const bool spelled = it != pieces_.end();
        if (spelled) {
          out.push_back(it->second.id);
        } else if (bytes_) {
          for (const char c : run.substr(p.from, p.bytes)) out.push_back(byte_ids_[static_cast<unsigned char>(c)]);
        } else if (!was_unknown) {
          out.push_back(unknown_);  // once for all that is together
        }
        was_unknown = !spelled;
      });
}

}  // namespace

std::unique_ptr<TextModel> spm_model(const Meta& meta, const Vocab& vocab) { return std::make_unique<SpmModel>(meta, vocab); }

}  // namespace nyb
