// kept_test.cpp - weights that are kept: used again, and made anew where they are of no use; and those that are not.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include "kept_shape.h"
#include "kern/error.h"
#include "model/random_model.h"
#include "passing_file.h"
#include "support/data.h"
#include "sweep_model.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;
constexpr NamedShape kTiny{"tiny", "llama", 3, 96, 6, 2, 16, 172, 301, 64, false, 10000};

class Kept : public testing::Test {
 protected:
  Kept() : folder_(tmp_dir() / "kept") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  // Whether the model had to be made.
  bool made(TType type = TType::q8) {
    bool any = false;
    const auto m = kept_shape(
        folder_.string(), kTiny, type, [](const std::string& p) { return eng_load(p); }, [&](uint64_t, uint64_t) { any = true; });
    EXPECT_EQ(m->type_name, ttype_name(type));
    EXPECT_TRUE(model_verify(*m).empty());
    return any;
  }
  std::string only() const {  // the one file
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}), 1);
    return fs::directory_iterator(folder_)->path().string();
  }
  void write_at(std::streamoff at, const std::string& text) const {
    std::fstream f(only(), std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(at, at < 0 ? std::ios::end : std::ios::beg);
    f << text;
  }
  fs::path folder_;
};

TEST_F(Kept, IsMadeOnce) {
  EXPECT_TRUE(made());
  EXPECT_FALSE(made());
  EXPECT_NE(only().find("tiny-q8.v2."), std::string::npos) << only();
}

TEST_F(Kept, WhatIsDamagedIsMadeAnew) {
  EXPECT_TRUE(made());
  write_at(0, "nonsense");
  EXPECT_TRUE(made()) << "a header";
  write_at(-200, "other weights");
  EXPECT_TRUE(made()) << "weights, which are all read";
  fs::resize_file(only(), 5000);
  EXPECT_TRUE(made()) << "cut";
  NamedShape other = kTiny;
  other.ffn = 160;
  random_model(only(), other, TType::q8, TType::q8);
  EXPECT_TRUE(made()) << "another shape";
  random_model(only(), kTiny, TType::q4, TType::q4);
  EXPECT_TRUE(made()) << "another type";
  EXPECT_FALSE(made());
}

TEST_F(Kept, OtherVersionsGo) {
  for (const char* name : {"tiny-q8.mnm", "tiny-q8.v1.7.mnm"}) std::ofstream(folder_ / name) << "old";
  EXPECT_TRUE(made());
  only();
  EXPECT_TRUE(made(TType::q4));
  EXPECT_FALSE(made()) << "another type stays";
}

// The cache folder of this process, without a file.
fs::path no_cache() {
  const fs::path cache = tmp_dir() / "passing";
  fs::remove_all(cache);
  setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  return cache / "nybble" / "shapes";
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> all;
  std::error_code none;
  for (const fs::directory_entry& e : fs::directory_iterator(folder, none)) all.push_back(e.path().filename().string());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Passing, GoesHoweverItEnds) {
  const fs::path folder = tmp_dir();
  std::string path;
  try {
    const PassingFile f(folder.string(), "tiny-q8");
    path = f.path();
    std::ofstream(path) << "weights";
    throw Error("it cannot be loaded");
  } catch (const Error&) {
    EXPECT_EQ(path, (folder / ("tiny-q8." + std::to_string(getpid()) + ".mnm")).string());
    EXPECT_FALSE(fs::exists(path));
  }
}

// No process has the greatest number: Linux gives at most 2^22.
TEST(Passing, WhatTheDeadLeftGoes) {
  const fs::path folder = no_cache();
  fs::create_directories(folder);
  const std::string own = std::to_string(getpid());
  std::vector<std::string> stay = {"qwen2.5-7b-q4.v2.1.mnm", "126m-q4.2147483647.mnm.txt", "126m-q4.mnm",
                                   "126m.2147483647.mnm",    "126m-q4." + own + ".mnm",    ".nybble-" + own + "-0.tmp"};
  for (const std::string& name : stay) std::ofstream(folder / name) << "x";
  for (const char* name : {"126m-q4.2147483647.mnm", "qwen2.5-0.5b-q8_0.2147483647.mnm", ".nybble-2147483647-0.tmp"})
    std::ofstream(folder / name) << "x";
  passing_files_tidy(folder.string());
  std::sort(stay.begin(), stay.end());
  EXPECT_EQ(names_in(folder), stay);
}

TEST(Passing, AShapeLeavesNothing) {
  const fs::path folder = no_cache();
  fs::create_directories(folder);
  std::ofstream(folder / "126m-q8.2147483647.mnm") << "x";
  EXPECT_EQ(shape_model("126m", TType::q4, LoadMode::map).model->type_name, "q4");
  EXPECT_EQ(names_in(folder), std::vector<std::string>());
}

TEST(Passing, WithoutHugePagesNothingIsWritten) {
  const fs::path folder = no_cache();
  ASSERT_EQ(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
  EXPECT_THROW(shape_model("126m", TType::q4, LoadMode::huge), Error);
  ASSERT_EQ(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0);
  EXPECT_FALSE(fs::exists(folder)) << testing::PrintToString(names_in(folder));
}

}  // namespace
}  // namespace nyb::test
