// list_test.cpp - lists and ranges of numbers.
#include "list.h"
#include <gtest/gtest.h>
#include "kern/error.h"

namespace nyb {
namespace {

using Numbers = std::vector<uint32_t>;

TEST(List, NumbersAndRanges) {
  EXPECT_EQ(read_list("-t", "4", 1, 64), (Numbers{4}));
  EXPECT_EQ(read_list("-t", "1,2,8", 1, 64), (Numbers{1, 2, 8}));
  EXPECT_EQ(read_list("-t", "1-4", 1, 64), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(read_list("-t", "1-9+4", 1, 64), (Numbers{1, 5, 9}));
  EXPECT_EQ(read_list("-t", "1-10+4", 1, 64), (Numbers{1, 5, 9}));
  EXPECT_EQ(read_list("-t", "1-16*2", 1, 64), (Numbers{1, 2, 4, 8, 16}));
  EXPECT_EQ(read_list("-t", "1-2,8-10", 1, 64), (Numbers{1, 2, 8, 9, 10}));
  EXPECT_EQ(read_list("-t", "2,1,1-4,2", 1, 64), (Numbers{2, 1, 3, 4})) << "nothing is measured twice";
  EXPECT_EQ(read_list("-d", "0", 0, 64), (Numbers{0}));
  EXPECT_EQ(read_list("-d", "4294967295-4294967295+4294967295", 0, UINT32_MAX), (Numbers{UINT32_MAX}));
}

TEST(List, WhatIsNoneIsNamed) {
  for (const char* bad :
       {"", ",", "1,", "x", "-1", "4-1", "1-4*1", "1-4+0", "0-4*2", "1-", "1-2-3", "65", "1-65", "1.5", "1-4/2", "0x2", " 1"})
    try {
      read_list("--threads", bad, 0, 64);
      ADD_FAILURE() << bad;
    } catch (const Error& e) { EXPECT_NE(std::string(e.what()).find("--threads"), std::string::npos) << e.what(); }
  EXPECT_THROW(read_list("-d", "0-2000", 0, 4000), Error);
  EXPECT_THROW(read_words("--shape", "a,,b"), Error);
  EXPECT_EQ(read_words("--shape", "a,b,a"), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace nyb
