// terminal_test.cpp - how chat behaves at a terminal, when it is interrupted, and where there is none.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>
#include <nlohmann/json.hpp>
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

using std::chrono::milliseconds;

Args chat_args(std::initializer_list<std::string> more) {
  Args a{program("chat")};
  a.insert(a.end(), more);
  return a;
}

// Slow enough to be caught at work: the scalar path, one thread, and random words that never end the reply.
const std::initializer_list<std::string> kSlow = {"--kernel", "ref",     "--threads", "1",      "--temp", "1000",  "--top-k",
                                                  "0",        "--top-p", "1",         "--seed", "3",      "--max", "100000"};

TEST(Terminal, TalksAndLeavesAtTheEnd) {
  Pty t(chat_args({"--temp", "0"}), {"TERM=xterm"}, true);
  ASSERT_TRUE(t.wait("> ")) << t.seen;
  EXPECT_NE(t.seen.find("4.95M parameters"), std::string::npos) << t.seen;
  t.type("What is int4?\n");
  ASSERT_TRUE(t.wait("; seed ")) << t.seen;
  ASSERT_TRUE(t.wait("> ")) << t.seen;
  t.type("/help\n");
  ASSERT_TRUE(t.wait("/reset")) << t.seen;
  ASSERT_TRUE(t.wait("> ")) << t.seen;
  t.type("\x04");
  EXPECT_EQ(t.finish(), 0) << t.seen;
  EXPECT_EQ(t.out.find("parameters"), std::string::npos) << "stdout carries the reply only";
  EXPECT_EQ(t.out.compare(0, 12, "Int4 stores "), 0) << t.out;
  EXPECT_EQ(std::count(t.out.begin(), t.out.end(), '\n'), 1) << t.out;
  EXPECT_NE(t.seen.find("\033[90m"), std::string::npos) << "the statistics are grey";
}

TEST(Terminal, QuitLeaves) {
  Pty t(chat_args({"--quiet"}));
  ASSERT_TRUE(t.wait("> "));
  t.type("/quit\n");
  EXPECT_EQ(t.finish(), 0);
}

TEST(Terminal, NoColourWhereNoneIsWanted) {
  for (const std::vector<std::string>& env :
       std::vector<std::vector<std::string>>{{"TERM=xterm", "NO_COLOR=1"}, {"TERM=dumb"}, {"TERM="}}) {
    Pty t(chat_args({"--temp", "0", "-p", "hello"}), env);
    EXPECT_EQ(t.finish(), 0) << t.seen;
    EXPECT_EQ(t.seen.find('\033'), std::string::npos) << env[0] << ": " << t.seen;
  }
  Pty t(chat_args({"--temp", "0", "-p", "hello"}), {"TERM=xterm", "NO_COLOR="});
  EXPECT_EQ(t.finish(), 0);
  EXPECT_NE(t.seen.find('\033'), std::string::npos) << "an empty NO_COLOR says nothing";
}

TEST(Terminal, APasteIsOneMessage) {
  Pty t(chat_args({"--temp", "0", "--fingerprint"}), {}, true);
  ASSERT_TRUE(t.wait("> "));
  t.type("What is\n\nint4?\n");
  ASSERT_TRUE(t.wait("fingerprint ")) << t.seen;
  ASSERT_TRUE(t.wait("> "));
  t.type("\x04");
  EXPECT_EQ(t.finish(), 0);
  const Ran whole = chat({"-p", "What is\n\nint4?", "--temp", "0", "--fingerprint"});
  EXPECT_EQ(fingerprint_of(t.seen), fingerprint_of(whole.err));
}

TEST(Terminal, CtrlCAtThePromptLeaves) {
  Pty t(chat_args({"--quiet"}));
  ASSERT_TRUE(t.wait("> "));
  t.type("\x03");
  EXPECT_EQ(t.finish(), 130) << t.seen;
}

constexpr const char* kSent = "\033[?2004l";  // the line is no longer edited; what follows is the reply

// Sends a message; true once some of the reply is there.
bool replying(Pty& t, const std::string& message) {
  t.type(message + "\n");
  return t.wait(kSent) && t.more(20);
}

// A FIFO that nobody writes: the command is given up, the conversation is not.
TEST(Terminal, CtrlCWhileAFileIsReadKeepsTheConversation) {
  const std::string fifo = (tmp_dir() / "waits").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  Pty t(chat_args({"--quiet", "--temp", "0"}), {"TERM=xterm"});
  ASSERT_TRUE(t.wait("> "));
  for (const char* command : {"/read ", "/load "}) {
    t.type(command + fifo + "\n");
    ASSERT_TRUE(t.wait(kSent));
    usleep(50000);
    t.type("\x03");
    ASSERT_TRUE(t.wait("(stopped)")) << t.seen;
    ASSERT_TRUE(t.wait("> ")) << t.seen;
  }
  t.type("\x04");
  EXPECT_EQ(t.finish(), 0) << t.seen;
}

