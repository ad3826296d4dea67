// eng_load on files that are cut, changed or something else: one sentence, never a crash.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <functional>

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

TEST(Load, TheUnchangedFileLoads) {
  EXPECT_EQ(load_message(tiny_file()), "");
  EXPECT_EQ(load_message(MnmEdit{tiny_file()}.rehash().bytes), "");
  EXPECT_EQ(MnmEdit{tiny_file()}.rehash().bytes, tiny_file());
  EXPECT_EQ(MnmEdit{tiny_file()}.replace_meta(MnmEdit{tiny_file()}.meta_text(), MnmEdit{tiny_file()}.get<uint64_t>(56)).bytes,
            tiny_file());
}

TEST(Load, CutAtEveryByte) {
  const fs::path p = test::write_file(test::tmp_dir() / "cut.mnm", tiny_file());
  const uint64_t data = MnmEdit{tiny_file()}.data_offset();
  for (size_t n = tiny_file().size(); n-- > 0;) {
    if (n > data && n % 7 != 0) continue;
    ASSERT_EQ(truncate(p.c_str(), static_cast<off_t>(n)), 0);
    const std::string m = message_of([&] { eng_load(p.string()); });
    ASSERT_TRUE(says(m, p.string() + ": ")) << n;
    if (n >= 4096) {
      ASSERT_TRUE(says(m, "the file has " + std::to_string(n) + " bytes where its header says")) << n;
    } else if (n >= 8) {
      ASSERT_TRUE(says(m, "ends after " + std::to_string(n) + " bytes, within its header")) << n;
    }
  }
}

TEST(Load, LongerThanItSays) {
  EXPECT_TRUE(says(load_message(tiny_file() + std::string(64, '\0')), "cut off or was added to"));
  // and with the header going along: then it is what follows the last tensor
  MnmEdit e{tiny_file() + std::string(64, '\0')};
  e.set<uint64_t>(16, e.bytes.size()).set<uint64_t>(80, e.bytes.size() - e.data_offset()).rehash();
  EXPECT_TRUE(says(load_message(e.bytes), "64 bytes follow the last tensor"));
}

// Files that end where padding should begin, their headers going along.
TEST(Load, PaddingThatIsNotThere) {
  MnmEdit e{tiny_file()};
  const uint64_t meta_end = e.meta_offset() + e.get<uint64_t>(64);
  ASSERT_NE(meta_end % 64, 0u);
  e.bytes.resize(meta_end);
  e.set<uint64_t>(16, meta_end).set<uint64_t>(80, 0).rehash();
  EXPECT_TRUE(
      says(load_message(e.bytes), "the header says tensors from " + std::to_string(e.data_offset()) + ", beyond the file's"));
  e.bytes = test::read_file(test::tiny_mnm("tied", "q8"));  // ends with a norm of 96 bytes
  e.bytes.resize(e.bytes.size() - 32);
  e.set<uint64_t>(16, e.bytes.size()).set<uint64_t>(80, e.bytes.size() - e.data_offset()).rehash();
  EXPECT_TRUE(
      says(load_message(e.bytes), "the padding after tensor out_norm ends at " + std::to_string(e.bytes.size() + 32) + ", beyond"));
}

