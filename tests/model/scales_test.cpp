// Scales that are infinite or NaN, and scales that f16 cannot hold: refused in a file, named when one is made.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hf_folder.h"
#include "mnm_edit.h"
#include "model/convert.h"
#include "model/model.h"
#include "model/quant.h"
#include "model/random_model.h"
#include "support/data.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;
using test::HfFolder;
using test::load_message;
using test::MnmEdit;
using test::says;

// The scale of one row and group, put into the file with every checksum right.
std::string with_scale(const std::string& file, const std::string& tensor, size_t groups, size_t row, size_t group,
                       uint16_t scale) {
  MnmEdit e{file};
  const size_t entry = e.entry(tensor);
  const auto at = e.get<uint64_t>(entry + 88), bytes = e.get<uint64_t>(entry + 96);
  e.set<uint16_t>(at + (row / 16 * groups + group) * 288 + 256 + row % 16 * 2, scale);
  return e.set<uint64_t>(entry + 104, test::hash_of(e.bytes.substr(at, bytes))).rehash().bytes;
}

TEST(Scales, OfInt4AreCheckedByLoading) {
  const std::string file = test::read_file(test::tiny_mnm("scales", "q4"));
  const auto load = [&](const std::string& tensor, size_t row, uint16_t scale) {
    return load_message(with_scale(file, tensor, 1, row, 0, scale));
  };
  for (const uint16_t bad : {0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0x7fff, 0xffff}) {
    EXPECT_TRUE(says(load("layers.0.up", 18, bad), "case.mnm: the scale of row 18, group 0 of tensor layers.0.up is not finite"))
        << bad;
  }
  for (const uint16_t good : {0x7bff, 0xfbff, 0x0001, 0x8000, 0x03ff, 0x0000}) EXPECT_EQ(load("layers.0.up", 18, good), "") << good;
  // wherever it stands: padded rows too, the first tensor and the last
  for (size_t row = 0; row < 32; row++)
    for (const std::string tensor : {"embed", "layers.0.up", "layers.1.gate"})
      EXPECT_TRUE(says(load(tensor, row, 0x7c00), "row " + std::to_string(row) + ", group 0 of tensor " + tensor + " is")) << row;
}

// Several groups a row: which one is told.
TEST(Scales, OfInt4AreNamedByGroup) {
  ConvertOptions o;
  o.type = o.head = TType::q4;
  o.fit = false;
  const fs::path p = test::tmp_dir() / "scale.mnm";
  convert(hf_open(test::pocket_dir().string()), p.string(), o);
  const std::string file = test::read_file(p);
  const auto m = eng_load(p.string());
  const size_t groups = m->layers[1].down->cols / 32, row = m->layers[1].down->rows - 3;
  ASSERT_GT(groups, 3u);
  EXPECT_TRUE(says(load_message(with_scale(file, "layers.1.down", groups, row, 3, 0x7e00)),
                   "the scale of row " + std::to_string(row) + ", group 3 of tensor layers.1.down is not finite"));
}

