// import_gguf.cpp - what the keys tokenizer.* of a GGUF file say about text, as keys of a model file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "kern/error.h"
#include "kern/printable.h"
#include "model/gguf.h"
#include "text/byte_map.h"
#include "text/gguf_pre.h"
#include "text/merge_pair.h"
#include "text/regex_import.h"
#include "text/tok_parts.h"
#include "text/tokenizer.h"

namespace nyb {
namespace {

constexpr const char* kModel = "tokenizer.ggml.model";
constexpr const char* kPre = "tokenizer.ggml.pre";
constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kTypes = "tokenizer.ggml.token_type";
constexpr const char* kScores = "tokenizer.ggml.scores";
constexpr const char* kMerges = "tokenizer.ggml.merges";
constexpr const char* kUnknown = "tokenizer.ggml.unknown_token_id";
constexpr const char* kSpaces = "tokenizer.ggml.remove_extra_whitespaces";

class GgufImport {
 public:
  GgufImport(const Gguf& file, uint32_t vocab) : file_(file), vocab_(vocab) {}

  void run(Meta& out) {
    const auto model = file_.str(kModel);
    if (!model || *model == "none" || *model == "no_vocab") return;
    if (*model != "gpt2" && *model != "llama")
      fail(kModel, fmt::format("is \"{}\"; gpt2 (a byte-level BPE) and llama (SentencePiece's BPE) are known", *model));
    parts_.byte_level = *model == "gpt2";
    read_tokens();
    if (parts_.byte_level) {
      words();
    } else {
      pieces();
    }
    ids();
    if (const auto jinja = file_.str("tokenizer.chat_template")) parts_.chat_template = *jinja;
    tok_write(std::move(parts_), file_.path(), out);
  }

 private:
  [[noreturn]] void fail(std::string_view key, const std::string& what) const {
    throw Error(fmt::format("{}: {} {}", file_.path(), key, what));
  }

  bool is(size_t id, uint32_t type) const { return types_[id] == type; }

  void read_tokens() {
    need(kTokens);
    spelled_ = file_.strs(kTokens);
    if (vocab_ > kMaxTokens) fail(kTokens, fmt::format("belong to a vocabulary of {}, {} is the most", vocab_, kMaxTokens));
    if (spelled_.size() > vocab_)
      fail(kTokens, fmt::format("has {} tokens, more than the model's vocabulary of {}", spelled_.size(), vocab_));
    types_.assign(spelled_.size(), TokenType::normal);
    if (!parts_.byte_level || file_.has(kTypes)) {
      need(kTypes);
      const auto types = file_.ints(kTypes);
      same_length(kTypes, types.size());
      for (size_t id = 0; id < types.size(); ++id) {
        const int64_t t = types[id];
        if (t < TokenType::normal || t > TokenType::byte)
          fail(kTypes, fmt::format("gives token {} the type {}; 1 to 6 are known", id, t));
        types_[id] = static_cast<uint32_t>(t);
      }
    }
    parts_.tokens.assign(vocab_, std::string());
    for (size_t id = 0; id < spelled_.size(); ++id) {
      if ((is(id, TokenType::control) || is(id, TokenType::unknown)) && !spelled_[id].empty())
        parts_.specials.insert(static_cast<uint32_t>(id));
    }
  }

  void need(const char* key) const {
    if (!file_.has(key)) fail(key, "is missing, without which there is no tokenizer");
  }

  void same_length(const char* key, size_t count) const {
    if (count != spelled_.size()) fail(key, fmt::format("has {} entries for {} tokens", count, spelled_.size()));
  }

  // Byte-level BPE. What was added by hand is spelled as it is, all else in GPT-2's alphabet.
  void words() {
    const std::string name(file_.str(kPre).value_or("default"));
    pre_ = gguf_pre(name);
    if (!pre_) fail(kPre, fmt::format("is \"{}\", a way to cut text that is not known here; known are {}", name, gguf_pre_names()));
    for (const std::string_view p : pre_->patterns) parts_.patterns.push_back(regex_import(p, kPre));
    parts_.whole_words = pre_->whole_words;
    parts_.nfc = pre_->nfc;
    // Of two with one text the first stands, but one that text may become before one that it may not.
    std::unordered_map<std::string_view, uint32_t> ids;
    for (const bool plain : {true, false}) {
      for (size_t id = 0; id < spelled_.size(); ++id) {
        if ((is(id, TokenType::normal) || is(id, TokenType::byte)) == plain) ids.emplace(spelled_[id], static_cast<uint32_t>(id));
      }
    }
    for (size_t id = 0; id < spelled_.size(); ++id) {
      const auto n = static_cast<uint32_t>(id);
      const bool text = is(id, TokenType::normal) || is(id, TokenType::byte);
      const auto bytes = text ? byte_map_decode(spelled_[id]) : std::nullopt;
      parts_.tokens[id] = bytes ? *bytes : std::string(spelled_[id]);
      if (spelled_[id].empty()) continue;
      if (is(id, TokenType::whole)) parts_.add_by_hand(n);
      if (is(id, TokenType::unused)) parts_.named.insert(n);
    }
    merges(ids);
  }

