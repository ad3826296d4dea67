// usage_test.cpp - options, exit codes, and the one sentence that says what is wrong.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <filesystem>
#include <fstream>
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;

void expect_sentence(const Ran& r, int code, const std::string& says) {
  EXPECT_EQ(r.code, code) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(r.err.compare(0, 6, "chat: "), 0) << r.err;
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  EXPECT_NE(r.err.find(says), std::string::npos) << "wanted '" << says << "' in: " << r.err;
}

TEST(Usage, HelpAndVersion) {
  const Ran h = chat({"--help"});
  EXPECT_EQ(h.code, 0);
  for (const char* o : {"--temp", "--top-p",  "--top-k",  "--max",         "--ctx",  "--seed",   "--raw",     "--quiet",
                        "--json", "--ids",    "--logits", "--fingerprint", "--eval", "--verify", "--kernel",  "--threads",
                        "--kv",   "--system", "--save",   "--record",      "--load", "--replay", "--logprobs"})
    EXPECT_NE(h.out.find(o), std::string::npos) << o;

  const Ran v = chat({"--version"});
  EXPECT_EQ(v.code, 0);
  EXPECT_EQ(v.out.compare(0, 5, "chat "), 0);
  EXPECT_EQ(h.err + v.err, "");
}

TEST(Usage, WrongUsageIsTwo) {
  struct Case {
    Args args;
    const char* says;
  };
  for (const Case& c :
       std::vector<Case>{{{"--bogus"}, "--bogus"},
                         {{"--temp", "nan"}, "'nan'"},
                         {{"--temp", "inf"}, "'inf'"},
                         {{"--temp", "-0.1"}, "'-0.1'"},
                         {{"--temp", "0,7"}, "'0,7'"},
                         {{"--temp", "1e99"}, "'1e99'"},
                         {{"--temp="}, "''"},
                         {{"--temp"}, "--temp takes a value, X, and none is given"},
                         {{"--speculate", "on", "speculate=off"}, "--speculate is given 2 times; give it once"},
                         {{"-p", "a", "--prompt", "b", "-p", "c"}, "--prompt is given 3 times; give it once"},
                         {{"temp=x"}, "'x'"},
                         {{"--top-p", "1.5"}, "from 0 to 1"},
                         {{"--top-k", "-1"}, "'-1'"},
                         {{"--top-k", "64k"}, "'64k'"},
                         {{"--max", "5000000000"}, "5000000000"},
                         {{"--ctx", "0"}, "from 1"},
                         {{"--seed", "18446744073709551616"}, "18446744073709551616"},
                         {{"--threads", "0"}, "from 1 to 1024"},
                         {{"--threads", "1025"}, "1025"},
                         {{"--kernel", "fast"}, "ref, avx2, vnni, vnni8, avx512"},
                         {{"--kv", "q2"}, "f16"},
                         {{"--ids", "1,,2"}, "''"},
                         {{"--ids", "1,-2"}, "'-2'"},
                         {{"--ids", "1", "-p", "x"}, "--ids"},
                         {{"--logits", "x.npy"}, "--logits"},
                         {{"--verify", "-p", "x"}, "--verify"},
                         {{"--raw", "--system", "x"}, "--raw"},
                         {{"--eval", "h.jsonl", "--raw"}, "--raw is for replies, and --eval gives none"},
                         {{"--eval", "t.txt", "--system", "x"}, "--system is for replies"},
                         {{"--eval", "t.txt", "--system", ""}, "--system is for replies"},
                         {{"max=3", "eval=t.txt"}, "--max is for replies"},
                         {{"--eval", "t.txt", "--temp", "0"}, "--temp is for replies"},
                         {{"--eval", "t.txt", "--top-p", "1"}, "--top-p is for replies"},
                         {{"--eval", "t.txt", "--top-k", "1"}, "--top-k is for replies"},
                         {{"--verify", "--seed", "1"}, "--seed is for replies, and --verify gives none"},
                         {{"--verify", "--speculate", "on"}, "--speculate does nothing beside --verify; leave it out"},
                         {{"--verify", "--chunk", "3"}, "--chunk does nothing beside --verify"},
                         {{"--verify", "--kv", "q8"}, "--kv does nothing beside --verify"},
                         {{"--verify", "--json"}, "--json does nothing beside --verify"},
                         {{"--eval", "t.txt", "--speculate", "on"}, "--speculate does nothing beside --eval"},
                         {{"-p", "x", "--logits", "x.npy", "--speculate", "auto"}, "beside --logits"},
                         {{"-p", "x", "--raw", "--date", "2026-01-01"}, "--date does nothing beside --raw"},
                         {{"--ids", "1", "--template-var", "a=1"}, "--template-var does nothing beside --ids"},
                         {{"", "-p", "x"}, "the name of the model file is empty"},
                         {{"--chunk", "0"}, "from 1 to 4096"},
                         {{"--speculate", "maybe"}, "--speculate takes auto, on or off, not 'maybe'"},
                         {{"--chunk", "4294967295"}, "--chunk takes"},
                         {{"a.mnm", "b.mnm"}, "b.mnm"}})
    expect_sentence(chat(c.args), 2, c.says);
}

TEST(Usage, WhatCannotBeDoneIsOne) {
  const fs::path fifo = tmp_dir() / "fifo", empty = tmp_dir() / "empty.mnm", cut = tmp_dir() / "cut.mnm",
                 text = tmp_dir() / "text.mnm";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::ofstream(empty) << "";
  std::ofstream(cut, std::ios::binary) << read_file(pocket_model()).substr(0, 100000);
  std::ofstream(text) << std::string(10000, 'x');
  expect_sentence(chat({"/nowhere/m.mnm", "-p", "x"}), 1, "/nowhere/m.mnm");
  for (const fs::path& p : {fifo, empty, cut, text, tmp_dir()}) expect_sentence(chat({p.string(), "-p", "x"}), 1, p.string());
  expect_sentence(chat({"-f", "/nowhere.txt"}), 1, "/nowhere.txt");
  expect_sentence(chat({"-f", "/tmp"}), 1, "folder");
  expect_sentence(chat({"-p", "x", "--ctx", "513", "--quiet"}), 1, "513");
  expect_sentence(chat({"--ids", "2048", "--quiet"}), 1, "2048");
  expect_sentence(chat({"--model-that-is-none.mnm"}), 2, "none.mnm");
}

TEST(Usage, SeedStyleOptions) {
  const Ran a = chat({"kernel=ref", "threads=1", "temp=0", "quiet=true", "max=5", "prompt=hello", "json=true"});
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.out.find("\"kernel\":\"ref\",\"threads\":1,"), std::string::npos) << a.out;
  expect_sentence(chat({"nonsense=1", "-p", "x"}), 1, "nonsense=1");
}

TEST(Usage, NamesWithSpacesAndLetters) {
  const fs::path p = tmp_dir() /
                     "m\xc3\xb6"
                     "del file=1.mnm";
  fs::copy_file(pocket_model(), p, fs::copy_options::overwrite_existing);
  EXPECT_EQ(chat({p.string(), "-p", "hello", "--temp", "0"}).code, 0);
}

}  // namespace
}  // namespace nyb::test
