// Scales that are infinite or NaN, and scales that f16 cannot hold: refused in a file, named when one is made.
#include <gtest/gtest.h>

#include "hf_folder.h"
#include "mnm_edit.h"
#include "model/convert.h"
#include "model/model.h"
#include "support/data.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;
using test::HfFolder;
using test::message_of;
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
  const fs::path p = test::tmp_dir() / "scale.mnm";
  const auto load = [&](const std::string& tensor, size_t row, uint16_t scale) {
    test::write_file(p, with_scale(file, tensor, 1, row, 0, scale));
    return message_of([&] { eng_load(p.string()); });
  };
  for (const uint16_t bad : {0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0x7fff, 0xffff}) {
    EXPECT_TRUE(
        says(load("layers.0.up", 18, bad), p.string() + ": the scale of row 18, group 0 of tensor layers.0.up is not finite"))
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
  test::write_file(p, with_scale(file, "layers.1.down", groups, row, 3, 0x7e00));
  EXPECT_TRUE(says(message_of([&] { eng_load(p.string()); }),
                   "the scale of row " + std::to_string(row) + ", group 3 of tensor layers.1.down is not finite"));
}

}  // namespace
}  // namespace nyb
