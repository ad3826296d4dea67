#include "text/tok_parts.h"

#include <fmt/format.h>

#include <utility>

#include "kern/error.h"
#include "text/splitter.h"
#include "text/template.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace nyb {
namespace {

using Ids = std::vector<uint32_t>;

Ids listed(const std::set<uint32_t>& ids) { return {ids.begin(), ids.end()}; }

void set_if_any(Meta& out, const char* key, const std::set<uint32_t>& ids) {
  if (!ids.empty()) out.set(key, listed(ids), true);
}

void set_patterns(std::vector<std::string> patterns, Meta& out) {
  if (patterns.empty()) return;
  if (patterns.size() == 1) {
    out.set(key::tok_pattern, std::move(patterns[0]), true);
  } else {
    out.set(key::tok_patterns, std::move(patterns), true);
  }
  out.set(key::tok_unicode, splitter_unicode());
}

void set_pieces(TokParts& parts, Meta& out) {
  out.set(key::tok_types, std::move(parts.types), true);
  if (parts.merges.empty()) out.set(key::tok_scores, std::move(parts.scores), true);
  out.set(key::tok_add_prefix, parts.add_prefix, true);
  out.set(key::tok_byte_fallback, uint64_t{parts.byte_fallback}, true);
  if (parts.unknown) out.set(key::tok_unknown, uint64_t{*parts.unknown}, true);
  if (parts.each_unknown) out.set(key::tok_each_unknown, uint64_t{1}, true);
}

std::optional<uint32_t> closing(const std::string& jinja, const Tokenizer& tok) {
  try {
    if (const auto id = ChatTemplate::parse(jinja, tok).reply_end(); id && !tok.is_end(*id)) return static_cast<uint32_t>(*id);
  } catch (const Error&) {}
  return std::nullopt;
}

// What was written must load; what is wrong with it came from `where`.
std::unique_ptr<Tokenizer> loaded(const Meta& meta, const std::string& where) {
  try {
    return Tokenizer::from_meta(meta);
  } catch (const Error& e) { throw Error(fmt::format("{}: {}", where, e.what())); }
}

}  // namespace

void TokParts::add_by_hand(uint32_t id) {
  const std::string& text = tokens[id];
  if (white_space_prefix(text) < text.size()) {
    named.insert(id);
  } else if (byte_level) {
    whole.insert(id);
  } else {
    types[id] = TokenType::whole;
  }
}

void TokParts::spell(uint32_t id, std::string_view spelled, uint32_t type) {
  types[id] = type;
  tokens[id].clear();
  if (type == TokenType::control || type == TokenType::unknown) {  // a name, looked for as it is
    tokens[id] = spelled;
    return;
  }
  if (const auto byte = byte_token(spelled); byte && type == TokenType::byte) {
    tokens[id] = *byte;
    return;
  }
  // A blank of the text is never spelled as one.
  if (type == TokenType::normal && spelled.find(' ') != spelled.npos) types[id] = TokenType::unused;
  for (size_t i = 0; i < spelled.size();) {
    const bool blank = spelled.substr(i).starts_with(kBlankMark);
    tokens[id] += blank ? ' ' : spelled[i];
    i += blank ? kBlankMark.size() : 1;
  }
}

std::optional<char> byte_token(std::string_view name) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (name.size() != 6 || !name.starts_with("<0x") || name[5] != '>') return std::nullopt;
  const size_t high = digits.find(name[3]), low = digits.find(name[4]);
  if (high == digits.npos || low == digits.npos) return std::nullopt;
  return static_cast<char>(high << 4 | low);
}

void tok_write(TokParts parts, const std::string& where, Meta& out) {
  parts.specials.insert(parts.ends.begin(), parts.ends.end());
  if (parts.bos) parts.specials.insert(*parts.bos);
  for (const uint32_t id : parts.specials) parts.named.erase(id);
  out.set(key::tok_kind, std::string(!parts.byte_level ? "spm" : parts.whole_words ? "bpe-words" : "bpe"), true);
  if (!parts.byte_level) set_pieces(parts, out);
  if (parts.byte_level || !parts.merges.empty()) out.set(key::tok_merges, std::move(parts.merges), true);
  set_patterns(std::move(parts.patterns), out);
  if (parts.nfc) out.set(key::tok_normal, std::string("nfc"), true);
  out.set(key::tok_tokens, std::move(parts.tokens), true);
  out.set(key::tok_specials, listed(parts.specials), true);
  set_if_any(out, key::tok_named, parts.named);
  set_if_any(out, key::tok_whole, parts.whole);
  set_if_any(out, key::tok_strips_before, parts.strips_before);
  set_if_any(out, key::tok_strips_after, parts.strips_after);
  if (parts.bos) out.set(key::tok_bos, uint64_t{*parts.bos}, true);
  out.set(key::tok_add_bos, uint64_t{parts.bos && parts.add_bos}, true);
  out.set(key::tok_ends, listed(parts.ends), true);
  if (parts.eos && parts.ends.size() > 1) out.set(key::tok_eos, uint64_t{*parts.eos});
  if (parts.chat_template) out.set(key::chat_template, *parts.chat_template);
  const auto tok = loaded(out, where);
  const auto end = parts.chat_template ? closing(*parts.chat_template, *tok) : std::nullopt;
  if (!end) return;
  parts.ends.insert(*end);
  out.set(key::tok_ends, listed(parts.ends), true);
  if (parts.eos) out.set(key::tok_eos, uint64_t{*parts.eos});
}

}  // namespace nyb
