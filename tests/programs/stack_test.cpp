// stack_test.cpp - that the programs get along with a small stack, as some systems give it.
#include <gtest/gtest.h>
#include "programs.h"
#include "support/build.h"

namespace nyb::test {
namespace {

constexpr int kKilobytes = kSanitized ? 512 : 64;  // sanitizers spend much more stack than the programs do

Ran with_small_stack(const std::string& arguments, const std::string& in = {}) {
  return run({"/bin/sh", "-c",
              "ulimit -s " + std::to_string(kKilobytes) + " && exec " + program("chat") + " --temp 0 --max 3 --threads 3 --quiet " +
                  arguments},
             {.in = in});
}

TEST(Stack, ASmallOneDoes) {
  const Ran wanted = chat({"-p", "hello", "--temp", "0", "--max", "3", "--quiet"});
  ASSERT_EQ(wanted.code, 0) << wanted.err;
  for (const Ran& r : {with_small_stack("-p hello"), with_small_stack("-f -", "hello"), with_small_stack("", "hello\n")}) {
    EXPECT_EQ(r.code, 0) << "signal " << r.signal << ": " << r.err;
    EXPECT_EQ(r.out, wanted.out);
  }
}

}  // namespace
}  // namespace nyb::test
