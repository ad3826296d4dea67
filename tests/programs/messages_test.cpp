// messages_test.cpp - how lines become messages, what Tab adds, and the bytes of a terminal as characters.
#include "chat/messages.h"
#include <gtest/gtest.h>
#include <clocale>
#include <deque>
#include <filesystem>
#include <fstream>
#include "chat/complete.h"
#include "chat/typed.h"
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;
using Got = MessageReader::Got;

struct Given {
  std::deque<std::pair<Lines::Got, std::string>> lines;
  std::vector<std::string> remembered;
  std::vector<bool> within;
};

class FakeLines : public Lines {
 public:
  explicit FakeLines(Given& g) : g_(g) {}
  Got next(std::string& line, bool within) override {
    g_.within.push_back(within);
    if (g_.lines.empty()) return Got::end;
    const auto [got, text] = g_.lines.front();
    g_.lines.pop_front();
    line = text;
    return got;
  }
  void remember(std::string_view entry) override { g_.remembered.emplace_back(entry); }

 private:
  Given& g_;
};

// The messages of these lines; a command has a '!' before it.
std::vector<std::string> messages(Given& g) {
  MessageReader in(std::make_unique<FakeLines>(g));
  std::vector<std::string> all;
  TypedMessage m;
  while (in.next(m) == Got::message) all.push_back((m.command ? "!" : "") + m.text);
  return all;
}
std::vector<std::string> messages(const std::vector<std::string>& lines) {
  Given g;
  for (const std::string& l : lines) g.lines.emplace_back(Lines::Got::line, l);
  return messages(g);
}
using All = std::vector<std::string>;

TEST(Messages, ALineIsOne) {
  EXPECT_EQ(messages({"a", "", "/b c", " /d", "e\nf"}), (All{"a", "!/b c", " /d", "e\nf"}));
  EXPECT_EQ(messages(All{}), All{});
}

TEST(Messages, QuotesOpenAndCloseALongOne) {
  EXPECT_EQ(messages({"\"\"\"", "a", "", " b", "\"\"\"", "c"}), (All{"a\n\n b", "c"}));
  EXPECT_EQ(messages({"\"\"\"one\"\"\""}), All{"one"});
  EXPECT_EQ(messages({"\"\"\"a", "b\"\"\""}), All{"a\nb"});
  EXPECT_EQ(messages({"\"\"\"a\"\"\" \t\r", "b"}), (All{"a", "b"})) << "blanks after the end";
  EXPECT_EQ(messages({"\"\"\"", "", "a", "", "\"\"\""}), All{"\na\n"}) << "empty lines of the message stay";
  EXPECT_EQ(messages({"\"\"\"\"\"\"", "\"\"\"", "\"\"\"", "a"}), All{"a"}) << "empty ones are none";
  EXPECT_EQ(messages({"\"\"\"", "/quit", "\"\"\"", "\"\"\"/x\"\"\""}), (All{"/quit", "/x"})) << "no commands";
  EXPECT_EQ(messages({"a \"\"\"", "b"}), (All{"a \"\"\"", "b"})) << "only at the beginning they open";
  EXPECT_EQ(messages({"\"\"\"", "a \"\"\" b", "\"\"\""}), All{"a \"\"\" b"}) << "only at the end of a line they close";
}

TEST(Messages, WhatIsPastedWithTheEndIsTheNext) {
  EXPECT_EQ(messages({"\"\"\"\na\n\"\"\"\n/b\nc"}), (All{"a", "!/b\nc"}));
  EXPECT_EQ(messages({"\"\"\"\na", "b\"\"\"\n\"\"\"c\"\"\"\n\nd", "e"}), (All{"a\nb", "c", "\nd", "e"}));
}

TEST(Messages, TheEndOfInputEndsALongOne) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(messages({"\"\"\"", "a", "b"}), All{"a\nb"});
  EXPECT_NE(testing::internal::GetCapturedStderr().find("the input ended within the long message"), std::string::npos);
}

TEST(Messages, CtrlCTakesALongOneBack) {
  Given g;
  g.lines = {{Lines::Got::line, "\"\"\""},
             {Lines::Got::line, "a"},
             {Lines::Got::taken_back, ""},
             {Lines::Got::taken_back, ""},
             {Lines::Got::line, "b"}};
  EXPECT_EQ(messages(g), All{"b"});
  EXPECT_EQ(g.within, (std::vector<bool>{false, true, true, false, false, false}));
  EXPECT_EQ(g.remembered, All{"b"});
}

TEST(Messages, ALongOneIsOneEntryAsItWasTyped) {
  Given g;
  for (const char* l : {"\"\"\"", "a", "b\"\"\"\nc", "/d"}) g.lines.emplace_back(Lines::Got::line, l);
  messages(g);
  EXPECT_EQ(g.remembered, (All{"\"\"\"\na\nb\"\"\"", "c", "/d"}));
}

// Through the program, from a pipe.
TEST(Messages, InAPipeToo) {
  const auto prints = [](const std::string& in) {
    const Ran r = chat({"--temp", "0", "--quiet", "--fingerprint", "--max", "4"}, {.in = in});
    EXPECT_EQ(r.code, 0) << r.err;
    All all;
    for (size_t at = r.err.find("fingerprint "); at != std::string::npos; at = r.err.find("fingerprint ", at + 1))
      all.push_back(r.err.substr(at + 12, 16));
    return all;
  };
  const Ran whole = chat({"-p", "What is\n\nint4?", "--temp", "0", "--quiet", "--fingerprint", "--max", "4"});
  const std::string want = fingerprint_of(whole.err);
  for (const char* in : {"\"\"\"\nWhat is\n\nint4?\n\"\"\"\n", "\"\"\"What is\r\n\r\nint4?\"\"\"\r\n", "\"\"\"What is\n\nint4?"})
    EXPECT_EQ(prints(in), All{want}) << in;
  EXPECT_EQ(prints("\"\"\"\nWhat is\n\nint4?\n\"\"\"\nhello\n").size(), 2u);
}

