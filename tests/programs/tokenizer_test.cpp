// tokenizer_test.cpp - a model file that loads, and whose tokenizer is at fault or of another Unicode: the file is named.
#include <gtest/gtest.h>
#include "programs.h"
#include "text/splitter.h"

namespace nyb::test {
namespace {

std::string with_tok(const std::string& name, std::string_view key, const std::string& value) {
  return pocket_with(name, [&](std::string_view k, MetaValue& v) {
    if (k == key) v = value;
    return true;
  });
}

void expect_fault(const std::string& path, const std::string& shown_name, const std::string& fault) {
  for (const Args& more : {Args{"-p", "hello"}, Args{"--verify"}, Args{"--ids", "1"}}) {
    Args a{path, "--quiet"};
    a.insert(a.end(), more.begin(), more.end());
    const Ran r = chat(a);
    EXPECT_EQ(r.code, 1) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_TRUE(r.err.starts_with("chat: '" + shown_name + "': ")) << r.err;
    EXPECT_NE(r.err.find(fault), std::string::npos) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
}

TEST(Tokenizer, AFaultNamesTheFile) {
  const std::string kind = with_tok("kind.mnm", key::tok_kind, "unigram");
  expect_fault(kind, kind, "\"unigram\"");
  const std::string pattern = with_tok("pattern.mnm", key::tok_pattern, "(a");
  expect_fault(pattern, pattern, "no pattern");
}

TEST(Tokenizer, AFaultNamesTheFileHarmlessly) {
  const std::string path = with_tok("odd\x1b[31m\nname.mnm", key::tok_kind, "uni\x1b[31mgram");
  std::string shown = path;
  shown.replace(shown.find('\x1b'), 6, "\\x1b[31m\\n");
  expect_fault(path, shown, "is \"uni\\x1b[31mgram\"");
}

TEST(Tokenizer, AnotherUnicodeIsSaidOnce) {
  const std::string path = with_tok("unicode.mnm", key::tok_unicode, "6.3.0");
  const Args a{path, "--temp", "0", "--max", "3"};
  const Ran told = chat(a, {.in = "hello\nhello\n"});
  EXPECT_EQ(told.code, 0) << told.err;
  const size_t at = told.err.find("letters of Unicode 6.3.0");
  ASSERT_NE(at, std::string::npos) << told.err;
  EXPECT_EQ(told.err.find("letters of Unicode", at + 1), std::string::npos) << told.err;
  EXPECT_NE(told.err.find(splitter_unicode()), std::string::npos) << told.err;
  const Ran quiet = chat({path, "--quiet", "-p", "hello", "--temp", "0", "--max", "3"});
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(chat({"-p", "hello", "--max", "1"}).err.find("Unicode"), std::string::npos) << "the built-in model is of this build";
}

}  // namespace
}  // namespace nyb::test
