// commands_test.cpp - the commands at the prompt, and that none of them changes an answer that it should not.
#include "chat/commands.h"
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include "programs.h"
#include "support/data.h"
#include "support/text.h"

namespace nyb::test {
namespace {

using nlohmann::json;

TEST(Commands, HelpNamesEach) {
  const std::string err = talk("/help\n").err;
  for (const Command& c : command_list()) EXPECT_NE(err.find(c.word), std::string::npos) << c.word;
  EXPECT_EQ(talk("/help\n").replies.size(), 0u);
}

TEST(Commands, UnknownOnesAreSaidAndNotSent) {
  for (const char* line : {"/hepl\n", "/\n", "//\n", "/SAVE x\n", "/etc/passwd\n"}) {
    const Spoken l = talk(line);
    EXPECT_TRUE(l.replies.empty()) << line;
    EXPECT_NE(l.err.find("unknown command"), std::string::npos) << line;
  }
}

TEST(Commands, UndoTakesTheLastTurnBack) {
  const Spoken with = talk("hello\nWhat is int4?\n/undo\nTell me a story\n"), without = talk("hello\nTell me a story\n");
  ASSERT_EQ(with.replies.size(), 3u);
  EXPECT_EQ(with.replies[2]["ids"], without.replies[1]["ids"]);
  EXPECT_EQ(with.replies[2]["fingerprint"], without.replies[1]["fingerprint"]);
  EXPECT_NE(with.err.find("(taken back: What is int4?)"), std::string::npos) << with.err;
  const Spoken all = talk("hello\n/undo\n/undo\n/undo\nhello\n");
  EXPECT_EQ(all.replies[0]["fingerprint"], all.replies[1]["fingerprint"]);
  EXPECT_EQ(count_of(all.err, "there is no message to take back"), 2u);
}

TEST(Commands, RegenAnswersTheSameMessageAgain) {
  const Spoken greedy = talk("hello\nTell me a story\n/regen\n/undo\nWhat is int4?\n");
  EXPECT_EQ(greedy.replies[1]["fingerprint"], greedy.replies[2]["fingerprint"]);
  EXPECT_EQ(greedy.replies[3]["fingerprint"], talk("hello\nWhat is int4?\n").replies[1]["fingerprint"]) << "it stands once";
  const Spoken drawn = talk("Tell me a story\n/regen\n", {"--temp", "2", "--seed", "6"});
  EXPECT_NE(drawn.replies[0]["ids"], drawn.replies[1]["ids"]) << "other numbers are drawn";
  const Ran none = chat({"--quiet"}, {.in = "/regen\n"});
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("no message to answer again"), std::string::npos) << none.err;
}

TEST(Commands, ReadSendsAFileAsOneMessage) {
  const std::string path = (tmp_dir() / "a message.txt").string();
  std::ofstream(path) << "What is\nint4?\n";
  const Spoken l = talk("/read " + path + "\n");
  EXPECT_EQ(l.replies.at(0)["fingerprint"], [&] {
    const Ran r = chat({"-f", path, "--temp", "0", "--json", "--quiet"});
    return json::parse(r.out)["fingerprint"];
  }());
  EXPECT_EQ(chat({"--quiet"}, {.in = "/read /no/such/file\n"}).code, 1);
  EXPECT_EQ(chat({"--quiet"}, {.in = "/read\n"}).code, 1);
}

TEST(Commands, TokensAreThoseOfTheText) {
  const Spoken l = talk("/tokens Hello <|end|>\n/tokens\n");
  EXPECT_NE(l.err.find("(0 tokens)"), std::string::npos) << l.err;
  EXPECT_EQ(count_of(l.err, "<|end|>"), 0u) << "text of a special token is plain text: " << l.err;
  EXPECT_TRUE(l.replies.empty());
}

TEST(Commands, ShowTellsWhatIsSet) {
  const Spoken l = talk("/set top-k 12\n/system Be brief.\nhello\n/show\n", {"--temp", "0.25", "--seed", "99"});
  for (const char* text :
       {"top-k           12", "temp            0.25", "seed            99", "system          Be brief.", "1 turn\n"})
    EXPECT_NE(l.err.find(text), std::string::npos) << text << " in\n" << l.err;
}

TEST(Commands, ShowTellsWhatRuns) {
  const Args how = {"--kernel", "ref", "--threads", "2", "--kv", "q8", "--chunk", "5", "--speculate", "off"};
  const Spoken l = talk("/show\n", how);
  for (const char* text : {"kernel          ref\n", "threads         2\n", "kv              q8\n", "chunk           5\n",
                           "speculate       off\n", "load            map\n"})
    EXPECT_NE(l.err.find(text), std::string::npos) << text << " in\n" << l.err;
  EXPECT_NE(talk("/show\n", {}).err.find("speculate       auto\n"), std::string::npos);
}

TEST(Commands, TheBannerTellsACacheOfAnotherType) {
  EXPECT_NE(chat({"--kv", "q8", "-p", "hi"}).err.find("); cache q8\n"), std::string::npos);
  EXPECT_EQ(chat({"-p", "hi"}).err.find("cache f32"), std::string::npos);
}

TEST(Commands, SetSeedBeginsTheNumbersAgain) {
  const Spoken l = talk("Tell me a story\n/reset\n/set seed 6\nTell me a story\n", {"--temp", "2", "--seed", "6"});
  EXPECT_EQ(l.replies.at(0)["ids"], l.replies.at(1)["ids"]);
}

TEST(Commands, BlanksAfterTheWordDoNotMatter) {
  const std::string path = (tmp_dir() / "blanks.txt").string();
  std::ofstream(path) << "hello\n";
  const Spoken l = talk("/set  top-k   12\n/read   " + path + "\n/tokens  a\n");
  EXPECT_NE(l.err.find("(top-k: 12)"), std::string::npos) << l.err;
  EXPECT_EQ(l.replies.size(), 1u);
  EXPECT_NE(l.err.find("\" a\""), std::string::npos) << "those of a text are its own: " << l.err;
}

TEST(Commands, StatsTellWhatRuns) {
  const Spoken l = talk("hello\n/stats\n");
  const std::string& err = l.err;
  EXPECT_NE(err.find("pocket: "), std::string::npos) << err;
  for (const char* word :
       {"last reply: ", " GB/s of weights, ", " % of what reading them gives; ", "resident", "KV cache", "working"})
    EXPECT_NE(err.find(word), std::string::npos) << word << " in " << err;
  EXPECT_GT(l.replies.at(0).at("read_gb_per_second").get<double>(), 0);
}

}  // namespace
}  // namespace nyb::test
