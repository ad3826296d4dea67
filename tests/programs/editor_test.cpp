// editor_test.cpp - the prompt at a terminal: keys, history, long messages, pastes, completion, letters.
#include "prompt.h"

namespace nyb::test {
namespace {

TEST(Editor, Keys) {
  Prompt p;
  p.understands(std::string("hllo") + kLeft + kLeft + kLeft + "e", "hello");
  p.understands("xhello y\x1b[H\x1b[3~\x1b[F\x7f\x7f", "hello");  // Home, Delete, End, Backspace
  p.understands("\x1b[1~a\x01X\x05Z\x1bOHY\x1bOFW", "YXaZW");     // other forms of Home and End; Ctrl+A, Ctrl+E
  p.understands("one two three\x17\x17", "one ");                 // Ctrl+W
  p.understands("no\x15yes", "yes");                              // Ctrl+U
  p.understands(
      "one two\x1b[1;5DX\x1b[1;5D\x1b[1;5D\x0b"
      "three",
      "three");                       // Ctrl+Left, Ctrl+K
  p.understands("one\x1b\r", "one");  // a newline at the end is none of the message
  p.understands("one\ttwo", "one\ttwo");
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

TEST(Editor, AltEnterBeginsALineAndTheArrowsMoveInIt) {
  Prompt p;
  p.type("one\x1b\r");
  p.type("two");
  p.type(std::string(kUp) + "X" + kDown + "Y");
  p.understands("", "oneX\ntwoY");
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

TEST(Editor, HistoryFromRunToRun) {
  const Env env = state("runs");
  {
    Prompt p(env);
    p.understands("What is int4?", "What is int4?");
    p.understands(" a secret", " a secret");
    p.understands("\"\"\"\rone\r\rtwo\"\"\"", "one\n\ntwo");
    EXPECT_EQ(p.leave("/quit\r"), 0);
  }
  EXPECT_EQ(read_file(history_in("runs")), "What is int4?\n/reset\n\"\"\"\\none\\n\\ntwo\"\"\"\n/reset\n");
  struct stat st {};
  ASSERT_EQ(stat(history_in("runs").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  Prompt p(env);
  p.type(std::string(kUp) + kUp);
  p.understands("", "one\n\ntwo");
  p.understands("\x12int", "What is int4?");  // Ctrl+R
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

TEST(Editor, WhatWasBegunIsThereAgainBelowTheHistory) {
  Prompt p(state("draft"));
  p.understands("hello", "hello");
  std::string text;
  while (text.size() < 300) text += "a wolf ";
  p.understands(text + kUp + kUp + kUp + kDown + kDown + kDown + "b", text + "b");
  // longer than a line buffer of libedit, in a context that holds it
  std::string longer(2000, 'a');
  p.type(longer + kUp + kDown + "\r");
  EXPECT_TRUE(p.pty().wait("chat: the prompt has ")) << p.seen();
  const std::string kept = read_file(history_in("draft"));
  EXPECT_NE(kept.find("\n" + longer + "\n"), std::string::npos) << kept;
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

TEST(Editor, NoHistoryWhereNoneIsWanted) {
  const Env env = state("none");
  fs::create_directories(history_in("none").parent_path());
  std::ofstream(history_in("none")) << "from before\n";
  {
    Prompt p(env, {"--no-history"});
    p.type(kUp);
    p.understands("hello", "hello");
    p.type(std::string(kUp) + kUp);
    p.understands("", "hello");  // of this run
    EXPECT_EQ(p.seen().find("from before"), std::string::npos);
    EXPECT_EQ(p.leave(kCtrlD), 0);
  }
  EXPECT_EQ(read_file(history_in("none")), "from before\n");
  const fs::path home = tmp_dir() / "empty-home";
  fs::create_directories(home);
  Prompt p({"HOME", "XDG_STATE_HOME"});
  p.understands("hello", "hello");
  EXPECT_EQ(p.seen().find("history"), std::string::npos) << "without a home there is none, and no word of it";
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

TEST(Editor, AHistoryThatCannotBeWrittenIsSaidOnce) {
  std::ofstream(tmp_dir() / "a-file") << "x";
  Prompt p({"XDG_STATE_HOME=" + (tmp_dir() / "a-file").string()});
  p.understands("hello", "hello");
  const size_t at = p.seen().find("(the history is not kept: '");
  ASSERT_NE(at, std::string::npos) << p.seen();
  EXPECT_EQ(p.seen().find("the history is not kept", at + 5), std::string::npos) << p.seen();
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

TEST(Editor, ALongMessage) {
  Prompt p;
  p.type("\"\"\"\r");
  ASSERT_TRUE(p.pty().wait(". ")) << p.seen();
  p.type("/quit\r");
  ASSERT_TRUE(p.pty().wait(". ")) << p.seen();
  p.understands("two\"\"\"", "/quit\ntwo");
  p.understands("\"\"\"one\"\"\"", "one");
  for (const char* half : {"", "half a line"}) {  // Ctrl+C takes it back, and chat stays
    p.type("\"\"\"\r");
    ASSERT_TRUE(p.pty().wait(". ")) << p.seen();
    p.type("lost\r");
    ASSERT_TRUE(p.pty().wait(". ")) << p.seen();
    p.type(half);
    p.say(kCtrlC);
  }
  p.understands("hello", "hello");
  p.type("\"\"\"\r");
  ASSERT_TRUE(p.pty().wait(". ")) << p.seen();
  p.type("sent\r");
  ASSERT_TRUE(p.pty().wait(". ")) << p.seen();
  p.type(kCtrlD);
  ASSERT_TRUE(p.pty().wait("the input ended within")) << p.seen();
  ASSERT_TRUE(p.pty().wait("fingerprint ")) << p.seen();
  ASSERT_TRUE(p.pty().wait("> ")) << p.seen();
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

std::string ten_lines(const std::string& end) {
  std::string all;
  for (int i = 0; i < 10; ++i) all += "line " + std::to_string(i) + end;
  return all;
}

TEST(Editor, AMarkedPasteIsOneMessageAndWaitsForEnter) {
  Prompt p;
  EXPECT_NE(p.seen().find(kMarksOn), std::string::npos);
  const std::string text = ten_lines("\n").substr(0, 69);  // without the last newline
  p.type("\x1b[200~" + ten_lines("\r"));
  p.type("\x1b[201~");
  ASSERT_TRUE(p.pty().wait("line 9")) << "it is shown: " << p.seen();
  p.understands("", text);
  p.understands("see: \x1b[200~/quit\r/x\x1b[201~ !", "see: /quit\n/x !");
  p.understands(std::string("\x1b[200~a\0b\x1b[Ac\xc3\t\x1b[201~", 21), std::string("a\0b\x1b[Ac\xc3\t", 9));
  // in parts, as a slow line brings it
  for (const char* part : {"\x1b[2", "00~on", "e\rtwo\x1b[20", "1~"}) p.type(part);
  p.understands("", "one\ntwo");
  // off while nobody edits, so that a paste into what comes after is as ever
  p.type("hello\r");
  ASSERT_TRUE(p.pty().wait(kMarksOff)) << p.seen();
  ASSERT_TRUE(p.pty().wait("> ")) << p.seen();
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

TEST(Editor, LinesThatComeTogetherAreOneMessage) {
  for (const Env& env : {Env{"TERM=vt52"}, Env{"TERM=xterm"}, Env{"TERM=dumb"}}) {
    Prompt p(env);
    EXPECT_EQ(p.seen().find(kMarksOn) != std::string::npos, env[0] == "TERM=xterm") << env[0];
    p.understands(ten_lines("\r").substr(0, 69), ten_lines("\n").substr(0, 69));
    p.understands("\"\"\"\rone\r\rtwo\r\"\"\"", "one\n\ntwo");
    EXPECT_EQ(p.leave(kCtrlD), 0);
  }
}

TEST(Editor, Completion) {
  const fs::path folder = tmp_dir() / "tab";
  fs::create_directories(folder);
  std::ofstream(folder / "a file.txt") << "x";
  Prompt p({"HOME=" + folder.string()});
  p.type("/he\t\r");
  ASSERT_TRUE(p.pty().wait("put a space before it")) << p.seen();  // the last of what /help says
  ASSERT_TRUE(p.pty().wait("> ")) << p.seen();
  EXPECT_NE(p.seen().find("/reset"), std::string::npos) << "/help ran: " << p.seen();
  p.type("/\t");
  ASSERT_TRUE(p.pty().wait("/quit")) << "the choices: " << p.seen();
  ASSERT_TRUE(p.pty().wait("> /")) << "and the line again: " << p.seen();
  p.say(kCtrlC);
  p.type("/read ~/a\t");
  ASSERT_TRUE(p.pty().wait("file.txt")) << p.seen();
  p.say(kCtrlC);
  EXPECT_EQ(p.leave(kCtrlD), 0);
}

// Whatever the locale is, and whether it is there: the bytes arrive.
TEST(Editor, OtherLettersInAnyLocale) {
  for (const Env& env :
       std::vector<Env>{{"LC_ALL", "LC_CTYPE", "LANG"}, {"LC_ALL=C"}, {"LC_ALL=C.UTF-8"}, {"LC_ALL=xx_YY.UTF-8"}}) {
    Prompt p(env);
    p.understands(
        "h\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb e\xcc\x81 \xd7\xa9",
        "h\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb e\xcc\x81 \xd7\xa9");
    p.understands("\xe4\xb8\xad\xe6\x96\x87\x7fX", "\xe4\xb8\xadX");  // Backspace takes a whole character
    p.understands("half \xc3", "half \xc3");
    p.understands("\xff\xfe \xe2\x82 \xc2\x9d", "\xff\xfe \xe2\x82 \xc2\x9d");
    p.type("\xf0\x9f");  // a character in two parts
    p.type("\x98\x80");
    p.understands("", "\xf0\x9f\x98\x80");
    EXPECT_NE(p.seen().find("\xe4\xb8\xad"), std::string::npos) << "it is shown as it is";
    EXPECT_EQ(p.leave(kCtrlD), 0);
  }
}

TEST(Editor, NumbersKeepTheirPoint) {
  const fs::path folder = tmp_dir() / "locales";
  fs::create_directories(folder);
  // Where the system cannot make it, the name of a locale that is not there is as good a test as there is.
  (void)run({"/bin/sh", "-c", "localedef -i de_DE -f UTF-8 '" + (folder / "de_DE.UTF-8").string() + "'"});
  Prompt p({"LOCPATH=" + folder.string(), "LC_ALL=de_DE.UTF-8", "LC_NUMERIC=de_DE.UTF-8"});
  p.type("hello\r");
  ASSERT_TRUE(p.pty().wait("fingerprint ")) << p.seen();
  ASSERT_TRUE(p.pty().wait("> ")) << p.seen();
  EXPECT_EQ(p.leave(kCtrlD), 0);
  EXPECT_NE(p.pty().out.find("\"top_p\":0.9,"), std::string::npos) << p.pty().out;
}

}  // namespace
}  // namespace nyb::test
