// text_support.h - inputs, references and made-up model folders for the tests of text.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/text.h"
#include "text/tokenizer.h"

namespace nyb::test {

using Ids = std::vector<int32_t>;
constexpr uint32_t kPocketVocab = 2048;

const Meta& pocket_meta();
const Tokenizer& pocket();              // the built-in model's
const nlohmann::json& pocket_json();    // its tokenizer.json
const nlohmann::json& pocket_config();  // its tokenizer_config.json

// A fresh folder with these files.
std::filesystem::path folder_with(const std::map<std::string, std::string>& files);
// A folder with this tokenizer.json and this tokenizer_config.json.
std::filesystem::path folder_with(const nlohmann::json& tokenizer, const nlohmann::json& config);

// A tokenizer.json with the 256 bytes, then one token for each merge (parts by id). Ids from 256 on; the pattern is Llama 3's.
nlohmann::json made_up_bpe(const std::vector<std::array<uint32_t, 2>>& merges);

// A plain text between two of a template.
Ids framed(const Tokenizer& tok, std::string_view before, std::string_view text, std::string_view after);

// The ids of `texts` by @huggingface/tokenizers. Fails the test with what to run, and returns nothing, where it cannot.
std::vector<Ids> hf_ids(const std::filesystem::path& tokenizer_json, const std::vector<std::string>& texts, bool specials = false);

// BPE as its definition says: of all pairs the best is merged, the leftmost of equals, until none is left.
Ids naive_bpe(std::string_view word, const std::array<int32_t, 256>& byte_ids, const std::vector<uint32_t>& merges);

// A stream of numbers that is the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }

 private:
  uint64_t state_;
};

// Texts that are not UTF-8, or only in part.
std::vector<std::string> odd_bytes();
// A string of pieces from all over Unicode (as old as Unicode 6, so that every library knows them).
std::string fuzz_text(Random& rng);

// The sentence of the Error that `body` throws; "" and a failed test when it throws none.
template <class F>
std::string error_of(F&& body);

}  // namespace nyb::test

#include <gtest/gtest.h>

#include "kern/error.h"

template <class F>
std::string nyb::test::error_of(F&& body) {
  try {
    body();
  } catch (const Error& e) { return e.what(); }
  ADD_FAILURE() << "no Error was thrown";
  return {};
}
