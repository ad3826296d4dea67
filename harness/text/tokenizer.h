// tokenizer.h - byte-level BPE: bytes to ids and back.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "model/meta.h"

namespace nyb {

class Tokenizer {
 public:
  // From the keys tok.* of a model file; nullptr when the file has no tokenizer. Throws Error naming the key at fault.
  static std::unique_ptr<Tokenizer> from_meta(const Meta& meta);
  ~Tokenizer();

  // Plain text, any bytes. Never yields a special id. Linear time and constant stack on hostile input.
  std::vector<int32_t> encode(std::string_view text) const;
  // Text of a template: specials written out ("<|user|>") become their ids, the longest first; the rest as encode.
  std::vector<int32_t> encode_with_specials(std::string_view text) const;

  std::string_view bytes(int32_t id) const;     // of a special: empty; id outside the vocabulary: empty
  std::string decode(const std::vector<int32_t>& ids) const;
  std::string_view name(int32_t id) const;      // of a special: its text; of others: their bytes
  bool is_special(int32_t id) const;
  bool is_end(int32_t id) const;
  std::optional<int32_t> bos() const;
  bool add_bos() const;
  const std::vector<int32_t>& ends() const;
  size_t size() const;

 private:
  Tokenizer();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Reads tokenizer.json, tokenizer_config.json and config.json of a Hugging Face folder into the keys tok.* and
// chat.template. Throws Error naming the file and what in it is not understood. `vocab` is the model's true vocabulary.
void tok_import_hf(const std::string& folder, uint32_t vocab, Meta& out);

}  // namespace nyb
