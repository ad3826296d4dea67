// llama2.c's tokenizer file, whole and damaged.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "spm_oracle.h"
#include "support/data.h"

namespace nyb {
namespace {
using namespace test;
namespace fs = std::filesystem;

struct Token {
  float score;
  std::string bytes;
};

std::string le(const void* p) { return {static_cast<const char*>(p), 4}; }
std::string le(int32_t v) { return le(static_cast<const void*>(&v)); }
std::string le(float v) { return le(static_cast<const void*>(&v)); }

std::vector<Token> tokens(const std::vector<Token>& more) {
  std::vector<Token> all = {{0, "<unk>"}, {0, "\n<s>\n"}, {0, "\n</s>\n"}};
  for (int b = 0; b < 256; ++b) {
    constexpr char digits[] = "0123456789ABCDEF";
    all.push_back({0, std::string("<0x") + digits[b >> 4] + digits[b & 15] + ">"});
  }
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::string file_of(const std::vector<Token>& all, int32_t longest = 7) {
  std::string b = le(longest);
  for (const Token& t : all) b += le(t.score) + le(static_cast<int32_t>(t.bytes.size())) + t.bytes;
  return b;
}

const std::vector<Token> kPlain = tokens({{-1, " "}, {-2, "a"}, {0, " a"}});

std::string written(const std::string& bytes) {
  fs::path p = tmp_dir() / "tok.bin";
  std::ofstream(p, std::ios::binary) << bytes;
  return p.string();
}

Meta read(const std::string& bytes, uint32_t vocab = 262) {
  Meta m;
  tok_import_llama2c(written(bytes), vocab, m);
  return m;
}

void refused(const std::string& bytes, const std::string& part, uint32_t vocab = 262) {
  const std::string says = error_of([&] { read(bytes, vocab); });
  EXPECT_NE(says.find("tok.bin: "), std::string::npos) << says;
  EXPECT_NE(says.find(part), std::string::npos) << says << " lacks " << part;
  EXPECT_EQ(says.find('\n'), std::string::npos) << says;
}

TEST(Llama2cTokenizer, BecomesTheKeys) {
  const Meta m = read(file_of(kPlain));
  EXPECT_EQ(m.get<std::string>(key::tok_kind), "spm");
  const auto& names = m.get<std::vector<std::string>>(key::tok_tokens);
  EXPECT_EQ(names[1], "<s>");
  EXPECT_EQ(names[3 + 0xfe], "\xfe");
  EXPECT_EQ(names[261], " a");
  EXPECT_EQ(m.get<std::vector<double>>(key::tok_scores)[260], -2.0);
  EXPECT_EQ(m.get<std::vector<uint32_t>>(key::tok_types)[2], 3u);
  EXPECT_EQ(Tokenizer::from_meta(m)->encode("a"), std::vector<int32_t>{261});
  for (const auto& [k, e] : m.entries()) EXPECT_TRUE(e.required) << k;
}

TEST(Llama2cTokenizer, CutAnywhereOrAddedTo) {
  const std::string whole = file_of(kPlain);
  const std::string path = written(whole);
  for (size_t n = whole.size(); n-- > 0;) {
    fs::resize_file(path, n);
    Meta m;
    const std::string says = error_of([&] { tok_import_llama2c(path, 262, m); });
    ASSERT_TRUE(says.starts_with(path + ": ")) << says;
    ASSERT_EQ(says.find('\n'), std::string::npos) << says;
  }
  refused("", "the file is empty");
  refused(whole.substr(0, 2), "ends within the length of the longest token, at byte 0");
  refused(whole.substr(0, 6), "ends within a score, at byte 4 (token 0)");
  refused(whole.substr(0, whole.size() - 1), "ends within token 261, which has 2 bytes");
  refused(whole + "x", "ends within a score");
  refused(file_of(tokens({{-1, " "}, {-2, "a"}, {0, " a"}, {0, "x"}})), "has 263 tokens where the model's vocabulary is 262");
  refused(whole, "has 262 tokens where the model's vocabulary is 32000", 32000);
  refused(whole, "no room", 2);
}

TEST(Llama2cTokenizer, FieldsThatAreWrong) {
  for (const int32_t bad : {-1, INT32_MIN, 8, INT32_MAX}) {
    std::string b = file_of(kPlain);
    b.replace(8, 4, le(bad));
    refused(b, "token 0 has " + std::to_string(bad) + " bytes where the longest has 7");
  }
  std::string b = file_of(kPlain, -1);  // no bound then, but the file's
  b.replace(8, 4, le(INT32_MAX));
  refused(b, "ends within token 0, which has 2147483647 bytes");
  b.replace(8, 4, le(-1));
  refused(b, "token 0 has -1 bytes");
  refused(file_of(tokens({{-1, " "}, {NAN, "a"}, {0, " a"}})), "the score nan");
  refused(file_of(tokens({{-1, " "}, {INFINITY, "a"}, {0, " a"}})), "the score inf");
  refused(file_of(tokens({{-1, " "}, {-2, "a"}, {0, "a"}})), "tokens 260 and 261 of the same text");
  refused(file_of(tokens({{-1, "_"}, {-2, "a"}, {0, "b"}})), "no token of the model is the blank");
  std::vector<Token> less = kPlain;
  less[3 + 'A'].bytes = "<0x4a>";  // not as llama2.c spells it
  refused(file_of(less), "no token for the byte 0x41");
  less[3 + 'A'].bytes = "<0x42>";
  refused(file_of(less), "the same byte");
}

TEST(Llama2cTokenizer, NoFileAtAll) {
  const auto says = [](const fs::path& p) {
    Meta m;
    return error_of([&] { tok_import_llama2c(p.string(), 262, m); });
  };
  EXPECT_NE(says(tmp_dir()).find("this is a folder"), std::string::npos);
  EXPECT_NE(says(tmp_dir() / "absent").find("cannot open it"), std::string::npos);
  const fs::path fifo = tmp_dir() / "tok.fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_NE(says(fifo).find("this is a FIFO"), std::string::npos);
}

}  // namespace
}  // namespace nyb
