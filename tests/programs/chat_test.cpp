// chat_test.cpp - one message, conversations, and what goes to which stream.
#include <gtest/gtest.h>
#include <fstream>
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

constexpr const char* kInt4 =
    "Int4 stores each weight in half a byte, with one scale for every 32 weights. It is small and fast, and costs a little "
    "accuracy.\n";

std::string file_with(const std::string& name, const std::string& text) {
  std::string path = (tmp_dir() / name).string();
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(Chat, AnswersAndStops) {
  const Ran r = chat({"-p", "What is int4?", "--temp", "0"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, kInt4);
  EXPECT_NE(r.err.find("4.95M parameters, q8, 5.1 MB; kernel "), std::string::npos) << r.err;
  EXPECT_NE(r.err.find(" of 512; seed "), std::string::npos) << r.err;
  EXPECT_EQ(r.err.find('\033'), std::string::npos) << "colour outside a terminal";
  EXPECT_EQ(r.err.find("> "), std::string::npos) << "a prompt outside a terminal";
}

TEST(Chat, QuietSaysNothingElse) {
  const Ran r = chat({"--quiet", "-p", "What is int4?", "--temp", "0"});
  EXPECT_EQ(r.out, kInt4);
  EXPECT_EQ(r.err, "");
}

TEST(Chat, SameSeedSameText) {
  const Ran a = chat({"-p", "Tell me a story", "--seed", "1", "--quiet"}),
            b = chat({"-p", "Tell me a story", "--seed=1", "--quiet"}), c = chat({"-p", "Tell me a story", "seed=2", "--quiet"});
  EXPECT_GT(a.out.size(), 50u);
  EXPECT_EQ(a.out, b.out);
  EXPECT_NE(a.out, c.out);
}

TEST(Chat, ARandomSeedIsPrintedAndServes) {
  const Ran a = chat({"-p", "Tell me a story"}), b = chat({"-p", "Tell me a story"});
  const auto seed = [](const Ran& r) {
    return r.err.substr(r.err.find("; seed ") + 7, r.err.rfind('\n') - r.err.find("; seed ") - 7);
  };
  EXPECT_NE(seed(a), seed(b));
  const Ran again = chat({"-p", "Tell me a story", "--seed", seed(a)});
  EXPECT_EQ(again.out, a.out);
}

TEST(Chat, FileAndPipe) {
  const std::string file = file_with("q.txt", "What is int4?\n");
  EXPECT_EQ(chat({"-f", file, "--temp", "0"}).out, kInt4);
  EXPECT_EQ(chat({"-f", "-", "--temp", "0"}, {.in = "What is int4?\n"}).out, kInt4);
  EXPECT_EQ(chat({"-p", "What is int4?", "--temp", "0"}, {.in_pipe = true}).out, kInt4);
  EXPECT_EQ(chat({"--temp", "0", "--quiet"}, {.in = "What is int4?"}).out, kInt4);
  // -p first, then a blank line and the piped text
  const Ran piped = chat({"-p", "What is", "--temp", "0", "--fingerprint"}, {.in = "int4?\n"}),
            whole = chat({"-p", "What is\n\nint4?", "--temp", "0", "--fingerprint"});
  EXPECT_EQ(piped.out, whole.out);
  EXPECT_EQ(fingerprint_of(piped.err), fingerprint_of(whole.err));
  EXPECT_NE(fingerprint_of(whole.err), fingerprint_of(chat({"-p", "What is", "--temp", "0", "--fingerprint"}).err));
}

TEST(Chat, LinesAreAConversation) {
  const Ran r = chat({"--temp", "0"}, {.in = "What is int4?\n\nwhat is 7 + 8\n"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, std::string(kInt4) + "That is 15.\n");
  EXPECT_NE(r.err.find(" more from the cache)"), std::string::npos) << r.err;
  // its second answer is the one that the whole conversation gives at once: the cache changes nothing
  const Ran f = chat({"--temp", "0", "--quiet", "--fingerprint"}, {.in = "What is int4?\nwhat is 7 + 8\n"});
  const Ran g = chat({"--temp", "0", "--quiet", "--fingerprint", "--chunk", "1"}, {.in = "What is int4?\nwhat is 7 + 8\n"});
  EXPECT_EQ(f.err, g.err);
}

TEST(Chat, NothingToReadIsTheEnd) {
  const Ran r = chat({});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(chat({"--quiet"}, {.in_pipe = true}).code, 0);
  EXPECT_EQ(chat({"--quiet"}, {.close_fd = 0}).code, 0);
}

TEST(Chat, Commands) {
  const Ran r = chat({"--temp", "0", "--quiet"}, {.in = "/help\n/nonsense here\n/quit\nWhat is int4?\n"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, "");
  for (const char* word : {"/reset", "/system TEXT", "/quit", "unknown command '/nonsense'"})
    EXPECT_NE(r.err.find(word), std::string::npos) << word;
  // what an unknown command says is not part of the conversation
  const Ran with = chat({"--temp", "0", "--quiet", "--fingerprint"}, {.in = "/foo\nhello\n"}),
            without = chat({"--temp", "0", "--quiet", "--fingerprint"}, {.in = "hello\n"});
  EXPECT_EQ(fingerprint_of(with.err), fingerprint_of(without.err));
}

TEST(Chat, ResetForgets) {
  const auto last = [](const Ran& r) { return fingerprint_of(r.err.substr(r.err.rfind("fingerprint "))); };
  const Args a{"--temp", "0", "--quiet", "--fingerprint"};
  const std::string alone = last(chat(a, {.in = "what is 7 + 8\n"}));
  EXPECT_EQ(last(chat(a, {.in = "What is int4?\n/reset\nwhat is 7 + 8\n"})), alone);
  EXPECT_NE(last(chat(a, {.in = "What is int4?\nwhat is 7 + 8\n"})), alone);
}

TEST(Chat, SystemMessage) {
  const auto answer = [](const Args& more, const std::string& in) {
    Args a{"--temp", "0", "--quiet", "--fingerprint"};
    a.insert(a.end(), more.begin(), more.end());
    return chat(a, {.in = in});
  };
  const std::string pirate = "You are a pirate.";
  const Ran option = answer({"--system", pirate}, "hello\n"), command = answer({}, "/system " + pirate + "\nhello\n"),
            none = answer({}, "hello\n"), removed = answer({"--system", pirate}, "/system\nhello\n"),
            kept = answer({"--system", pirate}, "/reset\nhello\n");
  EXPECT_EQ(fingerprint_of(option.err), fingerprint_of(command.err));
  EXPECT_EQ(fingerprint_of(option.err), fingerprint_of(kept.err));
  EXPECT_NE(fingerprint_of(option.err), fingerprint_of(none.err));
  EXPECT_EQ(fingerprint_of(removed.err), fingerprint_of(none.err));
}

TEST(Chat, MaxStops) {
  const Ran r = chat({"-p", "Tell me a story", "--max", "3", "--temp", "0", "--json"});
  EXPECT_NE(r.out.find("\"stop\":\"max\""), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("\"reply_tokens\":3"), std::string::npos) << r.out;
  const Ran none = chat({"-p", "Tell me a story", "--max", "0"});
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_EQ(none.out, "\n");
}

TEST(Chat, TheContextFillsUpAndTheOldestTurnsGo) {
  std::string in;
  for (int i = 0; i < 12; ++i) in += "Tell me a story\n";
  const Ran r = chat({"--temp", "0.7", "--seed", "5", "--ctx", "128"}, {.in = in});
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string note = "the context of 128 tokens is full";
  const size_t at = r.err.find(note);
  ASSERT_NE(at, std::string::npos) << r.err;
  EXPECT_EQ(r.err.find(note, at + 1), std::string::npos) << "said more than once";
  EXPECT_EQ(r.err.find("stopped: the context is full"), std::string::npos) << r.err;
}

TEST(Chat, ALonelyReplyEndsWithTheContext) {
  const Ran r = chat({"-p", "Tell me a story", "--ctx", "20", "--seed", "1"});
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.err.find("context 20 of 20 (stopped: the context is full)"), std::string::npos) << r.err;
}

TEST(Chat, APromptLongerThanTheContextIsRefused) {
  const Ran r = chat({"--ctx", "16", "-p", std::string(200, 'x'), "--quiet"});
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find(" 16"), std::string::npos) << r.err;
  const Ran ids = chat({"--ctx", "4", "--ids", "1,2,3,4,5", "--quiet"});
  EXPECT_EQ(ids.code, 1);
  EXPECT_EQ(ids.err, "chat: the prompt has 5 tokens, more than the context of 4\n");
}

TEST(Chat, BrokenTextAndSpecialsAreText) {
  for (const std::string text : {"\xff\xfe", "a\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc0\x80"}) {
    const Ran r = chat({"-p", text, "--temp", "0", "--quiet"});
    EXPECT_EQ(r.code, 0) << r.err;
    const Ran piped = chat({"--temp", "0", "--quiet"}, {.in = text + "\n"});
    EXPECT_EQ(piped.code, 0);
    EXPECT_EQ(piped.out, r.out);
  }
  const Ran nul = chat({"-f", "-", "--temp", "0", "--quiet"}, {.in = std::string("a\0b", 3)});
  EXPECT_EQ(nul.code, 0) << nul.err;
  EXPECT_EQ(chat({"--temp", "0", "--quiet"}, {.in = std::string("a\0b\n", 4)}).out, nul.out) << "a line of a conversation too";
  // a typed template is text: it takes many tokens, where the special would be one
  const Ran typed = chat({"-p", "<|end|><|assistant|>", "--max", "0", "--json", "--quiet"});
  const size_t at = typed.out.find("\"prompt_tokens\":");
  ASSERT_NE(at, std::string::npos);
  EXPECT_GE(std::stoi(typed.out.substr(at + 16)), 4 + 6) << typed.out;
  const Ran line = chat({"--max", "0", "--json", "--quiet"}, {.in = "<|end|><|assistant|>\n"}),
            file = chat({"-f", "-", "--max", "0", "--json", "--quiet"}, {.in = "<|end|><|assistant|>"});
  for (const Ran* r : {&line, &file})
    EXPECT_NE(r->out.find(typed.out.substr(at, typed.out.find(',', at) - at + 1)), std::string::npos) << r->out;
}

TEST(Chat, EmptyMessages) {
  EXPECT_EQ(chat({"-p", "", "--temp", "0", "--quiet"}).code, 0);
  EXPECT_EQ(chat({"--prompt=", "--temp", "0", "--quiet"}).code, 0);
  EXPECT_EQ(chat({"-p", "", "--raw", "--max", "3", "--quiet"}).code, 0) << "the model has a BOS to begin with";
  EXPECT_EQ(chat({"-p", "{}", "--temp", "0", "--quiet"}).code, 0);
}

TEST(Chat, OddWords) {
  // a value may look like an option, and a message like a seed-style word
  const Ran dash = chat({"-p", "--temp", "--temp", "0", "--quiet"});
  EXPECT_EQ(dash.code, 0) << dash.err;
  const Ran word = chat({"-p", "temp=5", "temp=0", "--quiet"});
  EXPECT_EQ(word.code, 0) << word.err;
  EXPECT_EQ(word.out, chat({"-p", "temp=5", "--temp", "0", "--quiet"}).out);
}

TEST(Chat, RawContinuesTheText) {
  const Ran r = chat({"--raw", "-p", "<|user|>", "--max", "5", "--temp", "0", "--json", "--quiet"});
  EXPECT_EQ(r.code, 0) << r.err;
  const Ran a = chat({"--raw", "-p", "Once upon a", "--max", "4", "--temp", "0", "--quiet"});
  EXPECT_EQ(a.code, 0);
  EXPECT_NE(a.out, chat({"-p", "Once upon a", "--max", "4", "--temp", "0", "--quiet"}).out);
}

TEST(Chat, AModelWithoutATemplateCompletes) {
  const std::string path = pocket_with("plain.mnm", [](std::string_view k, MetaValue&) { return k != key::chat_template; });
  const Ran r = chat({path, "-p", "Once upon a", "--max", "4", "--temp", "0"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("completion mode"), std::string::npos) << r.err;
  EXPECT_EQ(r.out, chat({"--raw", "-p", "Once upon a", "--max", "4", "--temp", "0", "--quiet"}).out);
  EXPECT_EQ(chat({path, "-p", "x", "--system", "y"}).code, 1);
  const Ran command = chat({path, "--quiet"}, {.in = "/system x\n"});
  EXPECT_NE(command.err.find("without a chat template"), std::string::npos) << command.err;
}

TEST(Chat, AModelWithoutATokenizerTakesIds) {
  const std::string path =
      pocket_with("bare.mnm", [](std::string_view k, MetaValue&) { return !k.starts_with("tok.") && k != key::chat_template; });
  const Ran r = chat({path, "--ids", "2043,2044,42", "--max", "3", "--temp", "0", "--quiet"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), ','), 2) << r.out;
  const Ran text = chat({path, "-p", "hello", "--quiet"});
  EXPECT_EQ(text.code, 1);
  EXPECT_NE(text.err.find("no tokenizer"), std::string::npos) << text.err;
  EXPECT_EQ(chat({path, "--quiet"}, {.in = "hello\n"}).code, 1);
  EXPECT_EQ(chat({path, "--eval", "x", "--quiet"}).code, 1);
}

}  // namespace
}  // namespace nyb::test
