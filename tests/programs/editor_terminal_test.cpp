// editor_terminal_test.cpp - the prompt and its terminal: leaving, signals, sizes, terminals that cannot edit.
#include <sys/stat.h>
#include <csignal>
#include "prompt.h"

namespace nyb::test {
namespace {

TEST(Editor, CtrlCEmptiesTheLineThenLeaves) {
  Prompt p;
  p.type("some words");
  ASSERT_TRUE(p.pty().wait("words"));
  p.say(kCtrlC);
  p.understands("hello", "hello");
  EXPECT_EQ(p.leave(kCtrlC), 130);
}

TEST(Editor, CtrlDLeavesOnlyAnEmptyLine) {
  Prompt p;
  p.understands(std::string("hello") + kCtrlD, "hello");
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

TEST(Editor, SignalsRestoreTheTerminal) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    for (const char* words : {"", "some words"}) {
      if (signal == SIGINT && *words) continue;  // takes them back
      Prompt p;
      p.type(words);
      ASSERT_TRUE(p.pty().wait(words));
      p.pty().signal(signal);
      EXPECT_EQ(p.gone(), 130) << signal;
    }
  }
  Prompt p;
  p.pty().signal(SIGQUIT);
  EXPECT_EQ(p.gone(), -1) << "SIGQUIT ends it as it should";
}

TEST(Editor, TheTerminalGoesAway) {
  Prompt p;
  p.type("some words");
  p.pty().hang_up();
  const int code = p.pty().finish(std::chrono::seconds(20));
  EXPECT_TRUE(code == 130 || code == 0) << code;
}

// A shell with job control, as Ctrl+Z needs one.
TEST(Editor, CtrlZAndBack) {
  const std::string command = program("chat") + " --temp 0 --max 2 --quiet --no-history --fingerprint";
  Pty t({"/bin/sh", "-c", "set -m; " + command + "; stty -a | grep -o '[ -]icanon'; echo STOPPED; read x; fg; echo END $?"},
        {"TERM=xterm"});
  ASSERT_TRUE(t.wait("> ")) << t.seen;
  t.type("one\x1b\r");
  t.type("two");
  ASSERT_TRUE(t.wait("two")) << t.seen;
  t.type("\x1a");
  ASSERT_TRUE(t.wait(kMarksOff)) << t.seen;
  ASSERT_TRUE(t.wait(" icanon")) << "the shell has its terminal: " << t.seen;
  ASSERT_TRUE(t.wait("STOPPED")) << t.seen;
  t.type("\n");
  ASSERT_TRUE(t.wait(kMarksOn)) << t.seen;
  ASSERT_TRUE(t.wait("> one")) << "the line is drawn again: " << t.seen;
  ASSERT_TRUE(t.wait("two")) << t.seen;
  t.type(" three\r");
  ASSERT_TRUE(t.wait("fingerprint ")) << t.seen;
  ASSERT_TRUE(t.wait("> ")) << t.seen;
  t.type(kCtrlD);
  ASSERT_TRUE(t.wait("END 0")) << t.seen;
  EXPECT_EQ(t.finish(), 0);
  const Ran whole = chat({"-p", "one\ntwo three", "--temp", "0", "--max", "2", "--quiet", "--fingerprint"});
  EXPECT_EQ(fingerprint_of(t.seen), fingerprint_of(whole.err));
}

TEST(Editor, ANewSizeOfTheWindow) {
  Prompt p;
  const std::string text(100, 'w');
  p.type(text);
  ASSERT_TRUE(p.pty().wait("w"));
  p.pty().resize(10, 40);
  ASSERT_TRUE(p.pty().wait("> " + std::string(38, 'w'))) << "drawn again: " << p.seen();
  p.pty().resize(50, 120);
  ASSERT_TRUE(p.pty().wait("> " + text)) << p.seen();
  p.understands("x", text + "x");
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

// No editing: the plain lines of the terminal, no sequences, and the rest works as ever.
TEST(Editor, NotWhereTheTerminalCannot) {
  const Env unset{"TERM"}, xterm{"TERM=xterm"};
  for (const Env& env : {Env{"TERM=dumb"}, unset, Env{"TERM="}, Env{"TERM=no-such-terminal"}, xterm}) {
    Prompt p(env, env == xterm ? Args{"--no-edit"} : Args{});
    p.understands("hello", "hello");
    p.understands(std::string("h") + kLeft, std::string("h") + kLeft);  // a key is its bytes
    EXPECT_EQ(p.seen().find(kMarksOn), std::string::npos) << env[0];
    p.type("\"\"\"\r");
    ASSERT_TRUE(p.pty().wait(". ")) << p.seen();
    p.type("lost\r");
    ASSERT_TRUE(p.pty().wait(". ")) << p.seen();
    p.say(kCtrlC);
    EXPECT_EQ(p.leave(kCtrlC), 130);
  }
}

TEST(Editor, StandardErrorOrOutputInAFile) {
  const std::string out = (tmp_dir() / "out.txt").string(), err = (tmp_dir() / "err.txt").string();
  const std::string command = "exec " + program("chat") + " --temp 0 --quiet ";
  {
    Pty t({"/bin/sh", "-c", command + "> " + out}, {"TERM=xterm"});
    ASSERT_TRUE(t.wait("> ")) << t.seen;
    t.type("What is int4?\r");
    ASSERT_TRUE(t.wait("> ")) << t.seen;
    t.type(kCtrlD);
    EXPECT_EQ(t.finish(), 0);
    EXPECT_EQ(read_file(out), chat({"-p", "What is int4?", "--temp", "0", "--quiet"}).out) << "the reply and nothing else";
    EXPECT_NE(t.seen.find("int4?"), std::string::npos) << "what is typed shows on the terminal";
  }
  Pty t({"/bin/sh", "-c", command + "2> " + err}, {"TERM=xterm"});
  t.type("What is int4?\r");
  ASSERT_TRUE(t.wait("accuracy.")) << t.seen;
  t.type(kCtrlD);
  EXPECT_EQ(t.finish(), 0);
  EXPECT_EQ(t.seen.find('\033'), std::string::npos) << t.seen;
  EXPECT_EQ(read_file(err).find('\033'), std::string::npos) << read_file(err);
}

TEST(Editor, NoColourStillEdits) {
  Prompt p({"NO_COLOR=1"});
  p.understands(std::string("hllo") + kLeft + kLeft + kLeft + "e", "hello");
  EXPECT_EQ(p.seen().find("\033[90m"), std::string::npos) << p.seen();
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

TEST(Editor, WhatIsTypedDuringAReplyIsTheNextMessage) {
  Pty t({program("chat"), "--kernel", "ref", "--threads", "1", "--temp", "1000", "--top-k", "0", "--top-p", "1", "--seed", "3",
         "--max", "200", "--quiet"},
        {"TERM=xterm"}, true);
  ASSERT_TRUE(t.wait("> "));
  t.type("Tell me a story\r");
  while (t.out.size() < 20) ASSERT_TRUE(t.look());
  t.type("/help\r");
  t.type(kCtrlD);
  ASSERT_TRUE(t.wait("/reset")) << t.seen;
  EXPECT_EQ(t.finish(), 0) << "and so is Ctrl+D";
}

TEST(Editor, KeysOfTheUsersOwn) {
  const fs::path home = tmp_dir() / "vi-home";
  fs::create_directories(home);
  std::ofstream(home / ".editrc") << "bind -v\n";
  {
    Prompt p({"HOME=" + home.string()});
    p.type("hxllo\x1b");  // Escape, then commands
    p.type("0lrea");      // beginning, right, replace with e; append
    p.type("\x1b[200~\x1b[201~");
    p.understands("", "hello");
    EXPECT_EQ(p.leave(kCtrlD), 0);
  }
  std::ofstream(home / ".editrc") << "edit off\n";
  Prompt p({"HOME=" + home.string()});
  p.understands("hello", "hello");
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

}  // namespace
}  // namespace nyb::test
