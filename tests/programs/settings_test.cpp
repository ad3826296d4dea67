// settings_test.cpp - what shapes a reply: on the command line, by /set, and in the JSON.
#include "chat/settings.h"
#include <gtest/gtest.h>
#include <cmath>
#include <nlohmann/json.hpp>
#include "programs.h"
#include "text/utf8.h"

namespace nyb::test {
namespace {

using nlohmann::json;

json reply(Args args) {
  args.insert(args.end(), {"--json", "--quiet"});
  const Ran r = chat(args);
  EXPECT_EQ(r.code, 0) << r.err;
  return json::parse(r.out, nullptr, false);
}

const std::string kStory = "Tell me a story";

TEST(Settings, EachIsAnOptionAndANameOfSet) {
  const std::string help = chat({"--help"}).out;
  std::string in, args;
  Args given;
  for (const Setting& s : setting_list()) {
    EXPECT_NE(help.find("--" + s.name), std::string::npos) << s.name;
    const std::string value = s.name == "stop"             ? "xyzzy"
                              : s.name == "seed"           ? "77"
                              : s.name == "max"            ? "9"
                              : s.name == "top-k"          ? "5"
                              : s.name == "repeat-last-n"  ? "12"
                              : s.name == "repeat-penalty" ? "1.25"
                                                           : "0.5";
    given.insert(given.end(), {"--" + s.name, value});
    in += "/set " + s.name + " " + value + "\n";
  }
  in += kStory + "\n";
  given.insert(given.end(), {"-p", kStory});
  const json by_option = reply(given), by_set = talk(in, {"--seed", "1"}).replies.at(0);
  for (const char* key :
       {"ids", "text", "fingerprint", "seed", "temp", "top_p", "top_k", "min_p", "repeat_penalty", "repeat_last_n", "stop"})
    EXPECT_EQ(by_option[key], by_set[key]) << key;
  EXPECT_EQ(by_option["seed"], 77);
  EXPECT_EQ(by_option["reply_tokens"], 9);
  EXPECT_EQ(by_option["min_p"], 0.5);
  EXPECT_EQ(by_option["repeat_penalty"], 1.25);
}

TEST(Settings, SetRefusesWhatTheOptionsRefuse) {
  for (const char* wrong : {"/set temp nan", "/set top-p 1.1", "/set min-p -1", "/set repeat-penalty 0", "/set max many",
                            "/set temp", "/set colour red", "/set seed 1 2"}) {
    const Ran r = chat({"--quiet"}, {.in = std::string(wrong) + "\n"});
    EXPECT_EQ(r.code, 1) << wrong;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
  EXPECT_NE(chat({"--quiet"}, {.in = "/set colour red\n"}).err.find("repeat-last-n"), std::string::npos) << "the names are told";
  for (const Args& a : std::vector<Args>{{"--min-p", "2"}, {"--repeat-penalty", "0"}, {"--repeat-last-n", "-1"}, {"--stop", ""}})
    EXPECT_EQ(chat(a).code, 2) << a[0];
}

TEST(Settings, MinPOfOneIsGreedy) {
  const json a = reply({"-p", kStory, "--temp", "1.5", "--min-p", "1", "--top-k", "0", "--top-p", "1"}),
             b = reply({"-p", kStory, "--temp", "0"});
  EXPECT_EQ(a["ids"], b["ids"]);
  EXPECT_NE(reply({"-p", kStory, "--temp", "1.5", "--seed", "4", "--top-k", "0", "--top-p", "1"})["ids"], b["ids"])
      << "the test shows nothing";
}

TEST(Settings, ThePenaltyChangesWhatIsSaidAndNotTheLogits) {
  const Args base = {"-p", kStory, "--temp", "0", "--max", "60"};
  Args strong = base, none = base;
  strong.insert(strong.end(), {"--repeat-penalty", "1.8"});
  none.insert(none.end(), {"--repeat-penalty", "1.8", "--repeat-last-n", "0"});
  const json a = reply(base), b = reply(strong), c = reply(none);
  EXPECT_NE(a["ids"], b["ids"]);
  EXPECT_EQ(a["fingerprint"], c["fingerprint"]);
  EXPECT_EQ(a["ids"], c["ids"]);
  // up to the first token that differs the logits were the same ones
  EXPECT_EQ(reply({"-p", kStory, "--temp", "0", "--max", "1"})["fingerprint"],
            reply({"-p", kStory, "--temp", "0", "--max", "1", "--repeat-penalty", "1.8"})["fingerprint"]);
}

TEST(Settings, AStopTextEndsTheReplyAndIsNotShown) {
  const json all = reply({"-p", kStory, "--temp", "0"});
  const std::string text = all["text"];
  ASSERT_GT(text.size(), 40u);
  for (const size_t at : {size_t{3}, size_t{10}, size_t{31}})
    for (const size_t n : {size_t{1}, size_t{2}, size_t{9}}) {
      const std::string stop = text.substr(at, n);
      const size_t first = text.find(stop);
      const json j = reply({"-p", kStory, "--temp", "0", "--stop", stop, "--stop", "never said"});
      EXPECT_EQ(j["text"], text.substr(0, first)) << stop;
      EXPECT_EQ(j["stop"], "stop");
      EXPECT_EQ(j["stop_text"], stop);
      const size_t ids = j["ids"].size();
      EXPECT_EQ(j["ids"], json(std::vector<json>(all["ids"].begin(), all["ids"].begin() + static_cast<std::ptrdiff_t>(ids))));
      const Ran plain = chat({"-p", kStory, "--temp", "0", "--stop", stop, "--quiet"});
      EXPECT_EQ(plain.out, text.substr(0, first) + "\n");
    }
  EXPECT_EQ(reply({"-p", kStory, "--temp", "0", "--stop", text.substr(text.size() - 4) + "never"})["text"], text)
      << "what was held back comes out";
}

TEST(Settings, ASpecialTokenIsAStopById) {
  const json all = reply({"-p", kStory, "--temp", "0"});
  ASSERT_EQ(all["stop"], "end");
  const json j = reply({"-p", kStory, "--temp", "0", "--stop", "<|user|>"});
  EXPECT_EQ(j["text"], all["text"]) << "it never comes";
  EXPECT_EQ(j["ids"], all["ids"]);
}

TEST(Settings, StopTextsHaveNewLines) {
  const std::string text = reply({"-p", kStory, "--temp", "0"})["text"];
  EXPECT_EQ(reply({"-p", kStory, "--temp", "0", "--stop", "\\n"})["text"], text.substr(0, text.find('\n')));
  const Ran r = chat({"--quiet"}, {.in = "/set stop a\\n\\\\\n/set stop\n"});
  EXPECT_NE(r.err.find("(stop: \"a\\n\\\\\")"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("(stop: none)"), std::string::npos) << r.err;
}

TEST(Settings, LogProbsAreOfTheLogits) {
  const json j = reply({"-p", "What is int4?", "--temp", "0", "--max", "5", "--logprobs", "3"});
  ASSERT_EQ(j["logprobs"].size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    const json& p = j["logprobs"][i];
    EXPECT_EQ(p["id"], j["ids"][i]);
    ASSERT_EQ(p["top"].size(), 3u);
    EXPECT_EQ(p["top"][0]["id"], p["id"]) << "greedy takes the likeliest";
    EXPECT_EQ(p["top"][0]["logprob"], p["logprob"]);
    double sum = 0, before = 0;
    for (const json& t : p["top"]) {
      EXPECT_LE(t["logprob"].get<double>(), before);
      before = t["logprob"];
      sum += std::exp(before);
      std::string bytes;
      for (const json& b : t["bytes"]) bytes += static_cast<char>(b.get<int>());
      if (utf8_valid(bytes)) { EXPECT_EQ(t["text"], bytes); }
    }
    EXPECT_LE(sum, 1 + 1e-12);
  }
  EXPECT_EQ(reply({"-p", "hi", "--max", "2", "--logprobs", "0"}).count("logprobs"), 0u);
  const Ran r = chat({"-p", "hi", "--logprobs", "2"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("--json"), std::string::npos);
}

}  // namespace
}  // namespace nyb::test
