// record_test.cpp - conversations in files: computing one again to the last bit, and what happens to the files.
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include "kern/cpu.h"
#include "kern/error.h"
#include "kern/kern.h"
#include "recorded.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(Record, ReplaysAsIdenticalOnEveryPathAndThreadCount) {
  const std::string path = recorded("a.json", {"--kernel", "ref", "--threads", "3"});
  for (const Path p : kAllPaths) {
    if (!cpu_missing(cpu_here(), p).empty()) continue;
    for (const char* threads : {"1", "2"}) {
      const Ran r = replay(path, {"--kernel", std::string(path_name(p)), "--threads", threads, "--chunk", threads});
      EXPECT_EQ(r.code, 0) << r.err;
      EXPECT_EQ(r.out.compare(0, 21, "identical: 3 replies,"), 0) << r.out;
      EXPECT_NE(r.out.find("recorded on ref with 3 threads, run on " + std::string(path_name(p))), std::string::npos) << r.out;
    }
  }
}

TEST(Record, ReplaysWithBothCacheTypesAndRawTextAndIds) {
  ok({"--record", file("f16.json"), "--kv", "f16", "-p", "Tell me a story", "--seed", "2"});
  ok({"--record", file("raw.json"), "--raw", "-p", "Once upon", "--seed", "2", "--max", "30"});
  ok({"--record", file("ids.json"), "--ids", "5,6,7", "--seed", "2", "--max", "30"});
  for (const char* name : {"f16.json", "raw.json", "ids.json"}) EXPECT_EQ(replay(file(name)).code, 0) << name;
  EXPECT_EQ(record_read(file("f16.json")).kv, KvType::f16);
  EXPECT_TRUE(record_read(file("raw.json")).raw);
  EXPECT_EQ(record_read(file("ids.json")).events.at(0).prompt, (std::vector<int32_t>{5, 6, 7}));
  const json j = json::parse(replay(file("ids.json"), {"--json"}).out);
  EXPECT_EQ(j["identical"], true);
  EXPECT_EQ(j["replies"], 1);
}

// The oldest turns go while asking and in the middle of a reply; turns are taken back after that.
TEST(Record, ReplaysAConversationThatOutgrewItsContext) {
  std::string in;
  for (int i = 0; i < 8; ++i) in += "Tell me a story\n";
  ok({"--record", file("full.json"), "--seed", "5", "--ctx", "128", "--quiet"},
     {.in = in + "/undo\nTell me a story\n/regen\nhello\n"});
  const Record r = record_read(file("full.json"));
  size_t rereads = 0, undone = 0;
  for (const Event& e : r.events) {
    rereads += e.rereads.size();
    undone += e.kind == Event::Kind::undo;
  }
  EXPECT_GT(rereads, 0u) << "no turn went in the middle of a reply: the test shows nothing";
  EXPECT_EQ(undone, 2u);
  const Ran again = replay(file("full.json"));
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST(Record, ReplaysAReplyThatWasInterrupted) {
  const Ran cut = chat({"--record", file("cut.json"), "--seed", "5", "-p", "Tell me a story", "--kernel", "ref", "--quiet"},
                       {.interrupt_on = " ", .interrupt_after = std::chrono::milliseconds(0)});
  EXPECT_EQ(cut.code, 130);
  const Record rec = record_read(file("cut.json"));
  ASSERT_EQ(rec.events.size(), 1u);
  EXPECT_EQ(rec.events[0].stop, Stop::interrupted) << "it came too late: the test shows nothing";
  const Ran again = replay(file("cut.json"));
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST(Record, AnyChangedByteIsFound) {
  ok({"--record", file("bytes.json"), "-p", "What is int4?", "--temp", "0", "--max", "4", "--seed", "1"});
  const std::string text = read_file(file("bytes.json"));
  ASSERT_EQ(replay(file("bytes.json")).code, 0);
  size_t read = 0, refused = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = static_cast<char>(other[i] ^ 1);
    std::ofstream(file("changed.json"), std::ios::binary) << other;
    try {
      EXPECT_TRUE(record_read(file("changed.json")).changed) << "byte " << i;
      ++read;
    } catch (const Error&) { ++refused; }
  }
  EXPECT_GT(read, 100u);
  EXPECT_GT(refused, 100u);
  std::string longer = text + "\n", other = text;
  std::ofstream(file("changed.json"), std::ios::binary) << longer;
  const Ran r = replay(file("changed.json"));
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find("was changed"), std::string::npos) << r.err;
}

