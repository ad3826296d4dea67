// identity_test.cpp - one answer, whatever runs it: the whole program on every path, thread count and chunk size.
#include <gtest/gtest.h>
#include "kern/cpu.h"
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

const Args kStory{"-p", "Tell me a story", "--seed", "1", "--quiet", "--fingerprint"};

Args with(Args base, std::initializer_list<std::string> more) {
  base.insert(base.end(), more);
  return base;
}

const Ran& story() {
  static const Ran r = chat(with(kStory, {"--kernel", "ref", "--threads", "1", "--chunk", "1"}));
  return r;
}

class OnPath : public testing::TestWithParam<Path> {};

// vnni and vnni8 run in the test-only program that emulates their instructions where this CPU lacks them.
TEST_P(OnPath, ThreadsAndChunks) {
  const Path path = GetParam();
  const std::string missing = cpu_missing(cpu_here(), path);
  const bool emulated = (path == Path::vnni || path == Path::vnni8) && cpu_missing(cpu_here(), Path::avx2).empty();
  if (!missing.empty() && !emulated) GTEST_SKIP() << "this CPU lacks " << missing;
  Args base{program(missing.empty() ? "chat" : "chat_emu")};
  base.insert(base.end(), kStory.begin(), kStory.end());
  ASSERT_EQ(story().code, 0) << story().err;
  ASSERT_GT(story().out.size(), 50u);
  for (const char* threads : {"1", "2", "3", "8"})
    for (const char* chunk : {"1", "7", "512"}) {
      const Ran r = run(with(base, {"--kernel", std::string(path_name(path)), "--threads", threads, "--chunk", chunk}),
                        {.env = {"NYBBLE_MODEL=" + pocket_model()}});
      EXPECT_EQ(r.out, story().out) << threads << " threads, chunks of " << chunk;
      EXPECT_TRUE(r.err.starts_with(story().err)) << threads << " threads, chunks of " << chunk << ": " << r.err;
      if (missing.empty()) continue;
      EXPECT_NE(r.err.find("chat_emu: "), std::string::npos) << r.err;
      EXPECT_EQ(r.err.find("chat_emu: 0 sites"), std::string::npos) << "nothing was emulated: another path ran";
    }
}

INSTANTIATE_TEST_SUITE_P(Identity, OnPath, testing::ValuesIn(kAllPaths),
                         [](const auto& info) { return std::string(path_name(info.param)); });

TEST(Identity, TheFingerprintTellsCacheTypesApart) {
  const Ran f32 = chat(kStory), f16 = chat(with(kStory, {"--kv", "f16"}));
  EXPECT_NE(fingerprint_of(f32.err), fingerprint_of(f16.err));
  EXPECT_NE(f16.err.find("; cache f16\n"), std::string::npos) << f16.err;
  EXPECT_EQ(f16.err, chat(with(kStory, {"kv=f16", "kernel=ref", "chunk=3", "threads=3"})).err);
}

TEST(Identity, TheEnvironmentChoosesToo) {
  const Ran r = chat({"-p", "hello", "--temp", "0"}, {.env = {"NYBBLE_KERNEL=ref", "NYBBLE_THREADS=3"}});
  EXPECT_NE(r.err.find("kernel ref ("), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("; 3 threads ("), std::string::npos) << r.err;
  EXPECT_EQ(chat({"-p", "x"}, {.env = {"NYBBLE_KERNEL=fast"}}).code, 1);
  EXPECT_EQ(chat({"-p", "x"}, {.env = {"NYBBLE_THREADS=-1"}}).code, 1);
  EXPECT_EQ(chat({"-p", "x"}, {.env = {"NYBBLE_MODEL=/nowhere.mnm"}}).code, 1);
}

// It predicts what chat would do.
TEST(Environment, FitHasItToo) {
  const auto fit = [](const std::vector<std::string>& env, const Args& more = {}) {
    Args all{program("fit"), pocket_model(), "--no-measure", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all, {.env = env});
  };
  const Ran r = fit({"NYBBLE_KERNEL=ref", "NYBBLE_THREADS=3"});
  EXPECT_NE(r.out.find("\"kernel\": \"ref\""), std::string::npos) << r.out << r.err;
  EXPECT_NE(r.out.find("\"threads\": 3"), std::string::npos) << r.out << r.err;
  EXPECT_NE(fit({"NYBBLE_THREADS=3"}, {"--threads", "1"}).out.find("\"threads\": 1"), std::string::npos);
  EXPECT_EQ(fit({"NYBBLE_KERNEL=fast"}).code, 1);
  EXPECT_EQ(fit({"NYBBLE_THREADS=-1"}).code, 1);
  EXPECT_EQ(fit({"NYBBLE_KERNEL=", "NYBBLE_THREADS="}).code, 0) << "empty is not set";
}

}  // namespace
}  // namespace nyb::test
