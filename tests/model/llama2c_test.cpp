// Model files of llama2.c: each version against the same model as a Hugging Face folder, then damaged ones.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <cstring>

#include "llama2c_file.h"
#include "same_model.h"
#include "support/data.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;
using test::converted;
using test::expect_same_model;
using test::ints;
using test::Llama2cFile;
using test::message_of;
using test::says;

fs::path written(const std::string& bytes) { return test::write_file(test::tmp_dir() / "made.bin", bytes); }
std::string message(const std::string& bytes) {
  const std::string p = written(bytes).string();
  return message_of([&] { llama2c_open(p); });
}

class EachVersion : public testing::TestWithParam<int> {};

TEST_P(EachVersion, IsTheModelOfTheFolder) {
  for (const bool tied : {true, false}) {
    const Llama2cFile f(tied);
    const ModelSource src = llama2c_open(written(f.bytes(GetParam())).string());
    EXPECT_EQ(src.tied, tied);
    expect_same_model(src, hf_open(f.hf().write("llama2c-hf").string()));
  }
}

TEST_P(EachVersion, CutAnywhereOrAddedTo) {
  for (const bool tied : {true, false}) {
    const std::string whole = Llama2cFile(tied).bytes(GetParam());
    const fs::path p = written(whole);
    for (size_t n = whole.size() - 1;; n -= n > 400 && n % 7 != 0 ? n % 7 : 1) {
      fs::resize_file(p, n);
      ASSERT_TRUE(says(message_of([&] { llama2c_open(p.string()); }), p.string() + ": ")) << n;
      if (n == 0) break;
    }
    EXPECT_EQ(message(whole), "");
    EXPECT_TRUE(says(message(whole + "x"), "1 bytes follow the last tensor, which ends at " + std::to_string(whole.size())));
    EXPECT_TRUE(says(message(whole.substr(0, whole.size() - 1)), "the file ends within "));
  }
}

