// text_model.h - what plain text becomes: the part of a tokenizer that differs from kind to kind.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
#include "model/meta.h"
#include "text/name_set.h"

namespace nyb {

// What every kind has. A TextModel refers to it and must not outlive it.
struct Vocab {
  std::vector<std::string> tokens;  // the bytes of each id; of a special, its name
  std::vector<bool> special;        // text never becomes it
  NameSet named;                    // what a template's text may name: the specials, and tokens added by hand
};

// What tok.types says of a token, by SentencePiece's numbers.
struct TokenType {
  enum : uint32_t { normal = 1, unknown, control, whole, unused, byte };
};

class TextModel {
 public:
  virtual ~TextModel() = default;
  TextModel() = default;
  TextModel(const TextModel&) = delete;
  TextModel& operator=(const TextModel&) = delete;

  // Appends the ids of a plain text, any bytes: never a special.
  virtual void append(std::string_view text, std::vector<int32_t>& out) const = 0;
  // Whether a text that begins with `id` began with a blank put there by `append`.
  virtual bool has_prefix(int32_t id) const = 0;
  // What stands for text that no token spells; -1: nothing does.
  virtual int32_t unknown() const = 0;
};

// From the keys tok.* of a model file: tok.kind "bpe" or "bpe-words", which adds to vocab.named, and "spm". Throw Error naming
// the key at fault.
std::unique_ptr<TextModel> bpe_model(const Meta& meta, Vocab& vocab);
std::unique_ptr<TextModel> spm_model(const Meta& meta, const Vocab& vocab);

[[noreturn]] void key_fails(const char* key, const std::string& what);  // "the model's key "..." " and what
int32_t key_id(const char* key, uint64_t id, size_t vocab);             // checked to be within the vocabulary
bool key_flag(const Meta& meta, const char* key, bool otherwise);       // 0 or 1

}  // namespace nyb
