// Names that the system refuses: a sentence, as for any other file that cannot be opened.
#include <gtest/gtest.h>
#include <unistd.h>

#include "hf_folder.h"
#include "model/model.h"
#include "model/source.h"
#include "model/writer.h"
#include "support/data.h"

namespace nyb {
namespace {
using test::message_of;
using test::says;

TEST(Names, LongerThanTheSystemTakes) {
  for (const size_t n : {size_t{300}, size_t{5000}}) {
    const std::string name = (test::tmp_dir() / std::string(n, 'n')).string();
    EXPECT_TRUE(says(message_of([&] { eng_load(name); }), name + ": cannot open it: File name too long"));
    EXPECT_TRUE(says(message_of([&] { hf_open(name); }), name + ": "));
    EXPECT_TRUE(says(message_of([&] { output_check(name + "/x.mnm"); }), name));
  }
}

// A file where a folder belongs, and a link that leads to itself.
TEST(Names, ThatLeadNowhere) {
  const std::filesystem::path file = test::write_file(test::tmp_dir() / "plain", "x"), loop = test::tmp_dir() / "loop";
  std::filesystem::create_symlink(loop, loop);
  EXPECT_TRUE(says(message_of([&] { eng_load((file / "x.mnm").string()); }), "cannot open it: Not a directory"));
  EXPECT_TRUE(says(message_of([&] { eng_load(loop.string()); }), "cannot open it: Too many levels of symbolic links"));
  EXPECT_TRUE(says(message_of([&] { hf_open(loop.string()); }), "loop: cannot look at it: Too many levels of symbolic links"));
  EXPECT_TRUE(says(message_of([&] { output_check((loop / "x.mnm").string()); }), "cannot look at it: Too many levels"));
  EXPECT_TRUE(
      says(message_of([&] { output_check((file / "x.mnm").string()); }), "plain, where it is to be written, is not a folder"));
}

// Parts of a model's folder that got lost are not parts that it never had.
TEST(Names, OfPartsThatAreLinksToNothing) {
  for (const char* part : {"config.json", "model.safetensors", "model.safetensors.index.json"}) {
    const std::filesystem::path dir =
        test::tiny_model().write(std::string("lost-") + part, std::string_view(part).ends_with("index.json") ? 2 : 1);
    ASSERT_TRUE(std::filesystem::remove(dir / part));
    std::filesystem::create_symlink(dir / "nowhere", dir / part);
    EXPECT_TRUE(says(message_of([&] { hf_open(dir.string()); }), (dir / part).string() + ": this symbolic link leads nowhere"));
  }
}

// A folder that this user may not look into: what is in it is not called absent.
TEST(Names, OfPlacesThatMayNotBeLookedInto) {
  const std::filesystem::path dir = test::tiny_model().write("closed");
  std::filesystem::permissions(test::tmp_dir(), std::filesystem::perms::all);
  std::filesystem::permissions(dir, std::filesystem::perms::none);
  EXPECT_EXIT(
      {
        if (geteuid() == 0 && seteuid(65534) != 0) _exit(9);  // root may look anywhere
        const auto denied = [](const std::string& m, const std::filesystem::path& p) {
          return static_cast<bool>(says(m, p.string() + ": cannot look at it: Permission denied"));
        };
        if (!denied(message_of([&] { hf_open(dir.string()); }), dir / "config.json")) _exit(1);
        if (!denied(message_of([&] { hf_open((dir / "in").string()); }), dir / "in")) _exit(2);
        if (!denied(message_of([&] { output_check((dir / "x.mnm").string()); }), dir / "x.mnm")) _exit(3);
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "");
  std::filesystem::permissions(dir, std::filesystem::perms::all);
}

}  // namespace
}  // namespace nyb
