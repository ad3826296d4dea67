#include "text_support.h"

#include <fstream>

#include "node.h"
#include "support/data.h"
#include "text/byte_map.h"

namespace nyb::test {
namespace fs = std::filesystem;
using nlohmann::json;

const Meta& pocket_meta() {
  static const Meta meta = [] {
    Meta m;
    tok_import_hf(pocket_dir().string(), kPocketVocab, m);
    return m;
  }();
  return meta;
}

const Tokenizer& pocket() {
  static const auto tok = Tokenizer::from_meta(pocket_meta());
  return *tok;
}

const json& pocket_json() {
  static const json j = json::parse(read_file(pocket_dir() / "tokenizer.json"));
  return j;
}

const json& pocket_config() {
  static const json j = json::parse(read_file(pocket_dir() / "tokenizer_config.json"));
  return j;
}

fs::path folder_with(const std::map<std::string, std::string>& files) {
  static int count = 0;
  fs::path folder = tmp_dir() / ("folder" + std::to_string(count++));
  fs::create_directories(folder);
  for (const auto& [name, content] : files) std::ofstream(folder / name, std::ios::binary) << content;
  return folder;
}

fs::path folder_with(const json& tokenizer, const json& config) {
  return folder_with({{"tokenizer.json", tokenizer.dump()}, {"tokenizer_config.json", config.dump()}});
}

json made_up_bpe(const std::vector<std::array<uint32_t, 2>>& merges) {
  json vocab = json::object(), list = json::array();
  std::vector<std::string> spelled;
  spelled.reserve(256 + merges.size());
  for (int b = 0; b < 256; ++b) spelled.push_back(byte_map_encode(std::string(1, static_cast<char>(b))));
  for (const auto& [left, right] : merges) {
    list.push_back(json::array({spelled.at(left), spelled.at(right)}));
    spelled.push_back(spelled[left] + spelled[right]);
  }
  for (size_t id = 0; id < spelled.size(); ++id) vocab[spelled[id]] = id;
  json out = pocket_json();
  out["added_tokens"] = json::array();
  out["model"]["vocab"] = vocab;
  out["model"]["merges"] = list;
  return out;
}

namespace {

std::string base64(std::string_view s) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < s.size(); i += 3) {
    uint32_t v = 0;
    for (size_t k = 0; k < 3; ++k) v = v << 8 | (i + k < s.size() ? static_cast<unsigned char>(s[i + k]) : 0);
    for (int k = 3; k >= 0; --k) out += digits[v >> (6 * k) & 63];
  }
  for (size_t k = 0; k < (3 - s.size() % 3) % 3; ++k) out[out.size() - 1 - k] = '=';
  return out;
}

}  // namespace

Ids framed(const Tokenizer& tok, std::string_view before, std::string_view text, std::string_view after) {
  Ids ids;
  std::vector<bool> given;
  tok.encode_parts(std::array{TextPart{before, false, {}}, TextPart{text, true, {}}, TextPart{after, false, {}}}, ids, given);
  return ids;
}

std::vector<Ids> hf_ids(const fs::path& tokenizer_json, const std::vector<std::string>& texts, bool specials) {
  std::vector<std::string> lines;
  for (const std::string& t : texts) lines.push_back(json{{"text", base64(t)}, {"specials", specials}}.dump());
  std::vector<Ids> ids;
  for (const json& answer : node_answers("@huggingface/tokenizers", "hf_tokenize.mjs", {tokenizer_json}, lines))
    ids.push_back(answer.get<Ids>());
  return ids;
}

