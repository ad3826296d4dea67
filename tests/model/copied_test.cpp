// copied_test.cpp - a file read into memory: the same bytes, at every length around pages and parts, and what ends it.
#include "model/copied_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "hf_folder.h"
#include "mnm_edit.h"
#include "model/model.h"
#include "support/data.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;
using test::message_of;
using test::says;

std::string bytes_of(size_t n) {
  std::string s(n, '\0');
  uint32_t x = 1;
  for (char& c : s) c = static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  return s;
}

TEST(Copied, TheSameBytesAtEveryLength) {
  constexpr size_t kMiB = size_t{1} << 20;
  for (const size_t n : {size_t{1}, size_t{4095}, size_t{4097}, 2 * kMiB, 2 * kMiB + 1, 8 * kMiB, 8 * kMiB + 1, 17 * kMiB - 3}) {
    const std::string all = bytes_of(n);
    const fs::path p = test::write_file(test::tmp_dir() / "copied.bin", all);
    std::vector<uint64_t> seen;
    const CopiedFile f(p.string(), [&](uint64_t done, uint64_t total) {
      EXPECT_EQ(total, n);
      seen.push_back(done);
    });
    ASSERT_EQ(f.bytes().size(), n);
    EXPECT_EQ(std::memcmp(f.bytes().data(), all.data(), n), 0) << n;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(f.bytes().data()) % (2 * kMiB), 0u) << "a huge page begins there";
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_EQ(seen.back(), n);
  }
}

TEST(Copied, ProgressMayEndIt) {
  const fs::path p = test::write_file(test::tmp_dir() / "ended.bin", bytes_of(size_t{20} << 20));
  struct Enough {};
  int calls = 0;
  EXPECT_THROW(CopiedFile(p.string(), [&](uint64_t, uint64_t) { throw(++calls, Enough{}); }), Enough);
  EXPECT_EQ(calls, 1);
}

TEST(Copied, WhatCannotBeReadIsNamed) {
  const auto open = [](const fs::path& p) { return message_of([&] { CopiedFile(p.string(), {}); }); };
  EXPECT_TRUE(says(open(test::tmp_dir()), "this is a folder, not a file"));
  EXPECT_TRUE(says(open("/nowhere.mnm"), "/nowhere.mnm: cannot open it: No such file"));
  EXPECT_TRUE(says(open(test::write_file(test::tmp_dir() / "none.bin", "")), "the file is empty"));
  EXPECT_TRUE(says(open("/dev/zero"), "this is a device, not a file"));
}

TEST(Copied, AModelIsTheSameAndOutlivesItsFile) {
  const fs::path p = test::tmp_dir() / "gone.mnm";
  fs::copy_file(test::tiny_mnm("tiny", "q8", "f32", false), p, fs::copy_options::overwrite_existing);
  const auto mapped = eng_load(p.string()), copied = eng_load(p.string(), {.mode = LoadMode::huge});
  EXPECT_EQ(mapped->load, LoadMode::map);
  EXPECT_EQ(copied->load, LoadMode::huge);
  EXPECT_GT(copied->read_seconds, 0);
  ASSERT_EQ(copied->tensors.size(), mapped->tensors.size());
  for (size_t i = 0; i < mapped->tensors.size(); i++) {
    ASSERT_EQ(copied->tensors[i].bytes, mapped->tensors[i].bytes);
    EXPECT_EQ(std::memcmp(copied->tensors[i].data, mapped->tensors[i].data, mapped->tensors[i].bytes), 0);
  }
  fs::resize_file(p, 10);
  EXPECT_TRUE(model_verify(*copied).empty());
}

}  // namespace
}  // namespace nyb