TEST(Terminal, CtrlCTwiceLeavesInTheMiddleOfAReply) {
  Pty t(chat_args(kSlow), {"TERM=xterm"});
  ASSERT_TRUE(t.wait("> "));
  ASSERT_TRUE(replying(t, "Tell me a story")) << "no reply: " << t.seen;
  t.type("\x03");
  // Two at once are one signal; and what is typed while the terminal changes from reply to prompt, the system may drop.
  for (int more = 0; more < 20 && !t.ended(std::chrono::seconds(more == 0 ? 0 : 1)); ++more) {
    usleep(20000);
    t.type("\x03");
  }
  EXPECT_EQ(t.finish(), 130) << t.seen;
  EXPECT_EQ(t.modes(), t.began) << "the terminal is not as it was";
}

TEST(Terminal, CtrlCStopsAReplyAndKeepsTheConversation) {
  Pty t(chat_args(kSlow), {"TERM=xterm"});
  ASSERT_TRUE(t.wait("> "));
  ASSERT_TRUE(replying(t, "Tell me a story")) << "no reply: " << t.seen;
  t.type("\x03");
  ASSERT_TRUE(t.wait("(interrupted)")) << t.seen;
  ASSERT_TRUE(t.wait("> ")) << t.seen;
  // what was said so far is in the cache and serves on
  ASSERT_TRUE(replying(t, "hello")) << t.seen;
  t.type("\x03");
  ASSERT_TRUE(t.wait(" more from the cache)")) << t.seen;
  ASSERT_TRUE(t.wait("> ")) << t.seen;
  t.type("\x03");
  EXPECT_EQ(t.finish(), 130) << t.seen;
}

TEST(Terminal, ALongPromptShowsItsProgress) {
  std::string text;
  while (text.size() < 900) text += "one two three four five ";
  Args a = chat_args({"-p", text, "--max", "1", "--chunk", "1", "--kernel", "ref", "--threads", "1"});
  Pty t(a, {"TERM=xterm"}, true);
  EXPECT_EQ(t.finish(), 0) << t.seen;
  EXPECT_NE(t.seen.find("reading the prompt [###"), std::string::npos) << t.seen;
  EXPECT_NE(t.seen.find("\r\033[K\033[90m"), std::string::npos) << "the bar is taken away: " << t.seen;
  EXPECT_EQ(t.out.find('['), std::string::npos) << t.out;
  a.push_back("--quiet");
  Pty quiet(a, {"TERM=xterm"}, true);
  EXPECT_EQ(quiet.finish(), 0);
  EXPECT_EQ(quiet.seen, "");
}

TEST(Terminal, QuantizeShowsItsProgressWhereItCanBeDrawnOver) {
  const std::string out = (tmp_dir() / "bar.mnm").string();
  const Args a{program("quantize"), pocket_dir().string(), out, "--type", "q4"};
  Pty t(a, {"TERM=xterm"}, true);
  EXPECT_EQ(t.finish(), 0) << t.seen;
  EXPECT_NE(t.seen.find("converting ["), std::string::npos) << t.seen;
  EXPECT_NE(t.out.find("embed"), std::string::npos) << "the table is the result: stdout";
  Pty dumb(a, {"TERM=dumb"}, true);
  EXPECT_EQ(dumb.finish(), 0);
  EXPECT_EQ(dumb.seen, "");
}

TEST(Terminal, AnErrorDoesNotEndTheConversation) {
  Pty t(chat_args({"--ctx", "32", "--temp", "0", "--quiet"}));
  ASSERT_TRUE(t.wait("> "));
  t.type(std::string(300, 'z') + "\n");
  ASSERT_TRUE(t.wait("chat: ")) << t.seen;
  ASSERT_TRUE(t.wait("> ")) << t.seen;
  t.type("hello\n");
  ASSERT_TRUE(t.wait("> ")) << t.seen;
  t.type("\x04");
  EXPECT_EQ(t.finish(), 0);
}

TEST(Interrupt, BeingToldToEndLeavesTheConversation) {
  Pty t(chat_args(kSlow));
  ASSERT_TRUE(t.wait("> "));
  t.type("Tell me a story\n");
  ASSERT_TRUE(t.more(20)) << t.seen;
  t.signal(SIGTERM);
  EXPECT_EQ(t.finish(), 130) << t.seen;
}

TEST(Interrupt, WhileAPipeIsOpened) {
  const std::string fifo = (tmp_dir() / "nobody-writes").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(chat({"-f", fifo}, {.interrupt_after = milliseconds(200), .timeout = std::chrono::seconds(20)}).code, 130);
}

// While the program starts, loads and checks the model, and answers.
TEST(Interrupt, AtAnyMomentOfTheStart) {
  for (int ms = 0; ms <= 40; ms += 2) {
    const Ran r = chat({"-p", "hello", "--temp", "0"}, {.interrupt_after = milliseconds(ms)});
    EXPECT_TRUE(r.code == 130 || r.code == 0 || r.signal == SIGINT) << ms << ": " << r.code << ' ' << r.signal << r.err;
    EXPECT_EQ(r.err.find("chat: "), std::string::npos) << r.err;
  }
}

