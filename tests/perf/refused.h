// refused.h - a kernel that gives other bits is not timed.
#pragma once
#include <gtest/gtest.h>
#include <string>
#include "kern/error.h"

namespace nyb::test {

// Runs `measure`, which has to end with an error that names the path and the kernel.
template <class F>
void expect_refused(F&& measure, const std::string& path, const std::string& kernel) {
  try {
    measure();
    ADD_FAILURE() << "a wrong path was timed";
  } catch (const Error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find(path), std::string::npos) << what;
    EXPECT_NE(what.find(kernel), std::string::npos) << what;
  }
}

}  // namespace nyb::test
