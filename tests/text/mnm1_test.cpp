// The tokenizer file of version 1 models, whole and damaged.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>

#include "kern/error.h"
#include "support/data.h"
#include "text/template.h"
#include "text/tokenizer.h"
#include "text_support.h"

namespace nyb {
namespace {
using namespace test;

constexpr uint32_t kVocab = 300, kFirstSpecial = 284, kSpecials = 16;

std::string file_of(const std::vector<std::array<uint32_t, 2>>& merges, uint64_t hash = 77, uint32_t vocab = kVocab,
                    uint32_t first = kFirstSpecial, uint32_t specials = kSpecials) {
  std::string b = "MNTOKZR1";
  const auto put = [&b](auto v) { b.append(reinterpret_cast<const char*>(&v), sizeof v); };
  put(vocab);
  put(static_cast<uint32_t>(merges.size()));
  put(first);
  put(specials);
  put(hash);
  for (const auto& m : merges) put(m[0] | m[1] << 16);
  return b;
}

// he, ll, hell, hello, 12
const std::vector<std::array<uint32_t, 2>> kMerges = {{'h', 'e'}, {'l', 'l'}, {256, 257}, {258, 'o'}, {'1', '2'}};

Meta read(const std::string& bytes, uint64_t hash = 77, uint32_t vocab = kVocab) {
  const auto p = tmp_dir() / "tok1.bin";
  std::ofstream(p, std::ios::binary) << bytes;
  Meta m;
  tok_import_mnm1(p.string(), vocab, hash, m);
  return m;
}

TEST(Mnm1Tokenizer, MergesMakeTheTokens) {
  const auto tok = Tokenizer::from_meta(read(file_of(kMerges)));
  EXPECT_EQ(tok->encode("hello"), (Ids{259}));
  EXPECT_EQ(tok->encode("hell 12"), (Ids{258, ' ', 260}));
  EXPECT_EQ(tok->encode("123"), (Ids{260, '3'})) << "one or two digits at a time";
  EXPECT_EQ(tok->encode("3124"), (Ids{'3', '1', '2', '4'})) << "31 and 24: no merge goes over the cut";
  EXPECT_EQ(tok->decode(tok->encode("hello\n\xff")), "hello\n\xff");
  EXPECT_EQ(tok->size(), kVocab);
  EXPECT_EQ(tok->bos(), kFirstSpecial);
  EXPECT_TRUE(tok->add_bos());
  EXPECT_EQ(tok->ends(), (Ids{kFirstSpecial + 4}));
  EXPECT_EQ(tok->name(kFirstSpecial + 15), "<|reserved_10|>");
  for (const int32_t id : tok->encode("<|user|><|end|><|reserved_3|>")) EXPECT_LT(id, static_cast<int32_t>(kFirstSpecial));
}

TEST(Mnm1Tokenizer, TheTemplateIsThatOfTheModels) {
  const Meta m = read(file_of(kMerges), 0);
  const auto tok = Tokenizer::from_meta(m);
  EXPECT_EQ(tok->encode_with_specials("<|bos|><|user|>hello<|end|><|assistant|>"),
            (Ids{kFirstSpecial, kFirstSpecial + 1, 259, kFirstSpecial + 4, kFirstSpecial + 2}));
  EXPECT_NO_THROW(ChatTemplate::parse(m.get<std::string>(key::chat_template), *tok));
}

TEST(Mnm1Tokenizer, DamagedFilesAreRefusedInOneSentence) {
  std::vector<std::array<uint32_t, 2>> doubling = {{'a', 'a'}};
  for (uint32_t i = 0; i < 26; ++i) doubling.push_back({256 + i, 256 + i});
  const std::string whole = file_of(kMerges);
  struct Case {
    std::string bytes, part;
    uint64_t hash = 77;
    uint32_t vocab = kVocab;
  };
  for (const Case& c : std::vector<Case>{{"MNTOKZR2" + whole.substr(8), "this is no MNTOKZR1 tokenizer file"},
                                         {whole.substr(0, 20), "this is no MNTOKZR1 tokenizer file"},
                                         {whole, "its hash is 000000000000004d where the model asks for 0000000000000001", 1},
                                         {whole, "it has 300 tokens where the model's vocabulary is 301", 77, 301},
                                         {whole.substr(0, whole.size() - 1), "51 bytes where 5 merges take 52"},
                                         {whole + "x", "53 bytes where 5 merges take 52"},
                                         {file_of(kMerges, 77, kVocab, 260), "do not fit"},
                                         {file_of(kMerges, 77, kVocab, 290), "do not fit"},
                                         {file_of(kMerges, 77, kVocab, kFirstSpecial, 4), "4 special tokens"},
                                         {file_of({{'a', 256}}), "merge 0 makes token 256 of 97 and 256, which are not before it"},
                                         {file_of({{256, 'a'}}), "merge 0 makes token 256 of 256 and 97, which are not before it"},
                                         {file_of(doubling), "bytes; 67108864 are the most"}}) {
    std::string says;
    try {
      read(c.bytes, c.hash, c.vocab);
    } catch (const Error& e) { says = e.what(); }
    EXPECT_NE(says.find(c.part), std::string::npos) << says << " lacks " << c.part;
    EXPECT_NE(says.find("tok1.bin: "), std::string::npos) << says;
    EXPECT_EQ(says.find('\n'), std::string::npos) << says;
  }
}

}  // namespace
}  // namespace nyb
