// tok_parts.h - what an importer found out about a tokenizer, and the one place where that becomes keys of a model file.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>
#include "model/meta.h"
#include "text/text_model.h"

namespace nyb {

// Specials that close a turn in the templates of known families.
inline constexpr std::array kTurnEnds = {"<|eot_id|>",    "<|eom_id|>",      "<|im_end|>", "<|end|>",
                                         "<end_of_turn>", "<|end_of_turn|>", "<|eot|>",    "<|endofturn|>"};
// Specials that close a document in their training.
inline constexpr std::array kTextEnds = {"<|endoftext|>", "<|end_of_text|>", "</s>", "<\uff5cend\u2581of\u2581sentence\uff5c>"};

// What SentencePiece writes for a blank.
inline constexpr std::string_view kBlankMark = "\u2581";

inline constexpr uint32_t kMaxTokens = 1u << 24;

struct TokParts {
  bool byte_level = true;    // or SentencePiece's
  bool whole_words = false;  // byte level: a word that is a token is taken whole
  std::vector<std::string> tokens;
  std::vector<uint32_t> merges;       // triples; SentencePiece's: or scores
  std::vector<std::string> patterns;  // SentencePiece's: none or one
  bool nfc = false;

  std::vector<double> scores;  // SentencePiece's, with all that follow
  std::vector<uint32_t> types;
  uint64_t add_prefix = BlankBefore::none;
  bool byte_fallback = false;
  std::optional<uint32_t> unknown;
  bool each_unknown = false;

  std::set<uint32_t> specials, named, whole, strips_before, strips_after, ends;
  std::optional<uint32_t> bos, eos;
  bool add_bos = false;
  std::optional<std::string> chat_template;

  // Sorts in a token that was added by hand and is no special: white space is part of texts, and is taken from them whole; all else
  // ("<think>", "<tool_call>") gives a conversation its form, so that only a template may name it.
  void add_by_hand(uint32_t id);
  // A token of SentencePiece as that spells it: bytes and type.
  void spell(uint32_t id, std::string_view spelled, uint32_t type);
};

// "<0x0A>" stands for one byte.
std::optional<char> byte_token(std::string_view name);

// Sets the keys tok.* and chat.template. An end becomes special, and what closes a reply in the template an end: where that cannot
// be read as a template nothing is added, for then the model still completes text and the chat says why. Throws Error beginning
// with `where` when no tokenizer comes of it.
void tok_write(TokParts parts, const std::string& where, Meta& out);

}  // namespace nyb
