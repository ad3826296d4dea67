// A GGUF from quantize to the text that is known of it, and what fit says of it.
#include <gtest/gtest.h>

#include <filesystem>

#include "model/model.h"
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {
namespace fs = std::filesystem;

fs::path stories(const std::string& file) { return data_dir() / "stories260K" / file; }

TEST(GgufPrograms, ToldAsItIsKnown) {
  NYB_NEED_DATA();
  const std::string out = (tmp_dir() / "gguf-stories.mnm").string();
  const Ran made = run({program("quantize"), stories("stories260K-f32.gguf").string(), out});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.out.find("f32"), std::string::npos) << made.out;
  EXPECT_EQ(eng_load(out)->type_name, "f32");  // kept
  const Ran told = chat({out, "--raw", "-p", "", "--temp", "0", "--max", "255", "--quiet"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out, read_file(stories("expected.txt")) + "\n");
}

TEST(GgufPrograms, TypesAreAskedFor) {
  NYB_NEED_DATA();
  const std::string in = stories("stories260K-f32.gguf").string(), out = (tmp_dir() / "gguf-asked.mnm").string();
  const auto type = [&](const Args& more) {
    Args args{program("quantize"), in, out, "--quiet"};
    args.insert(args.end(), more.begin(), more.end());
    const Ran r = run(args);
    EXPECT_EQ(r.code, 0) << r.err;
    return eng_load(out)->type_name;
  };
  EXPECT_EQ(type({"--type", "q8"}), "q8");
  EXPECT_EQ(type({"--head", "q4"}), "f32 (head q4)");
  EXPECT_EQ(type({"--type", "q4", "--head", "keep"}), "q4 (head f32)");
}

TEST(GgufPrograms, FitTellsWhatItTakes) {
  NYB_NEED_DATA();
  const Ran r = run({program("fit"), stories("stories260K-f32.gguf").string(), "--no-measure"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("stories260K: GGUF file, 260K parameters, 5 layers, context 512"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("\nkeep: f32 "), std::string::npos) << r.out;
}

}  // namespace
}  // namespace nyb::test