TEST(Load, EveryByteOfTheFrontIsCovered) {
  // any single changed byte of header, table, metadata and their padding is noticed, checksums left as they were
  const size_t front = MnmEdit{tiny_file()}.data_offset();
  const fs::path p = test::write_file(test::tmp_dir() / "byte.mnm", tiny_file());
  const int fd = open(p.c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  for (size_t i = 0; i < front; i++) {
    const char changed = static_cast<char>(tiny_file()[i] ^ 0x10);
    ASSERT_EQ(pwrite(fd, &changed, 1, static_cast<off_t>(i)), 1);
    ASSERT_NE(message_of([&] { eng_load(p.string()); }), "") << i;
    ASSERT_EQ(pwrite(fd, &tiny_file()[i], 1, static_cast<off_t>(i)), 1);
  }
  close(fd);
  EXPECT_EQ(message_of([&] { eng_load(p.string()); }), "");
}

struct Case {
  const char* name;
  std::function<void(MnmEdit&)> change;  // checksums are made right afterwards
  const char* says;
};

// Test listings show the name, not addresses that change from run to run.
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Field : public ::testing::TestWithParam<Case> {};
TEST_P(Field, IsChecked) {
  MnmEdit e{tiny_file()};
  GetParam().change(e);
  if (e.bytes.size() == tiny_file().size()) e.rehash();
  EXPECT_TRUE(says(load_message(e.bytes), GetParam().says));
}

template <class T>
std::function<void(MnmEdit&)> put(size_t at, T v) {
  return [=](MnmEdit& e) { e.set<T>(at, v); };
}
std::function<void(MnmEdit&)> entry(const char* tensor, size_t at, uint64_t v) {
  return [=](MnmEdit& e) { e.set<uint64_t>(e.entry(tensor) + at, v); };
}
std::function<void(MnmEdit&)> type(const char* tensor, uint32_t v) {
  return [=](MnmEdit& e) { e.set<uint32_t>(e.entry(tensor) + 64, v); };
}
// the value of a metadata key, in place
template <class T>
std::function<void(MnmEdit&)> value(const char* key, T v, size_t at = 0) {
  return [=](MnmEdit& e) { e.set<T>(e.value(key) + at, v); };
}

const auto kCaseName = [](const auto& i) { return std::string(i.param.name); };
constexpr uint64_t kHuge = UINT64_MAX;

INSTANTIATE_TEST_SUITE_P(
    Header, Field,
    ::testing::Values(
        Case{"Version", put<uint32_t>(8, 3), "format version 3; this program reads version 2"},
        Case{"BigEndian", put<uint32_t>(12, 0x04030201), "big endian"},
        Case{"ByteOrder", put<uint32_t>(12, 7), "byte order mark is 0x00000007"},
        Case{"FileBytes", put<uint64_t>(16, 1), "where its header says 1;"},
        Case{"TableOffset", put<uint64_t>(24, 4097), "table offset is 4097 where 4096 belongs"},
        Case{"TableCount", put<uint64_t>(32, 1u << 30), "1073741824 tensors, more than a file"},
        Case{"TableCountHuge", put<uint64_t>(32, kHuge), "18446744073709551615 tensors, more than"},
        Case{"TableCountOff", put<uint64_t>(32, 20), "table size is 2688 where 2560 belongs"},
        Case{"TableBytes", put<uint64_t>(40, 5), "table size is 5 where 2688 belongs"},
        Case{"TableBytesHuge", put<uint64_t>(40, kHuge - 4095), "table size is"},
        Case{"MetaOffset", put<uint64_t>(48, 4096), "metadata offset is 4096 where 6784 belongs"},
        Case{"MetaCount", put<uint64_t>(56, 100000), "100000 keys, more than"},
        Case{"MetaCountHuge", put<uint64_t>(56, kHuge), "18446744073709551615 keys, more than"},
        Case{"MetaCountLess", put<uint64_t>(56, 3), "bytes of metadata follow its 3 keys"},
        Case{"MetaBytesHuge", put<uint64_t>(64, kHuge - 6000), "18446744073709545615 bytes of metadata from 6784, beyond"},
        Case{"MetaBytesMore", [](MnmEdit& e) { e.set<uint64_t>(64, e.get<uint64_t>(64) + 128); }, "data offset is"},
        Case{"DataOffset", put<uint64_t>(72, 0), "data offset is 0 where"},
        Case{"DataOffsetHuge", put<uint64_t>(72, kHuge - 63), "data offset is"},
        Case{"DataBytes", put<uint64_t>(80, 64), "data size is 64 where"},
        Case{"Layers0", put<uint32_t>(96, 0), "layers is 0, which is not within 1 to 65536"},
        Case{"LayersMore", put<uint32_t>(96, 3), "21 tensors where a model of 3 layers has 29 or 30"},
        Case{"LayersHuge", put<uint32_t>(96, UINT32_MAX), "layers is 4294967295"}, Case{"Dim0", put<uint32_t>(100, 0), "dim is 0"},
        Case{"DimOther", put<uint32_t>(100, 25), "tensor embed has 19 x 24 values where"},
        Case{"DimHuge", put<uint32_t>(100, UINT32_MAX), "dim is 4294967295"}, Case{"Heads0", put<uint32_t>(104, 0), "heads is 0"},
        Case{"HeadsOther", put<uint32_t>(104, 3), "tensor layers.0.q has 12 x 24 values where the model's shape asks for 18 x 24"},
        Case{"HeadsHuge", put<uint32_t>(104, UINT32_MAX), "heads is 4294967295"},
        Case{"KvHeads0", put<uint32_t>(108, 0), "kv_heads is 0"},
        Case{"KvHeadsUneven", [](MnmEdit& e) { e.set<uint32_t>(104, 5).set<uint32_t>(108, 2); },
             "5 heads are not a multiple of 2 key/value heads"},
        Case{"KvHeadsOther", put<uint32_t>(108, 2), "tensor layers.0.k has 6 x 24"},
        Case{"HeadDim0", put<uint32_t>(112, 0), "head_dim is 0"},
        Case{"HeadDimOdd", put<uint32_t>(112, 5), "head_dim is 5, which is not even"},
        Case{"HeadsTimesDim", [](MnmEdit& e) { e.set<uint32_t>(104, 1u << 20).set<uint32_t>(112, 1u << 16); },
             "1048576 heads of 65536 are more"},
        Case{"Ffn0", put<uint32_t>(116, 0), "ffn is 0"},
        Case{"FfnOther", put<uint32_t>(116, 16), "tensor layers.0.gate has 20 x 24"},
        Case{"Vocab0", put<uint32_t>(120, 0), "vocab is 0"}, Case{"VocabOther", put<uint32_t>(120, 20), "tensor embed has 19 x 24"},
        Case{"VocabHuge", put<uint32_t>(120, 1u << 31), "vocab is 2147483648"}, Case{"Ctx0", put<uint32_t>(124, 0), "ctx is 0"},
        Case{"CtxHuge", put<uint32_t>(124, UINT32_MAX), "ctx is 4294967295"},
        Case{"Params", put<uint64_t>(128, 5), "count of parameters is 5 where"},
        Case{"Reserved", put<uint8_t>(136, 1), "reserved bytes 136 to 4087"},
        Case{"ReservedEnd", put<uint8_t>(4087, 1), "reserved bytes 136 to 4087"},
        Case{"Padding", [](MnmEdit& e) { e.set<uint8_t>(e.data_offset() - 1, 1); },
             "padding between metadata and tensors is not zero"}),
    kCaseName);

INSTANTIATE_TEST_SUITE_P(
    Table, Field,
    ::testing::Values(
        Case{"NameOther", [](MnmEdit& e) { e.set<char>(e.entry(2), 'x'); },
             "tensor 2 of the table is \"xayers.0.q\" where \"layers.0.q\" belongs"},
        Case{"NameTwice", [](MnmEdit& e) { e.bytes.replace(e.entry(4), 64, e.bytes, e.entry(2), 64); },
             "tensor layers.0.q is in the table twice"},
        Case{"NameSwapped", [](MnmEdit& e) { e.set<char>(e.entry(2) + 9, 'k').set<char>(e.entry(3) + 9, 'q'); },
             "is \"layers.0.k\" where \"layers.0.q\" belongs"},
        Case{"NameEmpty", [](MnmEdit& e) { e.set<char>(e.entry(0), 0); }, "tensor 0 of the table has the malformed name"},
        Case{"NameTail", [](MnmEdit& e) { e.set<char>(e.entry(0) + 63, 'x'); }, "malformed name \"embed\""},
        Case{"NameFull", [](MnmEdit& e) { e.bytes.replace(e.entry(0), 64, 64, 'n'); }, "malformed name"},
        Case{"NameControl", [](MnmEdit& e) { e.set<char>(e.entry(0), '\n'); }, "\\x0ambed"},
        Case{"Type0", type("embed", 0), "tensor embed has type 0, which this program does not know"},
        Case{"TypeNew", type("layers.1.down", 8), "tensor layers.1.down has type 8"},
        Case{"TypeHuge", type("head", UINT32_MAX), "type 4294967295"},
        Case{"MatrixAsVec", type("layers.0.q", 1), "tensor layers.0.q has type vec, which is for norms"},
        Case{"NormAsMatrix", type("out_norm", 2), "tensor out_norm has type f32, which is for matrices"},
        Case{"TypeOfBlocks", type("layers.0.q", 6), "tensor layers.0.q has 24 columns, no multiple of the 256 of a block of q4_K"},
        Case{"TypeOther", type("layers.0.q", 4), "tensor layers.0.q has 576 bytes where 12 x 24 in q4 take 288"},
        Case{"Zero", [](MnmEdit& e) { e.set<uint32_t>(e.entry(1) + 68, 1); }, "reserved bytes of tensor layers.0.attn_norm"},
        Case{"Tail", [](MnmEdit& e) { e.set<uint8_t>(e.entry(1) + 127, 1); }, "reserved bytes of tensor layers.0.attn_norm"},
        Case{"Rows0", entry("layers.0.q", 72, 0), "tensor layers.0.q has 0 x 24 values"},
        Case{"RowsHuge", entry("layers.0.q", 72, kHuge), "18446744073709551615 x 24"},
        Case{"RowsOverflow", entry("layers.0.q", 72, uint64_t{1} << 60), "1152921504606846976 x 24"},
        Case{"Cols0", entry("layers.0.q", 80, 0), "tensor layers.0.q has 12 x 0 values"},
        Case{"ColsHuge", entry("layers.0.q", 80, kHuge), "12 x 18446744073709551615"},
        Case{"NormRows", entry("out_norm", 72, 2), "tensor out_norm has 2 x 24"},
        Case{"Bytes0", entry("layers.0.q", 96, 0), "tensor layers.0.q has 0 bytes where 12 x 24 in q8 take 576"},
        Case{"BytesHuge", entry("layers.0.q", 96, kHuge), "tensor layers.0.q has 18446744073709551615 bytes"},
        Case{"OffsetBefore",
             [](MnmEdit& e) { e.set<uint64_t>(e.entry("layers.0.k") + 88, e.get<uint64_t>(e.entry("layers.0.q") + 88)); },
             "tensor layers.0.k is at byte"},
        Case{"OffsetOverlap",
             [](MnmEdit& e) { e.set<uint64_t>(e.entry("layers.0.k") + 88, e.get<uint64_t>(e.entry("layers.0.k") + 88) - 64); },
             "it overlaps what is before it"},
        Case{"OffsetGap",
             [](MnmEdit& e) { e.set<uint64_t>(e.entry("layers.0.k") + 88, e.get<uint64_t>(e.entry("layers.0.k") + 88) + 64); },
             "there is a gap before it"},
        Case{"OffsetUnaligned",
             [](MnmEdit& e) { e.set<uint64_t>(e.entry("layers.0.k") + 88, e.get<uint64_t>(e.entry("layers.0.k") + 88) + 1); },
             "there is a gap before it"},
        Case{"OffsetIntoHeader", entry("embed", 88, 0), "tensor embed is at byte 0 where"},
        Case{"OffsetHuge", entry("head", 88, kHuge - 63), "tensor head is at byte"},
        Case{"BeyondTheEnd",
             [](MnmEdit& e) {
               // one more layer's worth of rows than the file has: shape and table agree, the file does not
               e.bytes.resize(e.bytes.size() - 64);
               e.set<uint64_t>(16, e.bytes.size()).set<uint64_t>(80, e.bytes.size() - e.data_offset()).rehash();
             },
             "tensor head of 3072 bytes at "}),
    kCaseName);

MnmEdit with_meta(const std::string& meta, uint64_t more) {
  MnmEdit e{tiny_file()};
  return e.replace_meta(meta, e.get<uint64_t>(56) + more);
}

// drops a key
std::function<void(MnmEdit&)> without(const char* key) {
  return [=](MnmEdit& e) {
    const size_t at = e.meta(key), from = e.meta_offset();
    std::string m = e.meta_text();
    m.erase(at - from, 24 + e.get<uint32_t>(at) + e.get<uint64_t>(at + 16));
    e.replace_meta(m, e.get<uint64_t>(56) - 1);
  };
}
// puts an entry where its key belongs in the order; in place of one with the same key
std::function<void(MnmEdit&)> with(const std::string& key, uint32_t type, const std::string& value, uint32_t flags = 0) {
  return [=](MnmEdit& e) {
    std::string out;
    uint64_t count = 0;
    bool put = false;
    size_t at = e.meta_offset();
    for (uint64_t i = 0; i < e.get<uint64_t>(56); i++) {
      const size_t n = 24 + e.get<uint32_t>(at) + e.get<uint64_t>(at + 16);
      const std::string k = e.bytes.substr(at + 24, e.get<uint32_t>(at));
      if (!put && k >= key) {
        out += test::meta_entry(key, type, value, flags);
        put = true;
        count++;
      }
      if (k != key) {
        out += e.bytes.substr(at, n);
        count++;
      }
      at += n;
    }
    if (!put) {
      out += test::meta_entry(key, type, value, flags);
      count++;
    }
    e.replace_meta(out, count);
  };
}
std::string u32s(const std::vector<uint32_t>& v) { return {reinterpret_cast<const char*>(v.data()), v.size() * 4}; }
std::string f64s(const std::vector<double>& v) { return {reinterpret_cast<const char*>(v.data()), v.size() * 8}; }
std::string u64s(const std::vector<uint64_t>& v) { return {reinterpret_cast<const char*>(v.data()), v.size() * 8}; }
std::string strs(const std::vector<std::string>& v) {
  std::string s = u64s({v.size()});
  for (const auto& x : v) s += u32s({static_cast<uint32_t>(x.size())}) + x;
  return s;
}

INSTANTIATE_TEST_SUITE_P(
    Metadata, Field,
    ::testing::Values(
        Case{"FamilyMissing", without("family"), "the metadata key \"family\" is missing"},
        Case{"Family", value<char>("family", 'x'), "family is \"xlama\""}, Case{"ActMissing", without("act"), "\"act\" is missing"},
        Case{"Act", with("act", 3, "gelu", 1), "act is \"gelu\"; this program runs \"silu\" only"},
        Case{"StyleMissing", without("rope.style"), "\"rope.style\" is missing"},
        Case{"Style", with("rope.style", 3, "pairs", 1), "rope.style is \"pairs\""},
        Case{"EpsMissing", without("norm.eps"), "\"norm.eps\" is missing"},
        Case{"EpsNan", value("norm.eps", std::nan("")), "norm.eps is nan"},
        Case{"EpsNegative", value("norm.eps", -1e-5), "norm.eps is -1e-05"},
        Case{"EpsHuge", value("norm.eps", 1e300), "norm.eps is 1e+300"},
        Case{"ScaleMissing", without("attn.scale"), "\"attn.scale\" is missing"},
        Case{"ScaleZero", value("attn.scale", 0.0), "attn.scale is 0"},
        Case{"ScaleVanishes", value("attn.scale", 1e-300), "attn.scale is 1e-300"},
        Case{"ScaleInf", value("attn.scale", static_cast<double>(INFINITY)), "attn.scale is inf"},
        Case{"FactorNan", value("rope.factor", std::nan("")), "rope.factor is nan"},
        Case{"FreqsMissing", without("rope.freqs"), "\"rope.freqs\" is missing"},
        Case{"FreqsNone", with("rope.freqs", 5, ""), "rope.freqs has 0 frequencies where a head of 6 takes 1 to 3"},
        Case{"FreqsFour", with("rope.freqs", 5, f64s({1, 1, 1, 1})), "rope.freqs has 4 frequencies"},
        Case{"FreqNan", value("rope.freqs", std::nan(""), 8), "rope.freqs[1] is nan"},
        Case{"FreqNegative", value("rope.freqs", -1.0, 16), "rope.freqs[2] is -1"},
        Case{"FreqHuge", value("rope.freqs", 1e9), "rope.freqs[0] is 1000000000, which over 16 positions"},
        Case{"FamilyNew", with("family", 3, "gemma", 1),
             "family is \"gemma\"; this program runs llama, mistral, qwen2, qwen3, smollm3"},
        Case{"BiasFlag", with("attn.qkv_bias", 1, u64s({2}), 1), "attn.qkv_bias is 2 where 0 or 1 belongs"},
        Case{"BiasesMissing", with("attn.qkv_bias", 1, u64s({1}), 1),
             "the table has 21 tensors where a model of 2 layers has 26 or 27"},
        Case{"NormsMissing", with("attn.qk_norm", 1, u64s({1}), 1),
             "the table has 21 tensors where a model of 2 layers has 24 or 25"},
        Case{"WindowsFew", with("attn.windows", 4, u32s({8}), 1), "attn.windows has 1 numbers for 2 layers"},
        Case{"NoRopeBeyond", with("rope.none", 4, u32s({0, 2}), 1),
             "rope.none[1] is 2, which is not a layer of the 2 in ascending order"},
        Case{"NoRopeTwice", with("rope.none", 4, u32s({1, 1}), 1), "rope.none[1] is 1, which is not a layer"},
        Case{"WrongType", with("norm.eps", 1, u64s({0}), 1), "\"norm.eps\" has value type 1 (u64) where a f64 belongs"},
        Case{"TypeZero", [](MnmEdit& e) { e.set<uint32_t>(e.meta("name") + 4, 0); },
             "has value type 0 (unknown type) where a string belongs"},
        Case{"TypeSeven", [](MnmEdit& e) { e.set<uint32_t>(e.meta("name") + 4, 7); }, "has value type 7"},
        Case{"Flags", [](MnmEdit& e) { e.set<uint32_t>(e.meta("name") + 8, 2); }, "has flags 0x2"},
        Case{"FlagsZero", [](MnmEdit& e) { e.set<uint32_t>(e.meta("name") + 12, 9); }, "has flags 0x0 and 0x9"},
        Case{"KeyLength", [](MnmEdit& e) { e.set<uint32_t>(e.meta("name"), UINT32_MAX); },
             "has a name of 4294967295 and a value of"},
        Case{"KeyLength0", [](MnmEdit& e) { e.set<uint32_t>(e.meta("name"), 0); }, "malformed name \"\""},
        Case{"ValueLength", [](MnmEdit& e) { e.set<uint64_t>(e.meta("name") + 16, kHuge); },
             "a value of 18446744073709551615 bytes with"},
        Case{"ValueLengthWraps", [](MnmEdit& e) { e.set<uint64_t>(e.meta("name") + 16, kHuge - 3); },
             "a value of 18446744073709551612 bytes with"},
        Case{"U64Short", with("tok.bos", 1, "1234"), "\"tok.bos\" has 4 bytes where 8 belong"},
        Case{"F64Long", with("norm.eps", 2, f64s({1, 2}), 1), "\"norm.eps\" has 16 bytes where 8 belong"},
        Case{"U32sUneven", with("tok.ends", 4, "12345"), "\"tok.ends\" has 5 bytes, not a multiple of the 4"},
        Case{"F64sUneven", with("rope.freqs", 5, "12345"), "\"rope.freqs\" has 5 bytes, not a multiple of the 8"},
        Case{"StrsShort", with("tok.tokens", 6, "1234"), "\"tok.tokens\" has 4 bytes, fewer than the 8"},
        Case{"StrsCount", with("tok.tokens", 6, u64s({kHuge})), "says 18446744073709551615 strings, more than its 8 bytes"},
        Case{"StrsCount2", with("tok.tokens", 6, u64s({2}) + u32s({0})), "says 2 strings, more than its 12 bytes"},
        Case{"StrsLength", with("tok.tokens", 6, u64s({1}) + u32s({5}) + "abc"), "has string 0 of 5 bytes with 3 bytes left"},
        Case{"StrsLengthHuge", with("tok.tokens", 6, u64s({1}) + u32s({UINT32_MAX}) + "abc"), "string 0 of 4294967295 bytes"},
        Case{"StrsCut", with("tok.tokens", 6, u64s({2}) + u32s({3}) + "abcd"), "ends before the length of string 1 of 2"},
        Case{"StrsRest", with("tok.tokens", 6, u64s({1}) + u32s({1}) + "abc"), "has 2 bytes after its 1 strings"},
        Case{"RequiredUnknown", with("experts.count", 1, u64s({8}), 1),
             "\"experts.count\" is needed to run the model and unknown to this program"},
        Case{"TooManyTokens", with("tok.tokens", 6, strs(std::vector<std::string>(20, "a"))),
             "tok.tokens has 20 tokens, more than the vocabulary of 19"},
        Case{"BosBeyond", with("tok.bos", 1, u64s({19})), "tok.bos[0] is token 19, beyond the 19"},
        Case{"EndBeyond", with("tok.ends", 4, u32s({3, 19})), "tok.ends[1] is token 19"},
        Case{"SpecialBeyond", with("tok.specials", 4, u32s({UINT32_MAX})), "tok.specials[0] is token 4294967295"},
        Case{"MergeBeyond", with("tok.merges", 4, u32s({1, 2, 19})), "tok.merges[2] is token 19"},
        Case{"MergesUneven", with("tok.merges", 4, u32s({1, 2})), "tok.merges has 2 numbers, which are not triples"},
        Case{"AddBos", with("tok.add_bos", 1, u64s({2})), "tok.add_bos is 2 where 0 or 1 belongs"},
        Case{"Scores", with("tok.scores", 5, std::string(8 * 18, '\0')), "tok.scores has 18 numbers for 19 tokens"},
        Case{"Types", with("tok.types", 4, u32s({1, 2})), "tok.types has 2 numbers for 19 tokens"},
        Case{"UnknownBeyond", with("tok.unknown", 1, u64s({19})), "tok.unknown[0] is token 19"},
        Case{"ScoresType", with("tok.scores", 4, u32s({1})), "tok.scores"},
        Case{"KeyTwice", [](MnmEdit& e) { e = with_meta(e.meta_text() + test::meta_entry("source.hash", 1, "12345678"), 1); },
             "\"source.hash\" is there twice"},
        Case{"KeyOrder", [](MnmEdit& e) { e = with_meta(e.meta_text() + test::meta_entry("aaa", 1, "12345678"), 1); },
             "\"source.hash\" and \"aaa\" are out of order"},
        Case{"KeyName", [](MnmEdit& e) { e = with_meta(e.meta_text() + test::meta_entry("z\n", 1, "12345678"), 1); },
             "malformed name \"z\\x0a\""},
        Case{"KeyLong",
             [](MnmEdit& e) { e = with_meta(e.meta_text() + test::meta_entry(std::string(256, 'z'), 1, "12345678"), 1); },
             "malformed name \"zzz"},
        Case{"Cut", [](MnmEdit& e) { e = with_meta(e.meta_text() + "1234567", 1); }, "(7 bytes left)"},
        Case{"Rest", [](MnmEdit& e) { e = with_meta(e.meta_text() + "1234567", 0); }, "7 bytes of metadata follow its"}),
    kCaseName);

// What a newer writer may add without being refused.
TEST(Load, UnknownKeysThatAreNotRequired) {
  for (const uint32_t type : {1u, 3u, 6u, 99u}) {
    MnmEdit e{tiny_file()};
    with("zz.new", type, "12345678")(e);
    EXPECT_EQ(load_message(e.bytes), "");
  }
}

TEST(Load, ValuesThatAreNotFinite) {
  MnmEdit e{tiny_file()};
  e.set<float>(e.get<uint64_t>(e.entry("layers.1.ffn_norm") + 88) + 92, std::nanf(""));
  EXPECT_TRUE(says(load_message(e.bytes), "value 23 of tensor layers.1.ffn_norm is not finite"));
  e.bytes = tiny_file();
  const size_t q = e.entry("layers.0.q");
  e.set<float>(e.get<uint64_t>(q + 88) + e.get<uint64_t>(q + 96) - 20, INFINITY);
  EXPECT_TRUE(says(load_message(e.bytes), "the scale of row 11 of tensor layers.0.q is not finite"));
}

}  // namespace
}  // namespace nyb
