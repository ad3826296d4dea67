// record_load_test.cpp - conversations in files: going on with one.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>
#include "recorded.h"

namespace nyb::test {
namespace {

using nlohmann::json;

TEST(Record, AnotherModelFileIsSaid) {
  const std::string other = pocket_with("other.mnm", [](std::string_view k, MetaValue& v) {
    if (k == key::name) v = std::string("other");
    return true;
  });
  const std::string path = recorded("d.json");
  const Ran r = replay(path, {other});
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.err.find("checksum"), std::string::npos) << r.err;
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  const Ran l = ok({other, "--load", path, "-p", "hello", "--save", file("moved.json")});
  EXPECT_NE(l.err.find("not to the same fingerprint: it was saved with another model file"), std::string::npos) << l.err;
  const Ran again = replay(file("moved.json"), {other});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("identical: 1 reply"), std::string::npos) << again.out;
  EXPECT_NE(again.out.find("3 replies from elsewhere, not compared"), std::string::npos) << again.out;
}

// A conversation that is saved and loaded goes on as if it had never stopped.
TEST(Record, GoesOnWhereItWas) {
  const std::string first = "hello\nTell me a story\n", rest = "What is int4?\n";
  const Ran whole = ok({"--temp", "0", "--json", "--quiet"}, {.in = first + rest});
  ok({"--temp", "0", "--quiet", "--save", file("half.json")}, {.in = first});
  const Ran by_option = ok({"--temp", "0", "--json", "--quiet", "--load", file("half.json"), "-p", "What is int4?"});
  const Ran by_command = ok({"--temp", "0", "--json", "--quiet"}, {.in = "/load " + file("half.json") + "\n" + rest});
  const std::string last = whole.out.substr(whole.out.find('\n', whole.out.find('\n') + 1) + 1);
  for (const Ran* r : {&by_option, &by_command}) {
    const json want = json::parse(last), is = json::parse(r->out);
    EXPECT_EQ(is["ids"], want["ids"]);
    EXPECT_EQ(is["fingerprint"], want["fingerprint"]);
  }
  // saved once more under the same name it holds all of it
  ok({"--temp", "0", "--quiet", "--load", file("half.json"), "--save", file("half.json"), "-p", "What is int4?"});
  EXPECT_EQ(record_read(file("half.json")).events.size(), 3u);
  EXPECT_EQ(replay(file("half.json")).code, 0);
}

