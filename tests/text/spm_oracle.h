// spm_oracle.h - SentencePiece's BPE and llama2.c's, as plainly as they can be written.
#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text_support.h"

namespace nyb::test {

struct RawVocab {
  std::vector<std::string> pieces;  // as SentencePiece spells them: U+2581 for a blank, "<0x0A>" for a byte
  std::vector<float> scores;
  std::vector<int> types;  // SentencePiece's; all 1 in llama2.c's file, which has none
};

RawVocab llama2c_vocab(const std::filesystem::path& bin);  // a blank for a blank, as that file has it
RawVocab gguf_vocab(const std::filesystem::path& gguf);

class SpmOracle {
 public:
  explicit SpmOracle(RawVocab v);

  // The symbols are characters; of all neighbours that make a piece, the two of the best score are merged, the leftmost of equals.
  // A symbol that is no piece becomes its bytes. Quadratic. The text begins with a blank put before it.
  Ids sentencepiece(std::string_view text) const;

  // encode() of llama2.c's run.c without BOS and EOS, for UTF-8 without NUL.
  Ids llama2c(const std::string& text) const;

  const RawVocab& vocab() const { return v_; }

 private:
  RawVocab v_;
  std::unordered_map<std::string, int32_t> normal_, all_;
  std::array<int32_t, 256> bytes_{};
};

}  // namespace nyb::test
