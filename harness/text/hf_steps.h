// hf_steps.h - what stands around the model in a tokenizer.json: normalizer, pre-tokenizer and decoder.
#pragma once
#include "text/json_file.h"
#include "text/tok_parts.h"

namespace nyb {

// Reads them into byte_level, patterns, nfc and add_prefix. Known are, in Sequences or alone,
//   normalizer      NFC; of SentencePiece's kind Prepend "\u2581", Replace " " by it
//   pre_tokenizer   Split (Isolated), Digits, then ByteLevel; or Metaspace, or nothing where the normalizer replaces blanks
//   decoder         ByteLevel; or Replace, ByteFallback, Fuse, Strip, Metaspace
// Throws Error naming what is of another kind. `tok` is the whole file.
void hf_steps(const JsonView& tok, TokParts& parts);

}  // namespace nyb
