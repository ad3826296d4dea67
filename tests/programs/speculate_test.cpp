// speculate_test.cpp - guessing what comes next changes the time of a reply and nothing else.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

using nlohmann::json;

// What a guess may not touch.
json said(json j) {
  json only;
  for (const char* key : {"text", "ids", "stop", "fingerprint", "context_used", "prompt_tokens", "reread_tokens", "logprobs"})
    if (j.contains(key)) only[key] = j[key];
  return only;
}

struct Both {
  std::vector<json> with, without;
  uint32_t guessed = 0, right = 0, passes = 0, tokens = 0;  // of all replies with
};

Both both_ways(const std::string& in, const Args& args) {
  Both b;
  for (const char* how : {"on", "off"}) {
    Args a = args;
    a.insert(a.end(), {"--speculate", how});
    const Spoken s = talk(in, a);
    EXPECT_FALSE(s.replies.empty()) << s.err;
    for (const json& j : s.replies) (how[1] == 'n' ? b.with : b.without).push_back(j);
  }
  for (const json& j : b.with) {
    b.guessed += j["guessed_tokens"].get<uint32_t>();
    b.right += j["guessed_right"].get<uint32_t>();
    b.passes += j["passes"].get<uint32_t>();
    b.tokens += j["reply_tokens"].get<uint32_t>();
  }
  for (const json& j : b.without) EXPECT_EQ(j["guessed_tokens"], 0);
  return b;
}

void expect_same(const Both& b) {
  ASSERT_EQ(b.with.size(), b.without.size());
  for (size_t i = 0; i < b.with.size(); ++i) EXPECT_EQ(said(b.with[i]), said(b.without[i])) << "reply " << i;
}

const char* const kTalk = "What is int4?\nWhat is int8?\nTell me a story\nWhat is int4?\n";

TEST(Speculate, TheSameGreedy) {
  const Both b = both_ways(kTalk, {"--temp", "0", "--logprobs", "1"});
  expect_same(b);
  EXPECT_GT(b.right, 10u) << "of " << b.guessed;
  EXPECT_LT(b.right, b.guessed) << "no guess was wrong: half of it is not shown";
  EXPECT_LT(b.passes, b.tokens - b.with.size());
}

TEST(Speculate, TheSameSampled) {
  for (const char* seed : {"1", "2", "3"}) {
    const Both b = both_ways(kTalk, {"--temp", "0.9", "--seed", seed, "--repeat-penalty", "1.1"});
    expect_same(b);
    EXPECT_GT(b.guessed, 0u);
  }
}

// Wherever a reply ends: by --max within the guesses, by a stop text, where old turns go, in a cache of f16.
TEST(Speculate, TheSameEnds) {
  for (const char* max : {"1", "2", "3", "7", "12"}) expect_same(both_ways(kTalk, {"--temp", "0", "--max", max}));
  expect_same(both_ways(kTalk, {"--temp", "0", "--stop", "bits"}));
  const Both full = both_ways(kTalk, {"--temp", "0", "--ctx", "64", "--kv", "f16"});
  expect_same(full);
  EXPECT_GT(full.right, 0u);
  expect_same(both_ways(kTalk, {"--temp", "0", "--chunk", "3", "--threads", "3"}));
}

// What a reply's end leaves unchecked is neither right nor wrong. The second reply is the first once more: no guess is wrong.
TEST(Speculate, CountsWhatTheReplyDecided) {
  const std::string twice = "What is int4?\nWhat is int4?\n";
  for (const char* max : {"400", "12"}) {
    const std::vector<json> replies = talk(twice, {"--temp", "0", "--speculate", "on", "--max", max}).replies;
    ASSERT_EQ(replies.size(), 2u);
    const json& j = replies[1];
    ASSERT_EQ(j["ids"], replies[0]["ids"]);
    EXPECT_EQ(j["guessed_tokens"], j["guessed_right"]);
    EXPECT_EQ(j["guessed_right"].get<size_t>() + j["passes"].get<size_t>() + 1, j["ids"].size());
    EXPECT_GT(j["guessed_right"], 8);
  }
}

// A pass over the weights is one: a token and its guesses are no more than a chunk.
TEST(Speculate, NoMoreThanAChunk) {
  const Both b = both_ways(kTalk, {"--temp", "0", "--chunk", "3"});
  expect_same(b);
  EXPECT_GT(b.right, 10u);
  for (const json& j : b.with) EXPECT_LE(j["guessed_tokens"], 2 * j["passes"].get<uint32_t>());
  for (const json& j : talk(kTalk, {"--temp", "0", "--chunk", "1"}).replies) {
    EXPECT_EQ(j["guessed_tokens"], 0);
    EXPECT_EQ(j["passes"], j["reply_tokens"].get<uint32_t>() - 1);
  }
  const Ran r = chat({"--speculate", "on", "--chunk", "1", "-p", "hello"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("--chunk 1 takes one token at a time"), std::string::npos) << r.err;
}

TEST(Speculate, ByItselfItIsTheSameToo) {
  const Spoken by_itself = talk(kTalk, {"--temp", "0"}), off = talk(kTalk, {"--temp", "0", "--speculate", "off"});
  ASSERT_EQ(by_itself.replies.size(), off.replies.size());
  for (size_t i = 0; i < off.replies.size(); ++i) EXPECT_EQ(said(by_itself.replies[i]), said(off.replies[i]));
}

}  // namespace
}  // namespace nyb::test