TEST(Interrupt, WithinALongMessageOfAPipe) {
  const Ran r =
      chat({}, {.in = "\"\"\"\nhalf\n", .hold_in = true, .interrupt_on = "parameters", .interrupt_after = milliseconds(200)});
  EXPECT_EQ(r.code, 130) << r.err;
  EXPECT_EQ(r.out, "");
}

TEST(Interrupt, WhileTheMessageIsRead) {
  std::string text;
  while (text.size() < 900) text += "one two three four five ";
  Args a{"-p", text, "--chunk", "1"};
  a.insert(a.end(), kSlow);
  const Ran r = chat(a, {.interrupt_on = "parameters", .interrupt_after = milliseconds(30)});
  EXPECT_EQ(r.code, 130) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find("context 0 of 512 (interrupted)"), std::string::npos) << r.err;
}

TEST(Interrupt, WhileReplying) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Args a{"-p", "Tell me a story", "--raw"};
    a.insert(a.end(), kSlow);
    const Ran s = chat(a, {.interrupt_out = 1, .interrupt_after = milliseconds(50), .interrupt_signal = signal});
    EXPECT_EQ(s.code, 130) << s.err;
    EXPECT_FALSE(s.out.empty());
    EXPECT_EQ(s.out.back(), '\n') << "what was pending comes out, and the line ends";
  }
}

TEST(Interrupt, WhileWaitingForInput) {
  for (const Args& a : {Args{}, Args{"-p", "x"}, Args{"-f", "-"}}) {
    const Ran r = chat(a, {.hold_in = true, .interrupt_on = a.empty() ? "parameters" : "", .interrupt_after = milliseconds(200)});
    EXPECT_EQ(r.code, 130) << r.err;
  }
}

TEST(Interrupt, WhileScoring) {
  const std::string held = (pocket_dir() / "heldout.jsonl").string();
  const Ran r = chat({"--eval", held, "--kernel", "ref", "--threads", "1"},
                     {.interrupt_on = "parameters", .interrupt_after = milliseconds(100)});
  EXPECT_EQ(r.code, 130) << r.err;
  EXPECT_EQ(r.out, "");
}

TEST(Streams, AReaderThatGoesAway) {
  Args a{"-p", "Tell me a story", "--raw", "--quiet"};
  a.insert(a.end(), kSlow);
  const Ran r = chat(a, {.close_out_after = 20});
  EXPECT_EQ(r.code, 0) << r.signal;
  EXPECT_EQ(r.err, "");
}

TEST(Streams, IntoHead) {
  const Ran r = run({"/bin/sh", "-c", program("chat") + " -p 'Tell me a story' --seed 1 --quiet | head -c 20"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, chat({"-p", "Tell me a story", "--seed", "1", "--quiet"}).out.substr(0, 20));
  EXPECT_EQ(r.err, "");
}

TEST(Streams, AFullDisk) {
  const Ran r = run({"/bin/sh", "-c", program("chat") + " -p hello --quiet --temp 0 > /dev/full"});
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.err, "chat: cannot write to standard output: No space left on device\n");
}

TEST(Streams, ClosedOnes) {
  EXPECT_EQ(chat({"-p", "hello", "--temp", "0"}, {.close_fd = 1}).code, 0);
  EXPECT_EQ(chat({"-p", "hello", "--temp", "0"}, {.close_fd = 2}).code, 0);
  const Ran r = chat({"-p", "hello", "--temp", "0", "--quiet"}, {.close_fd = 0});
  EXPECT_EQ(r.code, 0);
  EXPECT_GT(r.out.size(), 1u);
}

TEST(Streams, TheEnvironmentAndTheLocaleChangeNothing) {
  const Args a{"-p", "What is int4?", "--temp", "0.5", "--seed", "1", "--json", "--quiet"};
  const auto lasting = [](const std::string& s) {  // all that is not measured
    auto j = nlohmann::ordered_json::parse(s, nullptr, false);
    for (const char* measured :
         {"prompt_seconds", "reply_seconds", "reread_seconds", "prompt_tokens_per_second", "reply_tokens_per_second",
          "weights_gb_per_second", "read_gb_per_second", "load_seconds", "memory_bytes"})
      EXPECT_EQ(j.erase(measured), 1u) << measured;
    return j.dump();
  };
  const Ran plain = chat(a), bare = chat(a, {.bare_env = true});
  EXPECT_EQ(bare.code, 0) << bare.err;
  EXPECT_EQ(lasting(bare.out), lasting(plain.out));
  for (const char* locale : {"LC_ALL=de_DE.UTF-8", "LC_ALL=C", "LC_NUMERIC=de_DE"}) {
    const Ran r = chat(a, {.env = {locale}});
    EXPECT_EQ(lasting(r.out), lasting(plain.out)) << locale;
    EXPECT_NE(r.out.find("\"temp\":0.5"), std::string::npos);
  }
}

TEST(Streams, TheFolderOfTheCallerDoesNotMatter) { EXPECT_EQ(chat({"-p", "hello", "--temp", "0"}, {.cwd = "/"}).code, 0); }

}  // namespace
}  // namespace nyb::test
