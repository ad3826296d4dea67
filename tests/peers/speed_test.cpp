// llama_speed beside perf: what it writes is read, and what is wrong is one sentence. How fast it is is no matter for a test.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "common/child.h"
#include "model/random_model.h"
#include "peer_figures.h"
#include "support/build.h"
#include "support/data.h"

namespace nyb::test {
namespace {

constexpr NamedShape kTiny{"tiny", "qwen2", 2, 64, 4, 2, 16, 96, 301, 64, true, 10000};

ChildResult ran(const std::string& program, std::vector<std::string> words) {
  words.insert(words.begin(), (binary_dir() / "bin" / program).string());
  return run_child(words, {}, std::chrono::seconds(60 * kPatience));
}

TEST(LlamaSpeed, PerfReadsWhatItWrites) {
  const std::string mnm = (tmp_dir() / "tiny.mnm").string(), gguf = (tmp_dir() / "tiny.gguf").string();
  random_model(mnm, kTiny, TType::q4, TType::q8);
  const ChildResult made = ran("gguf", {mnm, gguf, "--quiet"});
  ASSERT_TRUE(made.good()) << made.err;
  const ChildResult r = ran("llama_speed", {"-m", gguf, "-t", "1,2", "-p", "20,0", "-n", "3", "-r", "2"});
  ASSERT_TRUE(r.good()) << r.err;
  EXPECT_EQ(r.err, "");
  std::string names;
  for (const PeerFigure& f : json_figures(r.out, "llama_speed")) {  // throws for what is no speed
    names += f.name() + "; ";
    EXPECT_EQ(f.samples.size(), 2u);
  }
  EXPECT_EQ(names, "pp20 with 1 thread; tg3 with 1 thread; pp20 with 2 threads; tg3 with 2 threads; ");
}

TEST(LlamaSpeed, WhatIsWrongIsOneSentence) {
  const std::string text = (source_dir() / "README.md").string();
  struct Case {
    std::vector<std::string> words;
    int code;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{{{"-m", "/no/model.gguf"}, 1, "/no/model.gguf"},
                                         {{"-m", text}, 1, text},
                                         {{"-m", text, "-n", "0", "-p", "0"}, 2, "nothing to measure"},
                                         {{"-m", text, "-t", "0"}, 2, "-t"}}) {
    const ChildResult r = ran("llama_speed", c.words);
    EXPECT_EQ(r.code, c.code) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_NE(r.err.find(c.says), std::string::npos) << r.err;
    EXPECT_EQ(r.err.find("llama_model"), std::string::npos) << "llama.cpp's own words: " << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
}

}  // namespace
}  // namespace nyb::test
