// data.h - where the tests' inputs are.
#pragma once
#include <gtest/gtest.h>
#include <filesystem>
#include <string>

namespace nyb::test {

std::filesystem::path source_dir();  // of the project
std::filesystem::path binary_dir();  // of this build
std::filesystem::path pocket_dir();  // models/pocket
std::filesystem::path data_dir();    // NYBBLE_DATA, else ../shared/data beside the source; empty when there is none
std::filesystem::path tmp_dir();     // a fresh folder of this test process, removed at exit
std::string read_file(const std::filesystem::path& p);

}  // namespace nyb::test

// Skips the test, visibly, where the real inputs are absent.
#define NYB_NEED_DATA() \
  if (nyb::test::data_dir().empty()) GTEST_SKIP() << "no ../shared/data and no NYBBLE_DATA"
