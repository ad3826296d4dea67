// closed_test.cpp - a reader of stdout who leaves early takes nothing else away: not the exit code, no file, no line on stderr.
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include "model/model.h"
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;

std::string damaged_model() {
  const fs::path bad = tmp_dir() / "closed.mnm";
  std::string all = read_file(pocket_model());
  const auto m = eng_load(pocket_model());
  const size_t at = m->layers[1].up->offset + 7;
  all[at] = static_cast<char>(all[at] ^ 1);
  std::ofstream(bad, std::ios::binary) << all;
  return bad.string();
}

TEST(Closed, VerifyKeepsItsResult) {
  const std::string bad = damaged_model();
  for (const long long bytes : {0LL, 1LL}) {
    const Ran r = chat({bad, "--verify", "--quiet"}, {.close_out_after = bytes});
    EXPECT_EQ(r.code, 1) << r.out;
    EXPECT_EQ(r.err, "");
    EXPECT_EQ(chat({"--verify", "--quiet"}, {.close_out_after = bytes}).code, 0);
  }
}

TEST(Closed, ReplayKeepsItsResultAndARecordIsWhole) {
  const std::string path = (tmp_dir() / "closed.json").string();
  EXPECT_EQ(chat({"-p", "hello", "--record", path, "--quiet"}, {.close_out_after = 0}).code, 0);
  EXPECT_EQ(chat({"--replay", path, "--quiet"}).out.compare(0, 10, "identical:"), 0);
  EXPECT_EQ(chat({"--replay", path, "--quiet"}, {.close_out_after = 0}).code, 0);
  std::ofstream(path, std::ios::app) << "\n";  // its hash is not that of its bytes any more
  for (const char* format : {"--json", "--quiet"})
    EXPECT_EQ(chat({"--replay", path, "--quiet", format}, {.close_out_after = 0}).code, 1) << format;
}

TEST(Closed, LogitsAndFingerprintAreWhole) {
  const fs::path part = tmp_dir() / "part.npy", whole = tmp_dir() / "whole.npy";
  const Args base{"-p", "Tell me a story", "--seed", "1", "--quiet", "--fingerprint", "--logits"};
  Args a = base, b = base;
  a.push_back(part.string());
  b.push_back(whole.string());
  const Ran closed = chat(a, {.close_out_after = 0}), read = chat(b);
  EXPECT_EQ(closed.code, 0) << closed.err;
  EXPECT_EQ(read_file(part), read_file(whole));
  EXPECT_GT(fs::file_size(whole), 8192u * 50);
  EXPECT_EQ(closed.err, read.err);
}

// A reply alone is over once nobody reads it.
TEST(Closed, AReplyAloneEndsQuietly) {
  const fs::path text = tmp_dir() / "closed.txt";
  const Ran r =
      chat({"-p", "Tell me a story", "--max", "1000000", "--temp", "1000", "--raw", "--ctx", "512"}, {.close_out_after = 0});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err.find("tok/s"), std::string::npos) << "the reply went on to its end: " << r.err;
}

}  // namespace
}  // namespace nyb::test