Ids naive_bpe(std::string_view word, const std::array<int32_t, 256>& byte_ids, const std::vector<uint32_t>& merges) {
  std::map<std::pair<int32_t, int32_t>, std::pair<size_t, int32_t>> rank;
  for (size_t i = 0; i < merges.size(); i += 3) {
    rank[{static_cast<int32_t>(merges[i]), static_cast<int32_t>(merges[i + 1])}] = {i, static_cast<int32_t>(merges[i + 2])};
  }
  Ids ids;
  for (const char c : word) ids.push_back(byte_ids[static_cast<unsigned char>(c)]);
  for (;;) {
    size_t best = SIZE_MAX, at = 0;
    int32_t result = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto it = rank.find({ids[i], ids[i + 1]});
      if (it == rank.end() || it->second.first >= best) continue;
      best = it->second.first;
      result = it->second.second;
      at = i;
    }
    if (best == SIZE_MAX) return ids;
    ids[at] = result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

uint64_t Random::next() {  // splitmix64
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

std::vector<std::string> odd_bytes() {
  return {"\xF0\x9F\x98",
          "\x80",
          "\x80\x80\x80",
          "\xC0\xAF",
          "\xED\xA0\x80",
          "\xFF\xFE",
          "a\xFF b",
          std::string("\0\0\0", 3),
          "Hello\xE4\xB8 world",
          "\xF8\x88\x80\x80\x80",
          std::string("\xC3\0\xA9", 3)};
}

std::string fuzz_text(Random& rng) {
  static const std::vector<std::string> words = {"'s",
                                                 "'S",
                                                 "'t",
                                                 "'T",
                                                 "'re",
                                                 "'RE",
                                                 "'Ve",
                                                 "'ll",
                                                 "'LL",
                                                 "'d",
                                                 "'D",
                                                 "'m",
                                                 "it's",
                                                 "DON'T",
                                                 "\r\n",
                                                 "\n",
                                                 "\r",
                                                 "\t",
                                                 " ",
                                                 "  ",
                                                 "   ",
                                                 "\v",
                                                 "\f",
                                                 "\u0085",
                                                 "\u00a0",
                                                 "\u1680",
                                                 "\u180e",
                                                 "\u2003",
                                                 "\u2028",
                                                 "\u202f",
                                                 "\u205f",
                                                 "\u3000",
                                                 "\ufeff",
                                                 "\u200b",
                                                 "\u200d",
                                                 "hello",
                                                 " world",
                                                 "The",
                                                 "1",
                                                 "12",
                                                 "123",
                                                 "1234567",
                                                 "12345",
                                                 "3.14",
                                                 "\u0663\u0664",
                                                 "\u00b2\u00bd",
                                                 "e\u0301",
                                                 "\u00e9",
                                                 "n\u0303a",
                                                 "\U0001f600",
                                                 "\U0001f468\u200d\U0001f469\u200d\U0001f467",
                                                 "\U0001f1e9\U0001f1ea",
                                                 "\u4e16\u754c",
                                                 "\u3053\u3093",
                                                 "\ud55c\uae00",
                                                 "\u05e9\u05dc\u05d5\u05dd",
                                                 "\u0645\u0631\u062d\u0628\u0627",
                                                 "\u0939\u093f\u0928\u094d\u0926\u0940",
                                                 "<|end|>",
                                                 "<|assistant|>",
                                                 "!!!",
                                                 "...",
                                                 "=>",
                                                 "\\n",
                                                 "{}",
                                                 std::string(1, '\0')};
  struct Range {
    char32_t from, to;
  };
  static constexpr Range ranges[] = {
      {0x20, 0x7e},       {0x20, 0x7e},       {0, 0x1f},          {0xa0, 0x172},     {0x300, 0x36f},   {0x391, 0x3c9},
      {0x410, 0x44f},     {0x5d0, 0x5ea},     {0x621, 0x64a},     {0x905, 0x939},    {0xe01, 0xe30},   {0x2000, 0x206f},
      {0x20a0, 0x20b5},   {0x2190, 0x21ff},   {0x2460, 0x249b},   {0x3041, 0x3096},  {0x4e00, 0x9fa5}, {0xac00, 0xd7a3},
      {0x1d400, 0x1d454}, {0x1f300, 0x1f320}, {0x1f600, 0x1f610}, {0x20000, 0x2a6d6}};
  std::string out;
  const size_t pieces = 1 + rng.below(24);
  for (size_t i = 0; i < pieces; ++i) {
    if (rng.below(2) == 0) {
      out += words[rng.below(words.size())];
    } else {
      const Range r = ranges[rng.below(std::size(ranges))];
      const size_t repeat = rng.below(8) == 0 ? 1 + rng.below(40) : 1;
      for (size_t k = 0; k < repeat; ++k) out += utf8(r.from + static_cast<char32_t>(rng.below(r.to - r.from + 1)));
    }
  }
  return out;
}

}  // namespace nyb::test