// The turns that went are gone in the loaded one as well, those that went in the middle of a reply too.
TEST(Record, GoesOnWhereItWasWithoutItsOldestTurns) {
  std::string in;
  for (int i = 0; i < 8; ++i) in += "Tell me a story\n";
  const Args args = {"--ctx", "128", "--json", "--quiet"};
  const auto with = [&](const Args& more) {
    Args all = args;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Ran all = ok(with({"--seed", "5", "--save", file("long.json")}), {.in = in});
  ASSERT_NE(all.out.find("\"reread_tokens\":0"), std::string::npos);
  const Record rec = record_read(file("long.json"));
  ASSERT_GT(std::count_if(rec.events.begin(), rec.events.end(), [](const Event& e) { return !e.rereads.empty(); }), 0)
      << "the test shows nothing";
  // the longest beginning that ends in such a reply, gone on with by both
  size_t n = rec.events.size();
  while (rec.events[n - 1].rereads.empty()) --n;
  Record part = rec;
  part.events.resize(n);
  record_write(file("part.json"), part);
  std::string begun;
  for (size_t i = 0; i < n; ++i) begun += "Tell me a story\n";
  const Ran whole = ok(with({"--seed", "5"}), {.in = begun + "/set temp 0\nhello\n"});
  const Ran loaded = ok(with({"--temp", "0", "--load", file("part.json"), "-p", "hello"}));
  const json want = json::parse(whole.out.substr(whole.out.rfind('\n', whole.out.size() - 2) + 1)), is = json::parse(loaded.out);
  EXPECT_EQ(is["prompt_tokens"], want["prompt_tokens"]);
  EXPECT_EQ(is["fingerprint"], want["fingerprint"]);
}

TEST(Record, AnotherCacheOrContextIsSaidWhenLoaded) {
  const std::string path = recorded("e.json");
  const Ran f16 = ok({"--kv", "f16", "--load", path, "-p", "hello"});
  EXPECT_NE(f16.err.find("a cache of f32; this one is f16"), std::string::npos) << f16.err;
  const Ran small = ok({"--ctx", "300", "--load", path, "-p", "hello"});
  EXPECT_EQ(small.err.find("not to the same fingerprint"), std::string::npos) << "all of it fits: " << small.err;
  const Ran tiny = ok({"--ctx", "64", "--load", path, "-p", "hello"});
  EXPECT_NE(tiny.err.find("not to the same fingerprint"), std::string::npos) << tiny.err;
}

// Whatever context a conversation was saved in and goes on in, what it is saved as then can be computed again.
TEST(Record, GoesOnInAnotherContext) {
  std::string many;
  for (int i = 0; i < 9; ++i) many += "Tell me a story\n";
  ok({"--ctx", "64", "--max", "4", "--seed", "1", "--quiet", "--save", file("asked.json")}, {.in = many});  // turns go while asking
  ok({"--ctx", "20", "--seed", "1", "--quiet", "--save", file("ended.json")}, {.in = "Tell me a story\n"});
  ASSERT_EQ(record_read(file("ended.json")).events.at(0).stop, Stop::context);
  for (const char* name : {"asked.json", "ended.json"})
    for (const Args& other : std::vector<Args>{{"--ctx", "512"}, {"--ctx", "100", "--max", "5"}, {"--ctx", "64", "--kv", "f16"}}) {
      Args args = other;
      args.insert(args.end(), {"--load", file(name), "--save", file("on.json"), "-p", "hello", "--seed", "2"});
      const Ran r = ok(args);
      EXPECT_NE(r.err.find("not to the same fingerprint"), std::string::npos) << name << " " << other[1] << ": " << r.err;
      const Ran again = replay(file("on.json"));
      EXPECT_EQ(again.code, 0) << name << " " << other[1] << ": " << again.err;
      EXPECT_NE(again.out.find("from elsewhere, not compared"), std::string::npos) << again.out;
      // and loaded once more it is as long as it was
      const Ran shown = ok({"--ctx", other[1], "--kv", other.size() > 3 && other[2] == "--kv" ? "f16" : "f32", "--quiet"},
                           {.in = "/load " + file("on.json") + "\n/save " + file("on2.json") + "\n"});
      EXPECT_EQ(shown.err.find("not to the same"), std::string::npos) << shown.err;
      EXPECT_EQ(replay(file("on2.json")).code, 0);
    }
}

TEST(Record, ASpecialTokenThatEndsAReplyIsNotSaid) {
  const std::string in = "/set stop <|end|>\nhello\n/set stop\nWhat is int4?\n";
  const Ran with = ok({"--temp", "0", "--json", "--quiet", "--save", file("special.json")}, {.in = in});
  const Ran without = ok({"--temp", "0", "--json", "--quiet"}, {.in = "hello\nWhat is int4?\n"});
  const auto second = [](const Ran& r) { return json::parse(r.out.substr(r.out.find('\n') + 1)); };
  EXPECT_EQ(second(with)["prompt_tokens"], second(without)["prompt_tokens"]);
  EXPECT_EQ(second(with)["fingerprint"], second(without)["fingerprint"]);
  EXPECT_EQ(replay(file("special.json")).code, 0);
}

TEST(Record, TheModelIsFoundAgain) {
  const std::string other = pocket_with("elsewhere.mnm", [](std::string_view k, MetaValue& v) {
    if (k == key::name) v = std::string("elsewhere");
    return true;
  });
  ok({"-p", "hello", "--save", file("env.json")}, {.env = {"NYBBLE_MODEL=" + other}});
  EXPECT_EQ(replay(file("env.json")).code, 0) << "by the name in the record, without the variable";
  EXPECT_EQ(record_read(file("env.json")).model, other);
  ok({"-p", "hello", "--save", file("built-in.json")});
  EXPECT_EQ(record_read(file("built-in.json")).model, "");
}

TEST(Record, WhatIsLoadedIsSaved) {
  ok({"--quiet", "-p", "hello", "--seed", "1", "--save", file("one.json")});
  ok({"--quiet", "--save", file("two.json")}, {.in = "/load " + file("one.json") + "\n"});
  EXPECT_EQ(record_read(file("two.json")).events.size(), 1u);
  ok({"--quiet", "--save", file("two.json"), "--system", "Be brief."}, {.in = ""});
  EXPECT_EQ(record_read(file("two.json")).events.size(), 1u) << "nothing was said: the file is as it was";
}

TEST(Record, TheSystemMessageIsSavedToo) {
  ok({"--quiet", "--save", file("system.json")}, {.in = "/system Be brief.\n"});
  EXPECT_EQ(record_read(file("system.json")).events.at(0).text, "Be brief.");
}

}  // namespace
}  // namespace nyb::test
