// record_test.cpp - conversations in files: going on with one, and computing one again to the last bit.
#include "chat/record.h"
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include "kern/cpu.h"
#include "kern/error.h"
#include "kern/kern.h"
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string file(const std::string& name) { return (tmp_dir() / name).string(); }

Ran ok(const Args& args, const RunOptions& o = {}) {
  Ran r = chat(args, o);
  EXPECT_EQ(r.code, 0) << r.err;
  return r;
}

// A conversation with all that happens in one: settings changed, turns taken back and asked again, the system message.
std::string recorded(const std::string& name, const Args& more = {}) {
  Args args = {"--record", file(name), "--seed", "11", "--quiet"};
  args.insert(args.end(), more.begin(), more.end());
  ok(args,
     {.in = "hello\n/set temp 1.2\nTell me a story\n/regen\n/system Be brief.\nWhat is int4?\n/undo\n/set repeat-penalty 1.3\n"
            "/set stop it\nWhat is int4?\n"});
  return file(name);
}

Ran replay(const std::string& path, const Args& more = {}) {
  Args args = {"--replay", path, "--quiet"};
  args.insert(args.end(), more.begin(), more.end());
  return chat(args);
}

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