TEST(Record, NamesTheFirstPositionThatDiffers) {
  const std::string path = recorded("b.json");
  const Record rec = record_read(path);
  const auto changed = [&](const std::function<void(Record&)>& edit) {
    Record other = rec;
    edit(other);
    record_write(file("c.json"), other);
    const Ran r = replay(file("c.json"));
    EXPECT_EQ(r.code, 1);
    EXPECT_EQ(r.out, "");
    return r.err;
  };
  const auto has = [](const std::string& text, const std::string& what) {
    EXPECT_NE(text.find(what), std::string::npos) << "wanted '" << what << "' in: " << text;
  };
  has(changed([](Record& r) { r.events[1].ids[4] ^= 1; }), "(token 5 of reply 2) is token");
  has(changed([](Record& r) { r.events[1].rows[6] ^= 1; }), "(token 7 of reply 2) have the hash");
  has(changed([](Record& r) { r.events[0].text = "hallo"; }), "(token 1 of reply 1) have the hash");
  has(changed([](Record& r) { r.events[1].rng[0] ^= 1ull << 60; }), "of reply 2) ");
  has(changed([](Record& r) { r.events[1].settings.samp.temp = 0; }), "of reply 2) is token");
  has(changed([](Record& r) {
        r.events[0].ids.pop_back();
        r.events[0].rows.pop_back();
      }),
      "in the record");
  has(changed([](Record& r) { r.events[0].reply += "!"; }), "the text of reply 1");
  has(changed([](Record& r) { r.events[0].fingerprint[3] = r.events[0].fingerprint[3] == '0' ? '1' : '0'; }), "the fingerprint");
  has(changed([](Record& r) { r.events[0].stop = Stop::max; }), "ends by end here, by max");
  has(changed([](Record& r) { r.events[0].ids[0] = INT32_MAX; }), "is token");
}

TEST(Record, IsNotReplacedByTheLogits) {
  ok({"--quiet", "--seed", "1", "--max", "5", "-p", "hi", "--save", file("kept.json")});
  fs::create_symlink(file("kept.json"), file("link.json"));
  for (const char* out : {"kept.json", "link.json"}) {
    const Ran r = chat({"--quiet", "--load", file("kept.json"), "-p", "hi", "--logits", file(out)});
    EXPECT_EQ(r.code, 1);
    EXPECT_NE(r.err.find("would replace"), std::string::npos) << r.err;
  }
  EXPECT_EQ(replay(file("kept.json")).code, 0);
}

TEST(Record, IsPrivateAndStaysAsItWas) {
  const auto mode = [](const std::string& path) { return static_cast<unsigned>(fs::status(path).permissions()); };
  ok({"--quiet", "-p", "hi", "--save", file("private.json")});
  EXPECT_EQ(mode(file("private.json")), 0600u);
  fs::permissions(file("private.json"), fs::perms(0640));
  ok({"--quiet", "-p", "hi", "--load", file("private.json"), "--save", file("private.json")});
  EXPECT_EQ(mode(file("private.json")), 0640u);
}

// Where the file cannot be written any more the conversation is as it was, and says so.
TEST(Record, AFolderThatGoesAwayLosesNothing) {
  const std::string folder = file("goes"), away = file("went");
  fs::create_directory(folder);
  const Args args{program("chat"), "--quiet", "--max", "6", "--seed", "1", "--save", folder + "/y.json"};
  Pty t(args, {"TERM=xterm"});
  ASSERT_TRUE(t.wait("> "));
  t.type("hi\n");
  ASSERT_TRUE(t.wait("\033[?2004l"));
  ASSERT_TRUE(t.wait("> ")) << t.seen;
  fs::rename(folder, away);
  for (const char* command : {"/regen\n", "/undo\n"}) {
    t.type(command);
    ASSERT_TRUE(t.wait("y.json")) << t.seen;  // the error
    ASSERT_TRUE(t.wait("> ")) << t.seen;
    t.type("/show\n");
    ASSERT_TRUE(t.wait(", 1 turn")) << t.seen;
    ASSERT_TRUE(t.wait("> ")) << t.seen;
  }
  t.type("\x04");
  EXPECT_EQ(t.finish(), 0);
}

