#include "text/export_gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <unordered_set>

#include "text/byte_map.h"
#include "text/text_model.h"
#include "text/tok_parts.h"
#include "text/tokenizer.h"

namespace nyb {
namespace {

using Ids = std::vector<uint32_t>;

class GgufExport {
 public:
  GgufExport(const Meta& meta, GgufKeys& out, std::vector<std::string>& notes) : meta_(meta), out_(out), notes_(notes) {}

  void run() {
    const auto* kind = meta_.find<std::string>(key::tok_kind);
    out_.str("tokenizer.ggml.model", !kind ? "none" : *kind == "spm" ? "llama" : "gpt2");
    if (!kind) {
      notes_.emplace_back("the model has no tokenizer, so that llama.cpp takes ids only");
    } else {
      tok_ = Tokenizer::from_meta(meta_);  // checks the keys
      spm_ = *kind == "spm";
      names();
      if (spm_)
        pieces();
      else
        words(*kind == "bpe-words");
      ids();
    }
    if (const auto* jinja = meta_.find<std::string>(key::chat_template)) out_.str("tokenizer.chat_template", *jinja);
  }

 private:
  std::set<uint32_t> set_of(const char* key) const {
    const auto* ids = meta_.find<Ids>(key);
    return ids ? std::set<uint32_t>(ids->begin(), ids->end()) : std::set<uint32_t>();
  }

  // llama.cpp's types are SentencePiece's.
  uint32_t type_of(size_t id, std::string_view text) const {
    const auto n = static_cast<uint32_t>(id);
    const uint32_t own = types_ ? (*types_)[id] : uint32_t{TokenType::normal};
    if (n == unknown_) return TokenType::unknown;
    if (text.empty() && own != TokenType::byte) return TokenType::unused;
    if (specials_.contains(n)) return TokenType::control;
    if (named_.contains(n) && own != TokenType::unused) return TokenType::whole;
    return whole_.contains(n) ? uint32_t{TokenType::whole} : own;
  }

  // What is looked for in texts as it is stands as it is; the rest in GPT-2's alphabet or SentencePiece's way.
  std::string spelled(std::string_view text, uint32_t type) const {
    if (type == TokenType::byte) return fmt::format("<0x{:02X}>", static_cast<unsigned char>(text[0]));
    if (type != TokenType::normal && type != TokenType::unused) return std::string(text);
    if (!spm_) return byte_map_encode(text);
    std::string out;
    for (const char c : text) out += c == ' ' ? std::string(kBlankMark) : std::string(1, c);
    return out;
  }

  void names() {
    specials_ = set_of(key::tok_specials);
    named_ = set_of(key::tok_named);
    whole_ = set_of(key::tok_whole);
    types_ = meta_.find<Ids>(key::tok_types);
    if (const auto* id = meta_.find<uint64_t>(key::tok_unknown)) unknown_ = static_cast<uint32_t>(*id);
    const auto& tokens = meta_.get<std::vector<std::string>>(key::tok_tokens);
    std::vector<std::string> texts;
    std::vector<int32_t> types;
    std::unordered_set<std::string> taken;
    for (size_t id = 0; id < tokens.size(); id++) {
      types.push_back(static_cast<int32_t>(type_of(id, tokens[id])));
      texts.push_back(tokens[id].empty() ? "" : spelled(tokens[id], static_cast<uint32_t>(types.back())));
      if (!texts.back().empty() && !taken.insert(texts.back()).second) texts.back().clear();
    }
    uint64_t next = 0;
    for (size_t id = 0; id < texts.size(); id++) {
      if (!texts[id].empty()) continue;
      while (texts[id].empty() || !taken.insert(texts[id]).second) texts[id] = fmt::format("<|reserved_{}|>", next++);
      if (types[id] == TokenType::normal) types[id] = TokenType::unused;
    }
    out_.strs("tokenizer.ggml.tokens", texts);
    out_.i32s("tokenizer.ggml.token_type", types);
    texts_ = std::move(texts);
  }