// Every field at the edges of what it can hold: a sentence, at once, whatever the products would be.
TEST_P(EachVersion, HeadersThatAreWrong) {
  const Llama2cFile f(true);
  const std::string whole = f.bytes(GetParam());
  const size_t from = GetParam() == 0 ? 0 : 8;
  const auto begin = std::chrono::steady_clock::now();
  for (size_t field = 0; field < 7; field++) {
    for (const int32_t v :
         {0, -1, INT32_MIN, INT32_MIN + 1, INT32_MAX, 1 << 24, (1 << 24) - 1, 1 << 16, 65537, 1, 2, 3, 5, 7, 12, 1 << 30}) {
      std::string b = whole;
      if (std::memcmp(b.data() + from + 4 * field, &v, 4) == 0) continue;
      if (field == 6 && v > 0 && GetParam() > 0) continue;  // the context alone is no tensor's size
      b.replace(from + 4 * field, 4, ints({v}));
      const std::string m = message(b);
      // fewer or more key/value heads, layers and so on give another length, so that no other value can be right
      EXPECT_TRUE(says(m, "made.bin: ")) << field << " = " << v;
      if (v <= 0 && (field != 5 || v == 0)) { EXPECT_NE(m.find("this is no model of llama2.c"), m.npos) << m; }
    }
  }
  // all at once: sizes that multiply far past 2^64
  std::string b = whole;
  b.replace(from, 28, ints({1 << 23, (1 << 24) - 1, 1 << 16, 1 << 10, 1 << 10, INT32_MAX, 1 << 30}));
  EXPECT_TRUE(says(message(b), "the file ends within "));
  b.replace(from, 28, ints({1 << 23, (1 << 24) - 1, 1 << 16, 1 << 10, 1 << 10, 1, 1}));
  EXPECT_TRUE(says(message(b), "the file ends within "));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

INSTANTIATE_TEST_SUITE_P(Llama2c, EachVersion, testing::Values(0, 1, 2));

// A file of terabytes, of holes, long enough for the norms of a model whose next tensors take 2^64 bytes and so nothing at all,
// were they only multiplied.
TEST(Llama2c, SizesThatMultiplyPast64Bits) {
  std::string b = ints({0x616b3432, 1, 1 << 23, 8, 1 << 16, 1 << 10, 1 << 10, 1, 16}) + '\1';
  b.resize(256, '\0');
  const fs::path p = written(b);
  std::error_code ec;
  fs::resize_file(p, (uint64_t{1} << 42) + (uint64_t{1} << 27), ec);
  if (ec) GTEST_SKIP() << "this machine has no file system for a file of 4 TiB: " << ec.message();
  const std::string said = message_of([&] { llama2c_open(p.string()); });
  fs::remove(p);
  if (said.find("cannot map it") != std::string::npos)
    GTEST_SKIP() << "this machine has no addresses for a file of 4 TiB (a sanitizer takes most of them)";
  EXPECT_TRUE(says(said, "the file ends within wq: 65536 x 281474976710656 bytes"));
}

TEST(Llama2c, WhatItSaysOfTheHeader) {
  const Llama2cFile f(true);
  const auto with = [&](int version, size_t at, const std::string& bytes) {
    std::string b = f.bytes(version);
    return message(b.replace(at, bytes.size(), bytes));
  };
  EXPECT_TRUE(says(with(0, 12, ints({0})),
                   "this is no model of llama2.c, by its header (dim 24, hidden_dim 20, n_layers 2, n_heads 0, "
                   "n_kv_heads 2, vocab_size 19, seq_len 16): n_heads is 0"));
  EXPECT_TRUE(says(with(0, 12, ints({5})), "dim is not a multiple of the 5 heads"));
  EXPECT_TRUE(says(with(0, 12, ints({8})), "head_dim is 3, which is not even"));
  EXPECT_TRUE(says(with(0, 16, ints({3})), "4 heads are not a multiple of 3 key/value heads"));
  EXPECT_TRUE(says(with(0, 8, ints({65537})), "layers is 65537"));
  EXPECT_TRUE(says(with(0, 24, ints({17})), "within freqs_sin: 1 x 204 bytes"));
  EXPECT_TRUE(says(with(1, 28, ints({-19})), "vocab_size is -19"));
  EXPECT_TRUE(says(with(1, 4, ints({0})), "the llama2.c version is 0; 0, 1 and 2 are read"));
  EXPECT_TRUE(says(with(1, 4, ints({3})), "the llama2.c version is 3"));
  EXPECT_TRUE(says(with(1, 36, "\2"), "the flag for a shared head is 2"));
  EXPECT_TRUE(says(with(1, 36, std::string(1, '\0')), "the file ends within output"));
  EXPECT_TRUE(says(with(1, 255, "x"), "byte 255 is 120 where zeros belong"));
  EXPECT_TRUE(says(with(2, 37, ints({0})), "the group size is 0"));
  EXPECT_TRUE(says(with(2, 37, ints({-4})), "the group size is -4"));
  EXPECT_TRUE(says(with(2, 37, ints({7})), "the 456 values of tok_embeddings are no multiple of the group size 7"));
  EXPECT_TRUE(says(with(2, 37, ints({INT32_MAX})), "no multiple of the group size"));
}

// The first scale stands behind the values of the embedding, and those behind header and norms.
TEST(Llama2c, ScalesThatAreNone) {
  const Llama2cFile f(true);
  const size_t at = 256 + 4 * 24 * 5 + 24 * 19;
  for (const float bad : {-1.0F, std::nanf(""), HUGE_VALF}) {
    std::string b = f.bytes(2);
    std::memcpy(b.data() + at + 4, &bad, 4);
    EXPECT_TRUE(says(message(b), "the scale of group 1 of tok_embeddings is "));
  }
}

TEST(Llama2c, AWeightThatIsNotFiniteIsNamedWhereItIs) {
  const Llama2cFile f(true);
  std::string b = f.bytes(0);
  // row 3 of the second head of wk in layer 1, column 5
  const size_t row = 9, at = 28 + 4 * (19 * 24 + 2 * 24 + 2 * 24 * 24 + 12 * 24 + row * 24 + 5);
  const float nan = std::nanf("");
  std::memcpy(b.data() + at, &nan, 4);
  const std::string p = written(b).string();
  EXPECT_TRUE(says(message_of([&] { converted(llama2c_open(p), TType::q8); }),
                   "made.bin: weight 221 of tensor layers.1.wk (row 9, column 5) is not a finite number"));
}

TEST(Llama2c, NamesAndWhatIsNoFile) {
  const ModelSource s = llama2c_open(written(Llama2cFile(true).bytes(0)).string());
  EXPECT_EQ(s.meta.get<std::string>(key::name), "made");
  EXPECT_EQ(s.meta.get<std::string>(key::source_file), "made.bin");
  EXPECT_EQ(llama2c_open(s.path, "Mine").meta.get<std::string>(key::name), "Mine");
  EXPECT_TRUE(says(message(""), "made.bin: the file is empty"));
  EXPECT_TRUE(says(message("x"), "ends after 1 bytes, within the 28 of a llama2.c header"));
  const fs::path fifo = test::tmp_dir() / "bin.fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_TRUE(says(message_of([&] { source_open(fifo.string()); }), "this is a FIFO, not a file"));
  EXPECT_TRUE(says(message_of([&] { llama2c_open(test::tmp_dir().string()); }), "this is a folder, not a file"));
}

// Whatever the name ends in.
TEST(SourceOpen, GoesByWhatIsThere) {
  const auto of = [](const std::string& bytes) {
    const fs::path p = test::write_file(test::tmp_dir() / "some.gguf", bytes);
    return message_of([&] { source_open(p.string()); });
  };
  const Llama2cFile f(true);
  for (const int version : {0, 1, 2}) EXPECT_EQ(of(f.bytes(version)), "");
  EXPECT_TRUE(says(of("GGUF\3"), "some.gguf: the file ends after 5 bytes, within its header"));
  EXPECT_TRUE(says(of("MNMODEL1........"), "the file ends after 16 bytes, within the 4096 of a version 1 header"));
  EXPECT_TRUE(says(of("MNMODEL2........"), "this is a model file of this program already"));
  EXPECT_TRUE(says(of(test::safetensors({})), "this is a safetensors file; give its whole folder"));
  EXPECT_TRUE(says(of("{\n  \"architectures\": [\n    \"LlamaForCausalLM\"\n  ]}"), "this is no model of llama2.c"));
  EXPECT_TRUE(says(message_of([] { source_open("/no/such"); }), "/no/such: there is no such file or folder"));
  const fs::path folder = f.hf().write("source-open.bin");
  EXPECT_EQ(source_open(folder.string()).shape.heads, 4u);
}

TEST(Llama2c, Stories260KIsItsFolder) {
  NYB_NEED_DATA();
  const fs::path dir = test::data_dir() / "stories260K";
  const ModelSource src = llama2c_open((dir / "stories260K.bin").string());
  EXPECT_EQ(src.shape.ctx, 512u);
  EXPECT_EQ(src.meta.get<double>(key::norm_eps), 1e-5);
  expect_same_model(src, hf_open((dir / "hf").string()));
}

}  // namespace
}  // namespace nyb
