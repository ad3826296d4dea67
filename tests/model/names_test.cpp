// Names that the system refuses: a sentence, as for any other file that cannot be opened.
#include <gtest/gtest.h>

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
  EXPECT_TRUE(says(message_of([&] { hf_open(loop.string()); }), "loop: this is not a folder"));
  EXPECT_NE(message_of([&] { output_check((loop / "x.mnm").string()); }), "");
}

}  // namespace
}  // namespace nyb
