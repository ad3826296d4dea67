// Version 1 of the model file: every value where it belongs, int8 to the last bit, and damaged files.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "kern/f16.h"
#include "mnm1_file.h"
#include "model/convert.h"
#include "model/model.h"
#include "model/source.h"
#include "same_model.h"
#include "support/data.h"
#include "support/hf_folder.h"

namespace nyb {
namespace {
using test::Mnm1File;

std::string written(const std::string& bytes) {
  std::string p = (test::tmp_dir() / "v1.mnm").string();
  std::ofstream(p, std::ios::binary) << bytes;
  return p;
}

// Row `r` of tensor `slot` of a model file, in version 1: which matrix, and which row of it. RoPE's pairs become halves.
struct At {
  std::string matrix;
  uint64_t row;
};
At at(const std::string& slot, uint64_t r) {
  using F = Mnm1File;
  if (slot == "embed") return {"E", r};
  if (slot == "out_norm") return {"last", r};
  const std::string layer = slot.substr(7, 2), part = slot.substr(9);
  const uint64_t in_head = r % F::head_dim,
                 pair = r - in_head + (in_head < F::head_dim / 2 ? 2 * in_head : 2 * in_head - F::head_dim + 1);
  if (part == "q") return {layer + "Wqkv", pair};
  if (part == "k") return {layer + "Wqkv", F::heads * F::head_dim + pair};
  if (part == "v") return {layer + "Wqkv", (F::heads + F::kv_heads) * F::head_dim + r};
  if (part == "o") return {layer + "Wo", r};
  if (part == "gate") return {layer + "W13", r};
  if (part == "up") return {layer + "W13", F::ffn + r};
  if (part == "down") return {layer + "W2", r};
  return {layer + (part == "attn_norm" ? "n1" : "n2"), r};
}

class EachQuant : public testing::TestWithParam<uint64_t> {};

TEST_P(EachQuant, EveryValueIsWhereItBelongs) {
  const Mnm1File file(GetParam());
  const ModelSource src = source_open(written(file.bytes()));
  const auto m = eng_load(test::converted(src, std::nullopt));
  EXPECT_EQ(m->shape.ctx, Mnm1File::ctx);
  EXPECT_EQ(m->shape.norm_eps, 1e-5f);
  EXPECT_EQ(m->head, m->embed);
  const TType wanted = GetParam() == 0 ? TType::f32 : GetParam() == 1 ? TType::q8 : TType::q4;
  size_t rows = 0;
  for (const Tensor& t : m->tensors) {
    EXPECT_EQ(t.type, t.rows == 1 ? TType::vec : wanted) << t.name;
    for (uint64_t r = 0; r < t.rows; r++, rows++) {
      std::vector<float> got(t.cols), want(t.cols);
      if (t.type == TType::vec)
        std::memcpy(got.data(), t.vec(), t.cols * sizeof(float));
      else
        tensor_row(t, r, got.data());
      const At from = at(t.name, r);
      const std::vector<float>& all = file.values.at(from.matrix);
      for (uint64_t c = 0; c < t.cols; c++) {
        const uint64_t i = from.row * t.cols + c;
        // int4's scales become f16; all else stays as it is
        want[c] = t.type == TType::q4 ? static_cast<float>(file.ints.at(from.matrix)[i]) *
                                            f16_to_f32(f32_to_f16(file.scales.at(from.matrix)[i / 32]))
                                      : all[i];
      }
      ASSERT_EQ(std::memcmp(got.data(), want.data(), t.cols * sizeof(float)), 0) << t.name << " row " << r;
    }
  }
  EXPECT_GT(rows, Mnm1File::vocab);
}

INSTANTIATE_TEST_SUITE_P(Mnm1, EachQuant, testing::Values(0, 1, 2));

TEST(Mnm1, TheErrorOfInt4IsThatOfItsScalesInF16) {
  const ModelSource src = source_open(written(Mnm1File(2).bytes()));
  ConvertOptions o;
  o.type = o.head = std::nullopt;
  const ConvertReport r = convert(src, (test::tmp_dir() / "v1-out.mnm").string(), o);
  for (const ConvertKind& k : r.kinds) {
    if (k.kind == "norms") continue;
    // a scale in f16 is off by 2^-11 of itself at most, by some 2^-12.8 in the root mean square
    EXPECT_GT(k.weights.relative(), 1e-5) << k.kind;
    EXPECT_LT(k.weights.relative(), 0x1p-11) << k.kind;
  }
}

// f16 would lose such a scale, or bits of it: the matrix is made anew of its values.
TEST(Mnm1, ScalesThatF16CannotHold) {
  for (const float scale : {1e-6F, 1e6F}) {
    Mnm1File file(2);
    file.scales["0.W2"][3] = scale;
    const auto m = eng_load(test::converted(source_open(written(file.bytes())), std::nullopt));
    EXPECT_EQ(m->layers[0].down->type, TType::q8) << scale;
    EXPECT_EQ(m->layers[0].up->type, TType::q4);
  }
}

TEST(Mnm1, TheHeaderSaysBaseAndTokenizer) {
  Mnm1File file(1);
  file.hash = 0x0123456789abcdef;
  std::string bytes = file.bytes();
  const double base = 100;
  std::memcpy(bytes.data() + 72, &base, 8);
  const ModelSource src = source_open(written(bytes));
  EXPECT_EQ(src.tokenizer_hash, file.hash);
  ASSERT_EQ(src.shape.rope_freqs.size(), 8u);
  EXPECT_NEAR(src.shape.rope_freqs[4], 0.1, 1e-15);
}

TEST(Mnm1, OtherTypesAreMadeOfTheValues) {
  const auto m = eng_load(test::converted(source_open(written(Mnm1File(1).bytes())), TType::f32));
  EXPECT_EQ(m->type_name, "f32");
}

// A header of these numbers takes so many bytes: the sizes that docs/model-file.md gives for the model of 126 million.
TEST(Mnm1, SizesAreThoseOfThePublishedModel) {
  for (const auto& [quant, bytes] : {std::pair<uint64_t, uint64_t>{1, 126508032}, {2, 78748672}}) {
    std::string b = "MNMODEL1";
    const auto u64 = [&b](uint64_t v) { b.append(reinterpret_cast<const char*>(&v), 8); };
    for (const uint64_t v : {16, 768, 12, 4, 64, 2048, 32768, 1024}) u64(v);
    const double base = 10000;
    b.append(reinterpret_cast<const char*>(&base), 8);
    u64(quant);
    b.resize(4096);
    const std::string p = written(b);
    std::filesystem::resize_file(p, bytes);
    EXPECT_EQ(source_open(p).shape.params, 0u) << "counted when it is converted";
    std::filesystem::resize_file(p, bytes + 64);
    const std::string says = test::message_of([&] { source_open(p); });
    EXPECT_NE(says.find(std::to_string(bytes)), std::string::npos) << says;
  }
}

TEST(Mnm1, DamagedFilesAreRefusedInOneSentence) {
  const std::string whole = Mnm1File(1).bytes();
  const auto says = [](const std::string& bytes) {
    const std::string p = written(bytes);
    return test::message_of([&] { source_open(p); });
  };
  const auto with = [&](size_t at, uint64_t v) {
    std::string b = whole;
    std::memcpy(b.data() + at, &v, 8);
    return b;
  };
  const auto bits = [](double d) {
    uint64_t v;
    std::memcpy(&v, &d, 8);
    return v;
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {whole.substr(0, 4095), "ends after 4095 bytes"},
      {whole.substr(0, 9000), "the file ends within E"},
      {whole.substr(0, whole.size() - 64), "ends within the last norm"},
      {whole + std::string(64, '\0'), "cut off or added to"},
      {with(8, 0), "layers is 0"},
      {with(16, uint64_t{1} << 40), "width is 1099511627776"},
      {with(64, uint64_t{1} << 33), "longest context is 8589934592"},
      {with(72, bits(-1)), "the RoPE base is -1"},
      {with(72, bits(NAN)), "the RoPE base is nan"},
      {with(80, 3), "the quantization type is 3"},
      {with(2000, 5), "byte 2000 of the header is 5"},
      {with(56, 2000000000), "ends within"},
  };
  for (const auto& [bytes, part] : cases) {
    const std::string s = says(bytes);
    EXPECT_NE(s.find(part), std::string::npos) << s << " lacks " << part;
    EXPECT_NE(s.find("v1.mnm: "), std::string::npos) << s;
    EXPECT_EQ(s.find('\n'), std::string::npos) << s;
  }
  std::string four = Mnm1File(2).bytes();
  const uint64_t ffn = 100;
  std::memcpy(four.data() + 48, &ffn, 8);
  EXPECT_NE(says(four).find("int4 goes by groups of 32 columns, and width "), std::string::npos) << says(four);
  Mnm1File odd(1);
  odd.scales["0.W2"][3] = INFINITY;
  EXPECT_NE(says(odd.bytes()).find("scale 3 of W2 of layer 0 is not a finite number"), std::string::npos) << says(odd.bytes());
}

}  // namespace
}  // namespace nyb
