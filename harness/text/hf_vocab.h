// hf_vocab.h - the tokens of a tokenizer.json: the BPE's vocabulary and merges, and those added by hand.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/json_file.h"
#include "text/tok_parts.h"

namespace nyb {

class HfVocab {
 public:
  // `tok` is the whole file, `parts` what hf_steps made of it: tokens, merges, types and the sets of ids are filled in. `vocab`:
  // how many ids the model has. Throws Error naming the member that is wrong or not understood.
  HfVocab(const JsonView& tok, uint32_t vocab, TokParts& parts);

  std::optional<uint32_t> added(const std::string& content) const;
  // The id of a token that another file names, as a string or an object with its content. Throws Error when there is none.
  uint32_t named(const JsonView& v) const;

 private:
  void model(const JsonView& m);
  void tokens(const JsonView& m);
  void merges(const JsonView& list);
  void unknown(const JsonView& m);
  void add(const JsonView& entry);
  void name_token(uint32_t id, const JsonView& where);

  uint32_t size_;
  TokParts& parts_;
  std::vector<bool> taken_;
  std::unordered_map<std::string, uint32_t> ids_, added_;  // as tokenizer.json spells them
};

}  // namespace nyb
