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
  std::vector<bool> special;        // a reply does not show it
  std::vector<bool> closed;         // text never becomes it: specials and others that a template alone may name
  NameSet named;                    // those
};

// What tok.types says of a token, by SentencePiece's numbers.
struct TokenType {
  enum : uint32_t { normal = 1, unknown, control, whole, unused, byte };
};

// What tok.add_prefix says: where a blank is put before plain text.
struct BlankBefore {
  enum : uint64_t {
    none,
    each,        // stretch of text that begins a text or follows a special or a token taken whole
    each_bare,   // such a stretch that does not begin with a blank
    first_bare,  // of these, the one that begins the text
  };
};

class TextModel {
 public:
  virtual ~TextModel() = default;
  TextModel() = default;
  TextModel(const TextModel&) = delete;
  TextModel& operator=(const TextModel&) = delete;

  // Appends the ids of a plain text, any bytes: never a closed one. `first`: nothing comes before it.
  virtual void append(std::string_view text, bool first, std::vector<int32_t>& out) const = 0;
  // Whether a stretch of text that begins with `id` began with a blank put there by `append`.
  virtual bool has_prefix(int32_t id, bool first) const = 0;
  // Whether what follows `id`, an id of the vocabulary, is a stretch of text of its own.
  virtual bool parts_text(int32_t id) const = 0;
};

// From the keys tok.* of a model file: tok.kind "bpe" or "bpe-words", and "spm". Throw Error naming the key at fault.
std::unique_ptr<TextModel> bpe_model(const Meta& meta, const Vocab& vocab);
std::unique_ptr<TextModel> spm_model(const Meta& meta, const Vocab& vocab);

[[noreturn]] void key_fails(const char* key, const std::string& what);       // "the model's key "..." " and what
int32_t key_id(const char* key, uint64_t id, size_t vocab);                  // checked to be within the vocabulary
bool key_flag(const Meta& meta, const char* key, bool otherwise);            // 0 or 1
std::vector<bool> key_set(const Meta& meta, const char* key, size_t vocab);  // a list of ids, none where the key is absent

}  // namespace nyb
