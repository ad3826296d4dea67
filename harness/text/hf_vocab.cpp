#include "text/hf_vocab.h"

#include <fmt/format.h>

#include <utility>

#include "text/byte_map.h"
#include "text/merge_pair.h"

namespace nyb {

HfVocab::HfVocab(const JsonView& tok, uint32_t vocab, TokParts& parts) : size_(vocab), parts_(parts), taken_(vocab, false) {
  parts_.tokens.assign(vocab, std::string());
  if (!parts_.byte_level) parts_.types.assign(vocab, TokenType::unused);
  model(tok.get("model"));
  if (const auto list = tok.find("added_tokens")) {
    list->need_array();
    for (size_t i = 0; i < list->size(); ++i) add(list->at(i));
  }
}

void HfVocab::name_token(uint32_t id, const JsonView& where) {
  if (taken_[id]) where.fail(fmt::format("has the id {}, which another token has already", id));
  taken_[id] = true;
}

void HfVocab::model(const JsonView& m) {
  if (const auto type = m.find("type"); type && type->string() != "BPE") {
    type->fail(fmt::format("is \"{}\"; BPE is needed", type->string()));
  }
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (const auto v = m.find(affix); v && !v->string().empty()) v->fail("is not empty, which is not understood");
  }
  const auto fallback = m.find("byte_fallback");
  parts_.byte_fallback = fallback && fallback->boolean();
  if (parts_.byte_level && parts_.byte_fallback) fallback->fail("is true, which a byte-level BPE does not have");
  if (const auto v = m.find("dropout"); v && v->value() != 0)
    v->fail("is set, which would make the ids of a text a matter of chance");
  if (const auto v = m.find("ignore_merges")) {
    parts_.whole_words = v->boolean();
    if (parts_.whole_words && !parts_.byte_level) v->fail("is true, which is understood of a byte-level BPE only");
  }
  tokens(m);
  merges(m.get("merges"));
  if (!parts_.byte_level) unknown(m);
}

void HfVocab::tokens(const JsonView& m) {
  const JsonView vocab = m.get("vocab");
  vocab.need_object();
  ids_.reserve(vocab.size());
  for (const auto& [spelled, id] : vocab.value().items()) {
    const JsonView where(id, fmt::format("{}[\"{}\"]", vocab.name(), spelled));
    const uint32_t n = where.id(size_);
    name_token(n, where);
    ids_.emplace(spelled, n);
    if (parts_.byte_level) {
      // A token that no bytes make ("<|endoftext|>" with a blank in it) is of use as an added token only.
      parts_.tokens[n] = byte_map_decode(spelled).value_or(spelled);
    } else {
      parts_.spell(n, spelled, parts_.byte_fallback && byte_token(spelled) ? TokenType::byte : TokenType::normal);
    }
  }
  for (unsigned b = 0; parts_.byte_level && b < 256; ++b) {
    const std::string spelled = byte_map_encode(std::string(1, static_cast<char>(b)));
    if (!ids_.contains(spelled) && !byte_is_rare(static_cast<unsigned char>(b)))
      vocab.fail(fmt::format("has no token \"{}\" for the byte 0x{:02x}", spelled, b));
  }
}

void HfVocab::merges(const JsonView& list) {
  list.need_array();
  parts_.merges.reserve(3 * list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const JsonView entry = list.at(i);
    std::pair<std::string, std::string> two;
    if (entry.value().is_array()) {
      if (entry.size() != 2) entry.fail(fmt::format("has {} parts where two belong", entry.size()));
      two = {entry.at(0).string(), entry.at(1).string()};
    } else if (const auto parts = merge_pair(entry.string())) {
      two = *parts;
    } else {
      entry.fail(fmt::format("is \"{}\", not two tokens with a blank between", entry.string()));
    }
    if (two.first.empty() || two.second.empty()) entry.fail("has an empty part");
    for (const std::string& part : {two.first, two.second, two.first + two.second}) {
      const auto it = ids_.find(part);
      if (it == ids_.end()) entry.fail(fmt::format("names the token \"{}\", which model.vocab does not have", part));
      parts_.merges.push_back(it->second);
    }
  }
}

// What stands for text that no token spells.
void HfVocab::unknown(const JsonView& m) {
  const auto token = m.find("unk_token");
  if (!token) {
    if (!parts_.byte_fallback) m.fail("has neither byte_fallback nor an unk_token: text would be left out");
    return;
  }
  const auto it = ids_.find(token->string());
  if (it == ids_.end()) token->fail(fmt::format("is \"{}\", which model.vocab does not have", token->string()));
  parts_.unknown = it->second;
  parts_.spell(it->second, token->string(), TokenType::unknown);
  parts_.specials.insert(it->second);
  const auto fuse = m.find("fuse_unk");
  parts_.each_unknown = !fuse || !fuse->boolean();
}

void HfVocab::add(const JsonView& entry) {
  const std::string& content = entry.get("content").string();
  if (content.empty()) entry.fail("has an empty content");
  const uint32_t id = entry.get("id").id(size_);
  if (added_.contains(content)) entry.fail(fmt::format("names \"{}\" a second time", content));
  const auto flag = [&entry](const char* name) {
    const auto v = entry.find(name);
    return v && v->boolean();
  };
  const bool special = flag("special");
  const auto it = ids_.find(content);
  if (it != ids_.end() && it->second != id)
    entry.fail(fmt::format("gives \"{}\" the id {}, model.vocab gives it {}", content, id, it->second));
  if (it == ids_.end()) name_token(id, entry);
  added_.emplace(content, id);
  // Blanks that SentencePiece spells by its mark are found by merges.
  if (it != ids_.end() && !special && !parts_.byte_level && content.starts_with(kBlankMark)) return;
  if (flag("single_word")) entry.fail(fmt::format("(\"{}\") has single_word, which is not understood", content));
  parts_.tokens[id] = content;
  if (special) {
    parts_.specials.insert(id);
  } else {
    parts_.add_by_hand(id);
  }
  if (!parts_.byte_level && special && parts_.types[id] != TokenType::unknown) parts_.types[id] = TokenType::control;
  if (flag("lstrip")) parts_.strips_before.insert(id);
  if (flag("rstrip")) parts_.strips_after.insert(id);
}

std::optional<uint32_t> HfVocab::added(const std::string& content) const {
  const auto it = added_.find(content);
  return it == added_.end() ? std::nullopt : std::optional(it->second);
}

uint32_t HfVocab::named(const JsonView& v) const {
  const std::string& text = v.value().is_object() ? v.get("content").string() : v.string();
  if (const auto id = added(text)) return *id;
  if (const auto it = ids_.find(text); it != ids_.end()) return it->second;
  v.fail(fmt::format("is \"{}\", which tokenizer.json does not have", text));
}

}  // namespace nyb
