// Headers of safetensors files, well formed and hostile.
#include "model/safetensors.h"

#include <gtest/gtest.h>

#include "hf_folder.h"
#include "support/data.h"

namespace nyb {
namespace {
using test::message_of;
using test::says;

std::string read_message(const std::string& bytes) {
  const auto p = test::write_file(test::tmp_dir() / "case.safetensors", bytes);
  return message_of([&] { safetensors_read(MappedFile(p.string())); });
}
std::string header_message(const std::string& header, size_t data = 8) {
  return read_message(test::safetensors(header, std::string(data, 'd')));
}
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"t":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

TEST(Safetensors, WellFormed) {
  EXPECT_EQ(header_message(one(R"("F32")", "[2]", "[0,8]")), "");
  EXPECT_EQ(header_message(one(R"("BF16")", "[2,2]", "[0,8]") + "   "), "");  // padded with spaces
  EXPECT_EQ(header_message(one(R"("F16")", "[4]", "[0,8]")), "");
  EXPECT_EQ(header_message(one(R"("F32")", "[]", "[0,4]"), 4), "");  // a scalar
  EXPECT_EQ(header_message(R"({"__metadata__":{"format":"pt"}})", 0), "");
  const auto p = test::write_file(
      test::tmp_dir() / "two.safetensors",
      test::safetensors(
          R"({"a":{"dtype":"F16","shape":[1],"data_offsets":[4,6]},"b":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}})",
          "\x01\x02\x03\x04\x05\x06"));
  const MappedFile file(p.string());
  const auto t = safetensors_read(file);
  ASSERT_EQ(t.size(), 2u);
  EXPECT_EQ(t[0].name, "b");
  EXPECT_EQ(t[0].shape, (std::vector<uint64_t>{1, 1}));
  EXPECT_EQ(t[1].name, "a");
  EXPECT_EQ(t[1].type, SourceType::f16);
  EXPECT_EQ(t[1].data[0], 5);
  EXPECT_EQ(t[1].bytes, 2u);
}

TEST(Safetensors, HeaderLength) {
  for (const uint64_t n :
       {uint64_t{3}, uint64_t{100}, uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX - 8, UINT64_MAX - 7, UINT64_MAX - 1})
    EXPECT_TRUE(says(read_message(test::safetensors("{}", "", n)),
                     "the header says it has " + std::to_string(n) + " bytes, and the file has 2"))
        << n;
  // the length that UINT64_MAX stands for in the helper
  EXPECT_TRUE(says(read_message(std::string(8, '\xff') + "{}"), "18446744073709551615"));
  for (size_t n = 1; n < 8; n++)
    EXPECT_TRUE(says(read_message(std::string(n, '\x01')), "ends after " + std::to_string(n) + " bytes"));
  EXPECT_TRUE(says(read_message(std::string(8, '\0')), "not valid JSON"));
  EXPECT_TRUE(says(read_message(test::safetensors("{}" + std::string((32 << 20) - 1, ' '), "")), "33554433 bytes, more than"));
}

TEST(Safetensors, CutAtEveryByte) {
  const std::string whole = test::safetensors(one(R"("F32")", "[2]", "[0,8]"), "12345678");
  for (size_t n = 0; n < whole.size(); n++) EXPECT_TRUE(says(read_message(whole.substr(0, n)), "case.safetensors: ")) << n;
  EXPECT_TRUE(says(read_message(whole + "x"), "1 bytes follow the last tensor"));
}

TEST(Safetensors, Json) {
  EXPECT_TRUE(says(header_message("[]"), "not a JSON object"));
  EXPECT_TRUE(says(header_message("{"), "not valid JSON (at byte 2 of 1)"));
  EXPECT_TRUE(says(header_message("{} x"), "not valid JSON"));
  EXPECT_TRUE(says(header_message("\xff\xfe{}"), "not valid JSON"));
  EXPECT_TRUE(says(header_message(R"({"t":5})"), "\"t\" is not an object"));
  EXPECT_TRUE(says(header_message(R"({"t":{"dtype":"F32","shape":[2]}})"), "has no data_offsets"));
  EXPECT_TRUE(says(header_message(R"({"t":{"dtype":"F32","data_offsets":[0,8]}})"), "has no shape"));
  EXPECT_TRUE(says(header_message(R"({"t":{"shape":[2],"data_offsets":[0,8]}})"), "has no dtype"));
  const std::string entry = R"("t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  EXPECT_TRUE(says(header_message("{" + entry + "," + entry + "}"), "the key \"t\" is there twice"));
  EXPECT_TRUE(says(header_message(R"({"t":{"dtype":"F32","dtype":"F16","shape":[2],"data_offsets":[0,8]}})"),
                   "the key \"dtype\" is there twice"));
  EXPECT_TRUE(says(header_message(R"({"\ud800":1})"), "not valid JSON"));
}

TEST(Safetensors, JsonNestedWithoutEnd) {
  for (const char* open : {"[", "{\"a\":", "[[{\"a\":["}) {
    std::string deep;
    while (deep.size() < (4 << 20)) deep += open;
    EXPECT_TRUE(says(header_message(deep), "nested more than 4 deep"));
    EXPECT_TRUE(says(header_message("{\"__metadata__\":" + deep), "nested more than 4 deep"));
  }
}

TEST(Safetensors, DtypesAndShapes) {
  EXPECT_TRUE(says(header_message(one("5", "[2]", "[0,8]")), "dtype that is not a string"));
  for (const char* d : {"F64", "I8", "F8_E4M3", "f32", ""})
    EXPECT_TRUE(says(header_message(one("\"" + std::string(d) + "\"", "[2]", "[0,8]")), "F32, F16 and BF16 are read")) << d;
  EXPECT_TRUE(says(header_message(one(R"("F32")", "2", "[0,8]")), "shape is not a list"));
  for (const char* bad : {"[-2]", "[2.0]", "[\"2\"]", "[null]", "[[2]]", "[1e2]", "[18446744073709551616]"})
    EXPECT_TRUE(says(header_message(one(R"("F32")", bad, "[0,8]")), "where a whole number belongs")) << bad;
  EXPECT_TRUE(says(header_message(one(R"("F32")", "[0]", "[0,0]"), 0), "dimension of 0"));
  EXPECT_TRUE(says(header_message(one(R"("F32")", "[3]", "[0,8]")), "has 8 bytes where its shape and dtype take 12"));
  for (const char* big : {"[4294967296,4294967296]", "[9223372036854775808,2]", "[4611686018427387904]", "[18446744073709551615]",
                          "[65536,65536,65536,65536]"})
    EXPECT_TRUE(says(header_message(one(R"("F32")", big, "[0,8]")), "product does not fit in 64 bits")) << big;
  EXPECT_TRUE(says(header_message(one(R"("F32")", "[4611686018427387903]", "[0,8]")), "take 18446744073709551612"));
}

TEST(Safetensors, Offsets) {
  EXPECT_TRUE(says(header_message(one(R"("F32")", "[2]", "8")), "data_offsets is not a list"));
  EXPECT_TRUE(says(header_message(one(R"("F32")", "[2]", "[0]")), "has 1 data_offsets where 2 belong"));
  EXPECT_TRUE(says(header_message(one(R"("F32")", "[2]", "[0,8,9]")), "has 3 data_offsets"));
  EXPECT_TRUE(says(header_message(one(R"("F32")", "[2]", "[-8,0]")), "where a whole number belongs"));
  EXPECT_TRUE(says(header_message(one(R"("F32")", "[2]", "[8,0]")), "reversed data_offsets 8 and 0"));
  EXPECT_TRUE(says(header_message(one(R"("F32")", "[2]", "[1,9]")), "ends at 9, beyond the 8 bytes"));
  EXPECT_TRUE(says(header_message(one(R"("F32")", "[2]", "[18446744073709551608,18446744073709551615]")), "beyond the 8 bytes"));
  EXPECT_TRUE(says(header_message(one(R"("F32")", "[2]", "[4,12]"), 12), "at 4 leaves a gap before it, which ends at 0"));
  const auto two = [](const char* a, const char* b) {
    return R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + std::string(a) +
           R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + b + "}}";
  };
  EXPECT_EQ(header_message(two("[0,8]", "[8,16]"), 16), "");
  EXPECT_EQ(header_message(two("[8,16]", "[0,8]"), 16), "");
  EXPECT_TRUE(says(header_message(two("[0,8]", "[4,12]"), 12), "tensor \"b\" at 4 overlaps the tensor before it, which ends at 8"));
  EXPECT_TRUE(says(header_message(two("[0,8]", "[0,8]"), 8), "overlaps"));
  EXPECT_TRUE(says(header_message(two("[0,8]", "[12,20]"), 20), "tensor \"b\" at 12 leaves a gap"));
  EXPECT_TRUE(says(header_message(two("[0,8]", "[8,16]"), 24), "8 bytes follow the last tensor"));
}

}  // namespace
}  // namespace nyb
