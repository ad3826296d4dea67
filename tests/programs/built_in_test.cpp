// built_in_test.cpp - the built-in model, looked for beside the program's own folder: what is said where it is not of use.
#include <gtest/gtest.h>
#include <filesystem>
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;

// A copy of the program in ROOT/bin, and where it looks for the model.
struct Installed {
  explicit Installed(const std::string& name) : root(tmp_dir() / name), model(root / "share" / "nybble" / "pocket.mnm") {
    fs::create_directories(root / "bin");
    fs::create_directories(model.parent_path());
    fs::copy_file(program("chat"), root / "bin" / "chat");
  }
  Ran chat(const Args& more = {}) const {
    Args a{(root / "bin" / "chat").string(), "-p", "hello", "--temp", "0", "--max", "3", "--quiet"};
    a.insert(a.end(), more.begin(), more.end());
    return run(a);
  }
  fs::path root, model;
};

TEST(BuiltIn, IsFoundBesideTheProgram) {
  const Installed i("whole");
  fs::copy_file(pocket_model(), i.model);
  const Ran r = i.chat();
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, chat({"-p", "hello", "--temp", "0", "--max", "3", "--quiet"}).out);
}

TEST(BuiltIn, IsNotThere) {
  const Installed i("bare");
  Ran r = i.chat();
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.err, "chat: the built-in model is not at '" + i.model.string() + "'; name a model file, or set NYBBLE_MODEL\n");
  r = i.chat({pocket_model()});
  EXPECT_EQ(r.code, 0) << r.err;
  r = run({(i.root / "bin" / "chat").string(), "-p", "hello", "--max", "1", "--quiet"},
          {.env = {"NYBBLE_MODEL=" + pocket_model()}});
  EXPECT_EQ(r.code, 0) << r.err;
}

TEST(BuiltIn, IsALinkToNothing) {
  const Installed i("link");
  fs::create_symlink("lost.mnm", i.model);
  const Ran r = i.chat();
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.err, "chat: " + i.model.string() + ": this symbolic link leads nowhere\n");
}

}  // namespace
}  // namespace nyb::test