  void merges(const std::unordered_map<std::string_view, uint32_t>& ids) {
    need(kMerges);
    const auto all = file_.strs(kMerges);
    parts_.merges.reserve(3 * all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      const auto two = merge_pair(all[i]);
      if (!two || two->first.empty() || two->second.empty())
        fail(fmt::format("{}[{}]", kMerges, i), fmt::format("is \"{}\", not two tokens with a blank between", printable(all[i])));
      for (const std::string& part : {two->first, two->second, two->first + two->second}) {
        const auto it = ids.find(part);
        if (it == ids.end())
          fail(fmt::format("{}[{}]", kMerges, i), fmt::format("names \"{}\", which is no token", printable(part)));
        parts_.merges.push_back(it->second);
      }
    }
  }

  // SentencePiece's BPE.
  void pieces() {
    need(kScores);
    parts_.scores = file_.floats(kScores);
    same_length(kScores, parts_.scores.size());
    if (file_.boolean(kSpaces).value_or(false)) fail(kSpaces, "is true: texts whose blanks are lost are not understood");
    parts_.scores.resize(vocab_, 0.0);
    parts_.types.assign(vocab_, TokenType::unused);
    std::array<std::unordered_map<std::string, uint32_t>, 2> seen;  // texts and bytes: of two alike the first stands
    for (size_t id = 0; id < spelled_.size(); ++id) {
      const auto n = static_cast<uint32_t>(id);
      parts_.spell(n, spelled_[id], types_[id]);
      const bool byte = is(id, TokenType::byte);
      if (!byte && !is(id, TokenType::normal) && !is(id, TokenType::whole)) continue;
      if (is(id, TokenType::whole) && !parts_.tokens[id].empty()) parts_.add_by_hand(n);
      if (!parts_.named.contains(n) && !seen[byte].emplace(parts_.tokens[id], n).second) parts_.types[id] = TokenType::unused;
      parts_.byte_fallback = parts_.byte_fallback || byte;
    }
    parts_.unknown = id_of(kUnknown);
    const auto it = std::find(types_.begin(), types_.end(), uint32_t{TokenType::unknown});
    if (!parts_.unknown && it != types_.end()) parts_.unknown = static_cast<uint32_t>(it - types_.begin());
    parts_.add_prefix = file_.boolean("tokenizer.ggml.add_space_prefix").value_or(true) ? BlankBefore::each : BlankBefore::none;
    // Phi-3's specials take along the white space after them; the file does not say it, the model's tokenizer.json does.
    if (file_.str("general.architecture") != "phi3") return;
    for (const uint32_t id : parts_.specials) {
      if (spelled_[id] != "<unk>" && spelled_[id] != "<s>" && spelled_[id] != "<|endoftext|>") parts_.strips_after.insert(id);
    }
  }

  std::optional<uint32_t> id_of(const char* key) const {
    const auto id = file_.u64(key);
    if (!id) return std::nullopt;
    if (*id >= spelled_.size()) fail(key, fmt::format("is {}, beyond the {} tokens", *id, spelled_.size()));
    return static_cast<uint32_t>(*id);
  }

  // Beginning and ends: those that the file names, and those that their names make known, for many files name one alone.
  void ids() {
    parts_.bos = id_of("tokenizer.ggml.bos_token_id");
    parts_.add_bos = file_.boolean("tokenizer.ggml.add_bos_token").value_or(!pre_ || pre_->adds_bos);
    for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
      if (const auto id = id_of(key)) parts_.ends.insert(*id);
    }
    parts_.eos = id_of("tokenizer.ggml.eos_token_id");
    const auto ends = [](std::string_view name) {
      return std::find(kTurnEnds.begin(), kTurnEnds.end(), name) != kTurnEnds.end() ||
             std::find(kTextEnds.begin(), kTextEnds.end(), name) != kTextEnds.end();
    };
    for (size_t id = 0; id < spelled_.size(); ++id) {
      if ((is(id, TokenType::control) || is(id, TokenType::whole)) && ends(spelled_[id]))
        parts_.ends.insert(static_cast<uint32_t>(id));
    }
  }

  const Gguf& file_;
  uint32_t vocab_;
  TokParts parts_;
  const GgufPre* pre_ = nullptr;
  std::vector<std::string_view> spelled_;
  std::vector<uint32_t> types_;
};

}  // namespace

void tok_import_gguf(const Gguf& file, uint32_t vocab, Meta& out) { GgufImport(file, vocab).run(out); }

}  // namespace nyb
