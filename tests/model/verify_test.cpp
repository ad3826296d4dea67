// Files of other kinds, and the checksums of tensors.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hf_folder.h"
#include "mnm_edit.h"
#include "model/model.h"
#include "support/data.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;
using test::load_message;
using test::message_of;
using test::MnmEdit;
using test::says;
using test::tiny_file;

TEST(Load, OtherKindsOfFiles) {
  const fs::path dir = test::tmp_dir();
  const auto message = [&](const fs::path& p) { return message_of([&] { eng_load(p.string()); }); };
  EXPECT_TRUE(says(message(dir / "absent.mnm"), "absent.mnm: cannot open it: No such file"));
  EXPECT_TRUE(says(message(dir), "this is a folder, but not of a model (it has no config.json)"));
  EXPECT_TRUE(says(message(test::write_file(dir / "empty.mnm", "")), "the file is empty"));
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  EXPECT_TRUE(says(message(dir / "fifo"), "this is a FIFO"));
  EXPECT_TRUE(says(message("/dev/null"), "this is a device"));
  EXPECT_TRUE(says(message(""), "cannot open it"));
  EXPECT_TRUE(
      says(load_message("MNMODEL1" + std::string(5000, '\0')), "version 1 model file (MNMODEL1), from which quantize makes"));
  EXPECT_TRUE(says(load_message("GGUF" + std::string(100, '\0')), "GGUF file; quantize converts"));
  EXPECT_TRUE(says(load_message(test::safetensors("{}", "")), "this is a safetensors file; quantize converts its whole folder"));
  EXPECT_TRUE(says(load_message("hello"), "not a model file (it begins with \"hello\""));
  EXPECT_TRUE(says(load_message("MNMODEL"), "not a model file"));
  EXPECT_TRUE(says(load_message("MNMODEL3" + std::string(5000, '\0')), "begins with \"MNMODEL3\""));
  EXPECT_TRUE(says(load_message("MNMODEL2"), "ends after 8 bytes"));
}

TEST(Load, NoPermission) {
  const fs::path p = test::write_file(test::tmp_dir() / "secret.mnm", tiny_file());
  fs::permissions(p, fs::perms::none);
  fs::permissions(test::tmp_dir(), fs::perms::all);
  EXPECT_EXIT(
      {
        if (geteuid() == 0 && seteuid(65534) != 0) _exit(9);  // root may read everything
        const std::string m = message_of([&] { eng_load(p.string()); });
        _exit(says(m, "cannot open it: Permission denied") ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(Load, PathsWithSpacesAndOtherLetters) {
  const fs::path p = test::write_file(test::tmp_dir() / "größe und 模型 #1" / "ein modell.mnm", tiny_file());
  const auto m = eng_load(p.string());
  EXPECT_EQ(m->path, p.string());
  EXPECT_EQ(m->name, "tiny-hf");
}

TEST(Verify, EveryTensorIsCompared) {
  const fs::path p = test::tmp_dir() / "verify.mnm";
  MnmEdit e{tiny_file()};
  for (size_t i = 0; i < e.table_count(); i++) {
    const std::string name = e.bytes.data() + e.entry(i);
    const auto at = e.get<uint64_t>(e.entry(i) + 88), n = e.get<uint64_t>(e.entry(i) + 96);
    for (const uint64_t where : {at, at + n / 2 / 4 * 4, at + n - 4}) {
      MnmEdit c{tiny_file()};
      c.bytes[where] = static_cast<char>(c.bytes[where] ^ 1);
      test::write_file(p, c.bytes);
      EXPECT_EQ(model_verify(*eng_load(p.string())), std::vector<std::string>{name}) << where;
    }
    if (n % 64 != 0) {
      MnmEdit c{tiny_file()};
      c.bytes[at + n] = 1;
      test::write_file(p, c.bytes);
      EXPECT_EQ(model_verify(*eng_load(p.string())), std::vector<std::string>{name + " (the padding after it is not zero)"});
    }
  }
}

}  // namespace
}  // namespace nyb
