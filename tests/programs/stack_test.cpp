// stack_test.cpp - that the programs get along with a small stack, as some systems give it.
#include <gtest/gtest.h>
#include "programs.h"

namespace nyb::test {
namespace {

// Sanitizers spend much more stack than the programs do.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NYB_LARGE_FRAMES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define NYB_LARGE_FRAMES 1
#endif
#endif

Ran with_small_stack(const std::string& arguments, const std::string& in = {}) {
  return run({"/bin/sh", "-c", "ulimit -s 64 && exec " + program("chat") + " --temp 0 --max 3 --threads 3 --quiet " + arguments},
             {.in = in});
}

TEST(Stack, SixtyFourKilobytesDo) {
#ifdef NYB_LARGE_FRAMES
  GTEST_SKIP() << "a sanitizer needs a larger stack";
#endif
  const Ran wanted = chat({"-p", "hello", "--temp", "0", "--max", "3", "--quiet"});
  ASSERT_EQ(wanted.code, 0) << wanted.err;
  for (const Ran& r : {with_small_stack("-p hello"), with_small_stack("-f -", "hello"), with_small_stack("", "hello\n")}) {
    EXPECT_EQ(r.code, 0) << "signal " << r.signal << ": " << r.err;
    EXPECT_EQ(r.out, wanted.out);
  }
}

}  // namespace
}  // namespace nyb::test