// Where the other types have f16: sixteen of them in each group or block of a panel, wherever that stands.
TEST(Scales, OfGgmlsTypesAreCheckedByLoading) {
  struct Place {
    TType type;
    size_t unit_cols, unit_bytes, at;
    const char* text;
  };
  constexpr NamedShape shape{"blocks", "llama", 1, 512, 4, 2, 128, 768, 19, 16, true, 10000};
  const std::string path = (test::tmp_dir() / "blocks.mnm").string();
  for (const Place& p : {Place{TType::q80, 32, 544, 512, "the scale of row {}, group {}"},
                         {TType::q4k, 256, 2368, 0, "the scale of row {}, block {}"},
                         {TType::q4k, 256, 2368, 32, "the minimum of row {}, block {}"},
                         {TType::q6k, 256, 3360, 0, "the scale of row {}, block {}"}}) {
    random_model(path, shape, p.type, p.type);
    const std::string file = test::read_file(path);
    ASSERT_EQ(load_message(file), "");
    for (const std::string tensor : {"embed", "layers.0.down"}) {
      const size_t cols = tensor == "embed" ? 512 : 768, units = cols / p.unit_cols;
      for (const auto& [row, unit, bits] :
           {std::tuple{size_t{0}, size_t{0}, 0x7c00}, {size_t{18}, units - 1, 0xfe01}, {size_t{31}, size_t{1}, 0xfc00}}) {
        MnmEdit e{file};
        const size_t entry = e.entry(tensor);
        const auto at = e.get<uint64_t>(entry + 88), bytes = e.get<uint64_t>(entry + 96);
        e.set<uint16_t>(at + (row / 16 * units + unit) * p.unit_bytes + p.at + row % 16 * 2, static_cast<uint16_t>(bits));
        e.set<uint64_t>(entry + 104, test::hash_of(e.bytes.substr(at, bytes))).rehash();
        const std::string want = fmt::format(fmt::runtime(p.text), row, unit) + " of tensor " + tensor + " is not finite";
        EXPECT_TRUE(says(load_message(e.bytes), want)) << load_message(e.bytes) << "\nand not: " << want;
      }
    }
  }
}

// Rows of weights so small that f16 has no scale for them.
TEST(Scales, ThatVanishKeepTheTensorInInt8) {
  HfFolder f = test::tiny_model();
  auto& t = f.at("model.layers.0.mlp.down_proj.weight");  // 24 x 20, one group a row
  std::vector<float> w = test::plain_values(size_t{24} * 20, 5);
  std::fill_n(w.begin() + 5 * 20, 20, 2e-7f);   // int8 keeps these
  std::fill_n(w.begin() + 7 * 20, 20, 1e-38f);  // and loses these
  t.bytes = test::dtype_bytes("F32", w);
  ConvertOptions o;
  o.type = o.head = TType::q4;
  const std::string out = (test::tmp_dir() / "vanish.mnm").string();
  const ConvertReport r = convert(hf_open(f.write("vanish-hf").string()), out, o);
  const auto m = eng_load(out);
  EXPECT_EQ(m->layers[0].down->type, TType::q8);
  EXPECT_EQ(m->layers[1].down->type, TType::q4);
  ASSERT_EQ(r.notes.size(), 3u);
  EXPECT_TRUE(says(r.notes[0], "layers.0.down is kept in int8: row 5, columns 0 to 19 have weights up to 2e-07, too small"));
  EXPECT_TRUE(says(r.notes[1], "layers.0.down: the int4 scale of 2 groups of weights would be zero in f16; 1 of them became zero"));
  EXPECT_TRUE(says(r.notes[2], "layers.0.down: 1 rows have only weights below 1.5e-36 and became zero"));
}

TEST(Scales, ThatVanishAreCounted) {
  std::vector<float> row(80, 1e-7f);
  Vanished v = count_vanished(row.data(), row.size());
  EXPECT_EQ(v.in_q4, 3u);
  EXPECT_EQ(v.in_q8, 0u);
  // one large weight: the other groups are lost in int8 too, and the row is not for int4
  row[70] = 1.0f;
  v = count_vanished(row.data(), row.size());
  EXPECT_EQ(v.in_q4, 2u);
  EXPECT_EQ(v.in_q8, 2u);
  ASSERT_TRUE(find_scale_fault(TType::q4, row.data(), row.size()));
  EXPECT_EQ(find_scale_fault(TType::q4, row.data(), row.size())->group, 0u);
  std::fill(row.begin(), row.end(), 0.0f);
  EXPECT_EQ(count_vanished(row.data(), row.size()).in_q4, 0u);
  // the bound: 7 * 2^-25 is halfway to the least f16 and goes to zero
  std::fill(row.begin(), row.end(), 7.0f / 33554432);
  EXPECT_EQ(count_vanished(row.data(), row.size()).in_q4, 3u);
  std::fill(row.begin(), row.end(), 7.1f / 33554432);
  EXPECT_EQ(count_vanished(row.data(), row.size()).in_q4, 0u);
}

}  // namespace
}  // namespace nyb