  void words(bool whole_words) {
    const auto* several = meta_.find<std::vector<std::string>>(key::tok_patterns);
    const auto patterns = several ? *several : std::vector<std::string>{meta_.get<std::string>(key::tok_pattern)};
    PreChoice pre = gguf_pre_of(patterns, whole_words);
    out_.str("tokenizer.ggml.pre", pre.name);
    if (!pre.note.empty()) notes_.push_back(std::move(pre.note));
    const auto& merges = meta_.get<Ids>(key::tok_merges);
    std::vector<std::string> both;
    for (size_t i = 0; i + 2 < merges.size(); i += 3) both.push_back(texts_[merges[i]] + " " + texts_[merges[i + 1]]);
    out_.strs("tokenizer.ggml.merges", both);
  }

  // A list of merges becomes scores: what is made first has the best.
  void pieces() {
    out_.str("tokenizer.ggml.pre", "default");
    std::vector<float> scores(texts_.size(), 0.0F);
    if (const auto* own = meta_.find<std::vector<double>>(key::tok_scores)) {
      std::transform(own->begin(), own->end(), scores.begin(), [](double s) { return static_cast<float>(s); });
    } else {
      const auto& merges = meta_.get<Ids>(key::tok_merges);
      const auto last = -static_cast<float>(merges.size() / 3);
      std::fill(scores.begin(), scores.end(), last);
      for (size_t i = merges.size() / 3; i-- > 0;) scores[merges[3 * i + 2]] = -static_cast<float>(i);
    }
    out_.f32s("tokenizer.ggml.scores", scores);
    const auto* prefix = meta_.find<uint64_t>(key::tok_add_prefix);
    out_.boolean("tokenizer.ggml.add_space_prefix", prefix && *prefix != BlankBefore::none);
    out_.boolean("tokenizer.ggml.remove_extra_whitespaces", false);
    if (unknown_ != kNone) out_.u32("tokenizer.ggml.unknown_token_id", unknown_);
    if (const auto* bytes = meta_.find<uint64_t>(key::tok_byte_fallback); !bytes || *bytes == 0)
      notes_.emplace_back("the tokenizer has no tokens for single bytes, without which llama.cpp may refuse some texts");
  }

  void ids() {
    out_.boolean("tokenizer.ggml.add_bos_token", tok_->add_bos());
    if (const auto bos = tok_->bos()) out_.u32("tokenizer.ggml.bos_token_id", static_cast<uint32_t>(*bos));
    std::vector<int32_t> ends = tok_->ends();
    if (ends.empty()) {
      notes_.emplace_back("the tokenizer names no end of a reply; llama.cpp takes a token of its own choice for one");
      return;
    }
    // of several ends of which none is called so the first, but llama2.c's models end with what begins a text too
    const auto first = std::find_if(ends.begin(), ends.end(), [&](int32_t id) { return id != tok_->bos(); });
    const int32_t eos = tok_->eos().value_or(first == ends.end() ? ends[0] : *first);
    out_.u32("tokenizer.ggml.eos_token_id", static_cast<uint32_t>(eos));
    std::erase(ends, eos);
    for (const auto& [key, is] :
         {std::pair("tokenizer.ggml.eom_token_id", true), std::pair("tokenizer.ggml.eot_token_id", false)}) {
      const auto it =
          std::find_if(ends.begin(), ends.end(), [&, want = is](int32_t id) { return (tok_->name(id) == "<|eom_id|>") == want; });
      if (it != ends.end()) out_.u32(key, static_cast<uint32_t>(*it));
    }
  }

  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  const Meta& meta_;
  GgufKeys& out_;
  std::vector<std::string>& notes_;
  std::unique_ptr<Tokenizer> tok_;
  bool spm_ = false;
  std::set<uint32_t> specials_, named_, whole_;
  const Ids* types_ = nullptr;
  uint32_t unknown_ = kNone;
  std::vector<std::string> texts_;
};

}  // namespace

void tok_export_gguf(const Meta& meta, GgufKeys& out, std::vector<std::string>& notes) { GgufExport(meta, out, notes).run(); }

}  // namespace nyb