TEST(Typed, EveryTextComesBack) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  for (const std::string& s : {all, std::string("a\0b", 3), std::string("\xc3"), std::string("\xe2\x82"),
                               std::string("\xf0\x9f\x98\x80\xf0\x9f"), std::string("\xc2\x9d\xc2\x80"),
                               std::string("\xed\xb2\x80"), std::string("\xc0\x80"), std::string("h\xc3\xa9 \xe4\xb8\xad")}) {
    EXPECT_EQ(typed_bytes(typed_wide(s)), s);
    EXPECT_EQ(typed_wide(s).find(L'\0'), std::wstring::npos) << "the editor's strings end there";
    for (const wchar_t c : typed_wide(s)) EXPECT_FALSE(c >= 0x80 && c < 0xa0) << "a key of the editor";
  }
  EXPECT_EQ(typed_wide("\xe4\xb8\xad\xf0\x9f\x98\x80"), L"\u4e2d\U0001f600");
}

TEST(Typed, LinesThatCameTogether) {
  EXPECT_EQ(typed_lines("a"), 0u);
  EXPECT_EQ(typed_lines("a\n"), 0u) << "Enter";
  EXPECT_EQ(typed_lines("a\nb"), 3u);
  EXPECT_EQ(typed_lines("a\n\tb\n"), 4u) << "and Enter, which stays";
  EXPECT_EQ(typed_lines("a\n\x04"), 0u) << "keys";
  EXPECT_EQ(typed_lines("a\nb\x1b[A"), 3u);
  EXPECT_EQ(typed_newlines("a\r\nb\rc\nd"), "a\nb\nc\nd");
}

TEST(Typed, RowsOfATerminal) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  EXPECT_EQ(typed_rows(L"", 2, 10), 0);
  EXPECT_EQ(typed_rows(L"1234567", 2, 10), 0);
  EXPECT_EQ(typed_rows(L"12345678", 2, 10), 1) << "the cursor stands in the next row";
  EXPECT_EQ(typed_rows(L"1\n2\n3", 2, 10), 2);
  EXPECT_EQ(typed_rows(L"1234567\u4e2d", 2, 10), 1) << "no room for a wide one";
}

const CommandWords kWords{{"/help", "/load", "/read", "/reset"}, {"/read", "/load"}};

TEST(Complete, Commands) {
  EXPECT_EQ(complete(kWords, "/h").insert, "elp ");
  EXPECT_EQ(complete(kWords, "/r").insert, "e");
  EXPECT_EQ(complete(kWords, "/re").choices, (All{"/read", "/reset"}));
  for (const char* none : {"", "h", "/x", " /h", "/help x"}) {
    EXPECT_EQ(complete(kWords, none).insert, "") << none;
    EXPECT_TRUE(complete(kWords, none).choices.empty()) << none;
  }
}

TEST(Complete, FilesWithSpacesAndOtherLetters) {
  const fs::path folder = tmp_dir() / "complete";
  fs::create_directories(folder / "sub folder");
  for (const char* name : {"my file.txt", "my film", "\xc3\xa9t\xc3\xa9", "\xc3\xa8re", ".hidden", "odd\nname"})
    std::ofstream(folder / name) << "x";
  std::ofstream(folder / "sub folder" / "in it") << "x";
  const std::string in = "/read " + folder.string() + "/";
  EXPECT_EQ(complete(kWords, in + "my").insert, " fil");
  EXPECT_EQ(complete(kWords, in + "my fil").choices, (All{"my file.txt", "my film"}));
  EXPECT_EQ(complete(kWords, in + "my file").insert, ".txt") << "no space after it: it would be part of the name";
  EXPECT_EQ(complete(kWords, in + "s").insert, "ub folder/");
  EXPECT_EQ(complete(kWords, in + "sub folder/").insert, "in it");
  EXPECT_EQ(complete(kWords, in + ".h").insert, "idden");
  EXPECT_EQ(complete(kWords, in + "\xc3\xa9").insert, "t\xc3\xa9");
  EXPECT_EQ(complete(kWords, in).choices, (All{"my file.txt", "my film", "sub folder/", "\xc3\xa8re", "\xc3\xa9t\xc3\xa9"}))
      << "not what is hidden, nor what cannot be typed";
  EXPECT_EQ(complete(kWords, in).insert, "") << "half a character is no common beginning";
  EXPECT_EQ(complete(kWords, "/read /nowhere/at/a").insert, "");
  EXPECT_EQ(complete(kWords, "/reset " + folder.string() + "/my").insert, "") << "it takes no file";
  setenv("HOME", folder.c_str(), 1);
  EXPECT_EQ(complete(kWords, "/load ~").insert, "/");
  EXPECT_EQ(complete(kWords, "/load ~/s").insert, "ub folder/");
}

TEST(Complete, ChoicesInColumns) {
  EXPECT_EQ(choice_table({"a", "bb", "c"}, 8), "a   c\nbb\n");
  EXPECT_EQ(choice_table({"a", "b"}, 1), "a\nb\n");
  EXPECT_NE(choice_table(All(500, "x"), 80).find("... and 300 more\n"), std::string::npos);
}

}  // namespace
}  // namespace nyb::test
