// kept_test.cpp - weights that are kept: used again, and made anew where they are of no use.
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include "kept_shape.h"
#include "model/random_model.h"
#include "support/data.h"

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

}  // namespace
}  // namespace nyb::test