TEST(Record, KeepsBytesThatAreNotText) {
  ok({"--save", file("odd.json"), "--temp", "0", "--quiet"}, {.in = "a\xff\xc3 b\n"});
  EXPECT_EQ(record_read(file("odd.json")).events.at(0).text, "a\xff\xc3 b");
  EXPECT_EQ(replay(file("odd.json")).code, 0);
}

TEST(Record, OtherFilesAreNotReplaced) {
  const Ran nul = chat({"--quiet"}, {.in = std::string("hi\n/save n\0m\n", 13)});
  EXPECT_EQ(nul.code, 1);
  EXPECT_NE(nul.err.find("NUL"), std::string::npos) << nul.err;
  std::ofstream(file("notes.txt")) << "my notes\n";
  for (const Ran& r :
       {chat({"--save", file("notes.txt"), "-p", "hi"}), chat({"--quiet"}, {.in = "/save " + file("notes.txt") + "\n"})}) {
    EXPECT_EQ(r.code, 1);
    EXPECT_NE(r.err.find("is not a saved conversation, so it is not replaced"), std::string::npos) << r.err;
  }
  EXPECT_EQ(read_file(file("notes.txt")), "my notes\n");
  EXPECT_EQ(chat({"--save", "/no/such/folder/x.json", "-p", "hi"}).out, "") << "said before anything is answered";
}

TEST(Record, WhatIsNoRecordIsOneSentence) {
  const std::string good = read_file(recorded("f.json"));
  std::vector<std::string> bad = {"", "{}", "[]", "null", "\x80", "{\"nybble_conversation\": 2}", std::string(100000, '[')};
  for (size_t n = 1; n < good.size(); n += good.size() / 37) bad.push_back(good.substr(0, n));
  for (const char* key : {"events", "checksum", "rng", "rows", "settings", "ended", "ids", "do", "kv", "ctx"}) {
    std::string other = good;
    other.replace(other.find('"' + std::string(key) + '"') + 1, 1, "X");
    bad.push_back(other);
  }
  const auto replaced = [&](const std::string& what, const std::string& by) {
    std::string other = good;
    other.replace(other.find(what), what.size(), by);
    bad.push_back(other);
  };
  replaced("\"temp\":\"0.7\"", "\"temp\":\"nan\"");
  replaced("\"temp\":\"0.7\"", "\"heat\":\"0.7\"");
  replaced("\"ids\":[", "\"ids\":[-1,");
  replaced("\"ids\":[", "\"ids\":[1.5,");
  replaced("\"rows\":\"", "\"rows\":\"zz");
  replaced("\"do\":\"message\"", "\"do\":\"dance\"");
  replaced("\"kv\": \"f32\"", "\"kv\": \"q1\"");
  replaced("\"ctx\": 512", "\"ctx\": 0");
  for (const std::string& text : bad) {
    std::ofstream(file("bad.json"), std::ios::binary) << text;
    for (const Ran& r : {replay(file("bad.json")), chat({"--quiet", "--load", file("bad.json"), "-p", "hi"})}) {
      EXPECT_EQ(r.code, 1) << text.substr(0, 200);
      EXPECT_EQ(r.out, "");
      EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
      EXPECT_NE(r.err.find("bad.json"), std::string::npos) << r.err;
    }
  }
  EXPECT_EQ(replay("/no/such/record").code, 1);
}

TEST(Record, TasksDoNotMix) {
  const std::string path = recorded("g.json");
  for (const Args& a : std::vector<Args>{{"--replay", path, "-p", "hi"},
                                         {"--replay", path, "--temp", "0"},
                                         {"--replay", path, "--kv", "f16"},
                                         {"--replay", path, "--save", path},
                                         {"--replay", path, "--verify"},
                                         {"--load", path, "--ids", "1"},
                                         {"--save", path, "--verify"},
                                         {"--save", path, "--logits", "x.npy", "-p", "hi"}}) {
    const Ran r = chat(a);
    EXPECT_EQ(r.code, 2) << a.back();
    EXPECT_EQ(r.out, "");
  }
}

}  // namespace
}  // namespace nyb::test
