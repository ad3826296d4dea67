// peer_test.cpp - another program run to its end, and the figures found in what it writes.
#include <gtest/gtest.h>
#include <csignal>
#include "common/child.h"
#include "kern/error.h"
#include "peer_figures.h"
#include "support/build.h"

namespace nyb::test {
namespace {

using Words = std::vector<std::string>;
constexpr std::chrono::seconds kLong{60 * kPatience};

ChildResult sh(const std::string& script, std::string_view in = {}, std::chrono::milliseconds limit = kLong) {
  return run_child({"/bin/sh", "-c", script}, in, limit);
}

TEST(Child, Words) {
  EXPECT_EQ(command_words("a b  c\t'd e' \"f g\" h\\ i"), (Words{"a", "b", "c", "d e", "f g", "h i"}));
  EXPECT_EQ(command_words(R"(x 'a\b"c' "d\"e'f" g'h'"i"'' '')"), (Words{"x", "a\\b\"c", "d\"e'f", "ghi", ""}));
  EXPECT_EQ(command_words("  p $HOME `id` *;|&>x \\"), (Words{"p", "$HOME", "`id`", "*;|&>x", "\\"})) << "no shell looks at it";
  for (const char* bad : {"", "  ", "a 'b", "a \"b", "''"}) EXPECT_THROW(command_words(bad), Error) << bad;
}

TEST(Child, InOutAndCode) {
  const ChildResult r = sh("cat; echo err >&2; exit 3", "some text");
  EXPECT_EQ(r.out, "some text");
  EXPECT_EQ(r.err, "err\n");
  EXPECT_EQ(r.code, 3);
  EXPECT_FALSE(r.good());
  EXPECT_EQ(child_fault(r, kLong), "ended with exit code 3");
  EXPECT_EQ(child_said(r), "  | err\n");
  EXPECT_TRUE(sh("true").good());
  EXPECT_THROW(run_child({"/no/such/program"}, {}, kLong), Error);
}

// Far more than a pipe holds, both ways at once.
TEST(Child, MuchText) {
  signal(SIGPIPE, SIG_IGN);  // as the programs do
  const std::string much(3 << 20, 'x');
  EXPECT_EQ(sh("cat", much).out, much);
  EXPECT_TRUE(sh("exec 0<&-; echo done", much).good()) << "a child that reads nothing";
  EXPECT_THROW(sh("cat /dev/zero"), Error) << "without end";
}

TEST(Child, SignalsAndTime) {
  const ChildResult killed = sh("kill -9 $$");
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(child_fault(killed, kLong), "was ended by signal 9 (Killed)");
  const ChildResult late = sh("sleep 1000", {}, std::chrono::milliseconds(100));
  EXPECT_TRUE(late.late);
  EXPECT_EQ(child_fault(late, std::chrono::milliseconds(1500)), "took longer than 1.5 s");
}

// A child of the child goes with it, and is not waited for.
TEST(Child, NothingGoesOn) {
  const ChildResult r = sh("sleep 1000 & echo $!");
  ASSERT_TRUE(r.good());
  const pid_t left = std::stoi(r.out);
  for (int i = 0; i < 1000 * kPatience && kill(left, 0) == 0; ++i) usleep(10000);
  EXPECT_NE(kill(left, 0), 0);
}

TEST(Child, IsFoundInPath) {
  EXPECT_TRUE(child_found("sh"));
  EXPECT_TRUE(child_found("/bin/sh"));
  EXPECT_FALSE(child_found("no such program"));
  EXPECT_FALSE(child_found("./sh"));
}

TEST(FigurePattern, FindsOneNumber) {
  EXPECT_EQ(FigurePattern("speed: ([0-9.]+)").find("a\nspeed: 12.5 tok/s\n"), 12.5);
  EXPECT_EQ(FigurePattern("^([0-9]+)$").find("a\n7\nb"), 7);
  EXPECT_EQ(FigurePattern("(?:x|y)=(\\S+)").find("\xff y=3e2"), 300);
  EXPECT_EQ(FigurePattern("z([0-9])").find("a"), std::nullopt);
  EXPECT_EQ(FigurePattern("z([0-9])").find(""), std::nullopt);
  EXPECT_THROW(FigurePattern("([0-9]+)").find("1 2"), Error) << "two places";
  for (const char* text : {"v=x", "v=", "v=0", "v=-1", "v=nan", "v=inf", "v=1,5", "v=1e308", "v=1e-300"})
    EXPECT_THROW(FigurePattern("v=(.*)").find(text), Error) << text;
  EXPECT_THROW(FigurePattern("v(1)?").find("v"), Error) << "a group that took no part";
  for (const char* bad : {"(", "no group", "(a)(b)"}) EXPECT_THROW(FigurePattern{bad}, Error) << bad;
  EXPECT_THROW(FigurePattern("((?:a+)+)[bc]").find(std::string(50, 'a')), Error) << "exponential, and bounded";
}

TEST(JsonFigures, OfLlamaBench) {
  const auto f = json_figures(R"( [{"build_commit":"x","n_threads":2,"n_prompt":0,"n_gen":64,"avg_ts":10,"samples_ts":[9,11]},
    {"n_threads":2,"n_prompt":128,"n_gen":0,"n_depth":512,"avg_ts":100.5}])",
                              "the peer");
  ASSERT_EQ(f.size(), 2u);
  EXPECT_EQ(f[0].samples, (std::vector<double>{9, 11}));
  EXPECT_EQ(f[0].name(), "tg64 with 2 threads");
  EXPECT_EQ(f[1].samples, std::vector<double>{100.5});
  EXPECT_EQ(f[1].name(), "pp128 @ d512 with 2 threads");
  SweepRow r;
  r.gen = 64;
  r.threads = 2;
  EXPECT_TRUE(f[0].fits(r));
  EXPECT_FALSE(f[1].fits(r));
  for (SweepRow other : {r, r, r}) {
    static int which = 0;
    (which == 0 ? other.gen : which == 1 ? other.depth : other.threads) = 1;
    ++which;
    EXPECT_FALSE(f[0].fits(other));
  }
  EXPECT_TRUE(PeerFigure{}.fits(r)) << "what is not said fits";
}

TEST(JsonFigures, WhatIsWrong) {
  EXPECT_TRUE(json_figures("", "p").empty());
  EXPECT_TRUE(json_figures("10 tok/s", "p").empty());
  for (const char* bad :
       {"[", "[1]", R"([{"n_gen":1,"avg_ts":1}])", R"([{"n_gen":1,"n_prompt":0}])", R"([{"n_gen":-1,"n_prompt":0,"avg_ts":1}])",
        R"([{"n_gen":1,"n_prompt":0,"avg_ts":0}])", R"([{"n_gen":1,"n_prompt":0,"samples_ts":[0]}])",
        R"([{"n_gen":1,"n_prompt":0,"samples_ts":[1e308]}])", R"([{"n_gen":4294967296,"n_prompt":0,"avg_ts":1}])", "{}"})
    EXPECT_THROW(json_figures(bad, "p"), Error) << bad;
}

}  // namespace
}  // namespace nyb::test
