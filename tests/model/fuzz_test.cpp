// Random damage with right checksums: whatever the bytes, eng_load loads the file or throws one sentence.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>

#include "hf_folder.h"
#include "mnm_edit.h"
#include "model/meta_io.h"
#include "model/model.h"
#include "random_damage.h"
#include "support/data.h"

namespace nyb {
namespace {
using test::MnmEdit;
using test::Random;

TEST(Fuzz, DamagedFrontsWithRightChecksums) {
  const std::string base = test::read_file(test::tiny_mnm("fuzz", "q4", "q8", false));
  const size_t front = MnmEdit{base}.data_offset();
  const std::filesystem::path p = test::write_file(test::tmp_dir() / "fuzz-case.mnm", base);
  const int fd = open(p.c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  Random r{0x9e3779b97f4a7c15};
  size_t loaded = 0, refused = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 40000; i++) {
    if (i % 1000 == 0 && std::chrono::steady_clock::now() - begin > std::chrono::seconds(20)) break;  // under a sanitizer
    MnmEdit e{base};
    const uint64_t rounds = 1 + r.below(3);
    // the header's reserved part is large and dull: a third of the damage goes to its fields, the rest behind it
    for (uint64_t k = 0; k < rounds; k++)
      r.below(3) == 0 ? test::damage(e.bytes, 8, 136, r) : test::damage(e.bytes, 4096, front, r);
    e.rehash();
    ASSERT_EQ(pwrite(fd, e.bytes.data(), front, 0), static_cast<ssize_t>(front));
    try {
      const auto m = eng_load(p.string());
      loaded++;
      ASSERT_EQ(m->layers.size(), m->shape.layers);
      ASSERT_NE(m->head, nullptr);
      if (i % 64 == 0) model_verify(*m);
    } catch (const Error& err) {
      refused++;
      ASSERT_TRUE(test::says(err.what(), p.string() + ": ")) << i;
    }
  }
  close(fd);
  EXPECT_GT(refused, loaded);
  EXPECT_GT(loaded, 0u);  // damage to hashes and names of sources is none of the loader's business
  std::printf("%zu damaged files: %zu refused, %zu loaded\n", refused + loaded, refused, loaded);
}

TEST(Fuzz, MetadataFromNoise) {
  Random r{12345};
  Meta meta;
  meta.set("name", std::string("x"));
  meta.set("tok.tokens", std::vector<std::string>{"a", "bc", ""});
  meta.set("rope.freqs", std::vector<double>{1, 2});
  meta.set("tok.ends", std::vector<uint32_t>{1, 2, 3});
  const std::string good = meta_encode(meta);
  for (int i = 0; i < 20000; i++) {
    std::string b = good;
    for (uint64_t k = 0, n = 1 + r.below(4); k < n; k++) test::damage(b, 0, b.size(), r);
    b.resize(r.below(8) == 0 ? r.below(b.size() + 1) : b.size());
    // a copy of its own size, so that a sanitizer sees a read beyond its end
    const std::vector<uint8_t> exact(b.begin(), b.end());
    try {
      meta_decode(exact, r.below(8) == 0 ? test::edge(r) : 4, "f");
    } catch (const Error& err) { ASSERT_TRUE(test::says(err.what(), "f: ")); }
  }
}

}  // namespace
}  // namespace nyb
