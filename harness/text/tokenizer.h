// tokenizer.h - bytes to ids and back: byte-level BPE, or the BPE of SentencePiece.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "model/meta.h"

namespace nyb {
class Gguf;

// A part of a text: what a template writes, plain text whatever it looks like, or ids that stand for it already.
struct TextPart {
  std::string_view text;
  bool plain;
  std::span<const int32_t> ids;
};

class Tokenizer {
 public:
  // From the keys tok.* of a model file; nullptr when the file has no tokenizer. Throws Error naming the key at fault.
  static std::unique_ptr<Tokenizer> from_meta(const Meta& meta);
  ~Tokenizer();

  // Plain text, any bytes. Never yields a special id. Linear time (but for a logarithm) and constant stack on hostile input.
  // Bytes that are not UTF-8 are words of their own (text/splitter.h). decode gives back the bytes; their NFC where tok.normal is
  // "nfc"; less a blank that they begin with where tok.add_prefix is 2 or 3; U+FFFD for a byte that no UTF-8 has where the
  // vocabulary has none for it; not all where an "spm" has no byte fallback. Threads may share a Tokenizer.
  std::vector<int32_t> encode(std::string_view text) const;
  // Text of a template: specials written out ("<|user|>") and the ids of tok.named ("<think>") become their ids, the longest first,
  // and take along the white space beside them where tok.strips_before and tok.strips_after say so; the rest as encode.
  std::vector<int32_t> encode_with_specials(std::string_view text) const;

  // A text of parts, appended to `ids`: specials of those that are not plain become their ids. Plain text that meets is tokenized
  // as one. `given` grows with `ids` and says which of them were ids before.
  void encode_parts(std::span<const TextPart> parts, std::vector<int32_t>& ids, std::vector<bool>& given) const;

  std::string_view bytes(int32_t id) const;  // of a special: empty; id outside the vocabulary: empty
  // What `id` adds to a text in which it follows the id `before`; -1: it begins the text. bytes(id), but for the blank that
  // encode puts before a text where tok.add_prefix says so: it is left out where a text begins or a special comes before.
  std::string_view bytes_after(int32_t before, int32_t id) const;
  std::string decode(const std::vector<int32_t>& ids) const;
  std::string_view name(int32_t id) const;  // of a special: its text; of others: their bytes
  bool is_special(int32_t id) const;
  bool is_end(int32_t id) const;
  std::optional<int32_t> bos() const;
  bool add_bos() const;
  std::optional<int32_t> eos() const;  // what the source calls eos_token, where the file says so or has one end
  const std::vector<int32_t>& ends() const;
  size_t size() const;
  // One sentence where this program's Unicode version is not the one that the file was converted with (new letters may then be cut
  // otherwise); empty where they are the same or the file does not say.
  std::string unicode_note() const;

 private:
  Tokenizer();
  struct Impl;
  class Frame;
  std::unique_ptr<Impl> impl_;
};

// Reads tokenizer.json, tokenizer_config.json and config.json of a Hugging Face folder into the keys tok.* and
// chat.template; generation_config.json and chat_template.jinja where they are. Throws Error naming the file and what in it
// is not understood. `vocab` is the model's true vocabulary. Without a tokenizer.json there is no tokenizer: no key is set.
//
// Byte-level BPE becomes tok.kind "bpe", or "bpe-words" where a word of the vocabulary is taken whole before any merge
// (ignore_merges); a BPE over characters with Metaspace, or with the normalizer that stands for it, becomes "spm".
// tok.add_bos is tokenizer_config.json's add_bos_token; where it says nothing, whether the post-processor writes BOS, or
// else whether the chat template does.
void tok_import_hf(const std::string& folder, uint32_t vocab, Meta& out);

// Reads the keys tokenizer.* of a GGUF file into the same keys. Throws Error naming the file and the key. Without
// tokenizer.ggml.model no key is set. A reply's ends are those that the file names (eos, eot, eom) and special tokens known by
// their names ("<|im_end|>").
void tok_import_gguf(const Gguf& file, uint32_t vocab, Meta& out);

// Reads llama2.c's tokenizer file (.bin) into the keys tok.*, with what llama2.c adds to it: id 0 is unknown, 1 is BOS, which
// begins every text and ends a reply, 2 is EOS; a blank comes before every text; bytes stand in for what no token spells. Throws
// Error naming the file and the token. `vocab` is the model's vocabulary, which the file's must equal.
void tok_import_llama2c(const std::string& path, uint32_t vocab, Meta& out);

// Reads the tokenizer file of version 1 models (MNTOKZR1) into the keys tok.* and chat.template: a byte-level BPE whose specials
// are
// <|bos|>, <|user|>, <|assistant|>, <|system|>, <|end|> and reserved ones; the template is `<|role|>text<|end|>` after <|bos|>.
// `vocab` and `hash` are the model's, which the file's must equal (hash 0: any). Throws Error likewise.
void tok_import_mnm1(const std::string& path, uint32_t vocab, uint64_t hash, Meta& out);

}  // namespace nyb
