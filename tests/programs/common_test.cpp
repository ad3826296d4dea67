// common_test.cpp - what every program shares: words of the command line, numbers as people read them.
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>
#include "common/app.h"

namespace nyb {
namespace {

struct Line {
  CLI::App app{"test", "prog"};
  std::string kernel, prompt;
  bool quiet = false;
  Line() {
    app.add_option("--kernel", kernel);
    app.add_option("-p,--prompt", prompt);
    app.add_flag("--quiet", quiet);
  }
};

using Words = std::vector<std::string>;

TEST(Words, SeedStyleOptionsBecomeOptions) {
  Line l;
  EXPECT_EQ(app_words(l.app, {"kernel=avx2", "model.mnm"}), (Words{"--kernel", "avx2", "model.mnm"}));
  EXPECT_EQ(app_words(l.app, {"kernel=a=b"}), (Words{"--kernel", "a=b"}));
  EXPECT_EQ(app_words(l.app, {"kernel="}), (Words{"--kernel", ""}));
  EXPECT_EQ(app_words(l.app, {"quiet=true"}), (Words{"--quiet=true"}));
  EXPECT_EQ(app_words(l.app, {"prompt=x"}), (Words{"--prompt", "x"}));
}

TEST(Words, OthersStayAsTheyAre) {
  Line l;
  for (const char* w : {"unknown=3", "a/kernel=1", "./kernel=x", "Kernel=x", "=x", "k=3", "-x=3", "--unknown=2", "p=1"})
    EXPECT_EQ(app_words(l.app, {w}), (Words{w})) << w;
  EXPECT_EQ(app_words(l.app, {"--", "kernel=avx2"}), (Words{"--", "kernel=avx2"}));
}

TEST(Words, AnOptionsValueIsNoOption) {
  Line l;
  EXPECT_EQ(app_words(l.app, {"-p", "kernel=avx2"}), (Words{"-p", "kernel=avx2"}));
  EXPECT_EQ(app_words(l.app, {"--prompt", "kernel=avx2"}), (Words{"--prompt", "kernel=avx2"}));
  EXPECT_EQ(app_words(l.app, {"-p", "--", "kernel=avx2"}), (Words{"-p", "--", "--kernel", "avx2"}));
  EXPECT_EQ(app_words(l.app, {"--quiet", "kernel=avx2"}), (Words{"--quiet", "--kernel", "avx2"}));
  EXPECT_EQ(app_words(l.app, {"--prompt=", "kernel=avx2"}), (Words{"--prompt", "", "--kernel", "avx2"}));
}

TEST(Format, Bytes) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 kB");
  EXPECT_EQ(human_bytes(4951296), "5.0 MB");
  EXPECT_EQ(human_bytes(126508032), "126.5 MB");
  EXPECT_EQ(human_bytes(999949), "999.9 kB");
  EXPECT_EQ(human_bytes(999951), "1.0 MB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "18.4 EB");
}

TEST(Format, Counts) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(4951296), "4.95M");
  EXPECT_EQ(human_count(126495744), "126M");
  EXPECT_EQ(human_count(9994999), "9.99M");
  EXPECT_EQ(human_count(9995001), "10.0M");
  EXPECT_EQ(human_count(99951000), "100M");
  EXPECT_EQ(human_count(999499999), "999M");
  EXPECT_EQ(human_count(999500001), "1.00B");
}

TEST(Format, OneLine) { EXPECT_EQ(human_words("a\nb\tc\x01\x1b[0m\x7f\xc3\xa9"), "a\\nb\\tc\\x01\\x1b[0m\\x7f\xc3\xa9"); }

}  // namespace
}  // namespace nyb
