// session_test.cpp - what a conversation holds after an error, and what is counted when its oldest turns go.
#include "chat/session.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include "programs.h"
#include "support/data.h"
#include "support/text.h"

namespace nyb::test {
namespace {

using nlohmann::json;

// A conversation in this process, whose options may change between two messages.
struct Talk {
  ChatOptions o;
  Runtime r;
  Session session;
  static ChatOptions options() {
    ChatOptions o;
    o.model = pocket_model();
    o.ctx = 96;
    o.set.max = 6;
    o.set.seed = 1;
    o.set.samp.temp = 0;
    o.json = o.quiet = true;
    return o;
  }
  Talk() : o(options()), r(runtime_open(o, cpu_here())), session(r, o) {}
  json ask(const std::string& text) {
    testing::internal::CaptureStdout();
    const bool whole = session.ask(text);
    const std::string out = testing::internal::GetCapturedStdout();
    EXPECT_TRUE(whole);
    return json::parse(out, nullptr, false);
  }
};

TEST(Session, AfterAnErrorTheDroppedTurnsAreBack) {
  std::string long_text;
  for (int i = 0; i < 36; ++i) long_text += "a wolf ";
  Talk with, without;
  int used = 0;
  for (Talk* t : {&with, &without})
    for (const char* text : {"hello", "what is 7 + 8", "What is int4?"}) used = t->ask(text)["context_used"].get<int>();
  Talk alone;
  ASSERT_GT(used + alone.ask(long_text)["prompt_tokens"].get<int>(), 96) << "no turn has to go: the test shows nothing";
  with.o.logits = "/nowhere/at/all.npy";
  EXPECT_THROW(with.session.ask(long_text), Error);
  with.o.logits.clear();
  const json a = with.ask("hello"), b = without.ask("hello");
  EXPECT_EQ(a["prompt_tokens"], b["prompt_tokens"]);
  EXPECT_EQ(a["ids"], b["ids"]);
  EXPECT_EQ(a["fingerprint"], b["fingerprint"]);
}

TEST(Session, ReadingAgainIsCountedApart) {
  std::string in;
  for (int i = 0; i < 8; ++i) in += "Tell me a story\n";
  uint32_t before = 0;  // positions that the cache held
  int again = 0, kept = 0;
  for (const json& j : talk(in, {"--seed", "5", "--ctx", "128"}).replies) {
    const auto prompt = j["prompt_tokens"].get<uint32_t>(), cached = j["cached_tokens"].get<uint32_t>();
    const auto reread = j["reread_tokens"].get<uint32_t>();
    EXPECT_LT(cached, prompt);
    EXPECT_LE(cached, before);
    if (prompt > before) {  // nothing had to go for it: all that was cached serves
      EXPECT_EQ(cached, before) << j;
      kept += reread != 0 && before != 0;
    }
    again += reread != 0;
    EXPECT_EQ(reread != 0, j["reread_seconds"].get<double>() > 0) << j;
    EXPECT_GE(j["reply_seconds"].get<double>(), 0);
    before = j["context_used"].get<uint32_t>();
  }
  EXPECT_GT(again, 0) << "no turn was read again: the test shows nothing";
  EXPECT_GT(kept, 0) << "none of them had kept the cache: the test shows nothing";
}

TEST(Session, LettersOfAnotherUnicodeAreSaidOnce) {
  const std::string path = pocket_with("old-letters.mnm", [](std::string_view k, MetaValue& v) {
    if (k == key::tok_unicode) v = std::string("3.2");
    return true;
  });
  const auto said = [](const Ran& r) { return count_of(r.err, "Unicode 3.2"); };
  EXPECT_EQ(said(chat({path, "--max", "1"}, {.in = "hello\nhello\n"})), 1u);
  EXPECT_EQ(said(chat({path, "--max", "1", "--quiet"}, {.in = "hello\n"})), 0u);
  EXPECT_EQ(chat({"--max", "1"}, {.in = "hello\n"}).err.find("Unicode"), std::string::npos) << "the same letters are no news";
}

}  // namespace
}  // namespace nyb::test
