// GGUF files: every type of value, parts, and files that are wrong in each way there is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>

#include "hf_folder.h"
#include "model/gguf.h"
#include "random_damage.h"
#include "support/data.h"
#include "support/gguf_file.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;
using namespace test::gguf;  // NOLINT(google-build-using-namespace)
using test::gguf_text;
using test::GgufMade;
using test::le;
using test::message_of;
using test::says;

fs::path written(const std::string& bytes, const std::string& name = "made.gguf") {
  return test::write_file(test::tmp_dir() / name, bytes);
}
std::string message(const std::string& bytes) {
  const std::string p = written(bytes).string();
  return message_of([&] { Gguf g(p); });
}

GgufMade small() {
  GgufMade f;
  f.keys = {
      {"general.architecture", str("llama")},
      {"a.u8", u8(200)},
      {"a.i8", i8(-100)},
      {"a.u16", u16(60000)},
      {"a.i16", i16(-30000)},
      {"a.u32", u32(4000000000)},
      {"a.i32", i32(-2000000000)},
      {"a.f32", f32(1.5F)},
      {"a.true", boolean(1)},
      {"a.two", boolean(2)},
      {"a.u64", u64(UINT64_MAX)},
      {"a.i64", i64(INT64_MIN)},
      {"a.f64", f64(0.1)},
      {"a.empty", str("")},
      {"a.strs", strs({"one", "", std::string("t\0w", 3)})},
      {"a.ints", list<int16_t>(3, {-1, 2, 3})},
      {"a.bools", list<uint8_t>(7, {1, 0})},
      {"a.large", list<uint64_t>(10, {1, UINT64_MAX})},
      {"a.floats", list<float>(6, {0.5F, -2})},
      {"a.doubles", list<double>(12, {0.1})},
      {"a.none", list<int32_t>(5, {})},
      {"a.nested", list(9, 2, le<uint32_t>(8) + le<uint64_t>(1) + gguf_text("x") + le<uint32_t>(0) + le<uint64_t>(2) + "ab")}};
  f.tensors = {{"one", {3, 2}, 0, std::string(24, 'o')},
               {"two", {64}, 2, std::string(36, 't')},
               {"three", {1, 1, 1, 5}, 1, std::string(10, 'h')}};
  return f;
}

TEST(Gguf, KeysByTheirTypes) {
  for (const uint32_t version : {2u, 3u}) {
    GgufMade f = small();
    f.version = version;
    const Gguf g(written(f.bytes()).string());
    EXPECT_EQ(g.str("general.architecture"), "llama");
    EXPECT_EQ(g.u64("a.u8"), 200u);
    EXPECT_EQ(g.u64("a.u16"), 60000u);
    EXPECT_EQ(g.u64("a.u32"), 4000000000u);
    EXPECT_EQ(g.u64("a.u64"), UINT64_MAX);
    EXPECT_EQ(g.f64("a.f32"), 1.5);
    EXPECT_EQ(g.f64("a.f64"), 0.1);
    EXPECT_EQ(g.boolean("a.true"), true);
    EXPECT_EQ(g.str("a.empty"), "");
    EXPECT_EQ(g.strs("a.strs"), (std::vector<std::string_view>{"one", "", std::string_view("t\0w", 3)}));
    EXPECT_EQ(g.ints("a.ints"), (std::vector<int64_t>{-1, 2, 3}));
    EXPECT_EQ(g.ints("a.bools"), (std::vector<int64_t>{1, 0}));
    EXPECT_EQ(g.floats("a.floats"), (std::vector<double>{0.5, -2}));
    EXPECT_EQ(g.floats("a.doubles"), (std::vector<double>{0.1}));
    EXPECT_EQ(g.ints("a.none"), std::vector<int64_t>{});
    EXPECT_EQ(g.u64("absent"), std::nullopt);
    EXPECT_TRUE(g.strs("absent").empty());
    EXPECT_TRUE(g.has("a.nested") && g.is_list("a.nested") && !g.is_list("a.u8"));
    EXPECT_EQ(g.keys().size(), small().keys.size());
    const auto said = [&](auto&& ask) { return message_of([&] { (void)ask(); }); };
    EXPECT_TRUE(says(said([&] { return g.u64("a.i8"); }), "made.gguf: key a.i8 is -100, where a number that is not negative"));
    EXPECT_TRUE(says(said([&] { return g.u64("a.i64"); }), "key a.i64 is -9223372036854775808"));
    EXPECT_TRUE(says(said([&] { return g.u64("a.f32"); }), "key a.f32 is of type f32, where a whole number belongs"));
    EXPECT_TRUE(says(said([&] { return g.u64("a.true"); }), "is of type boolean"));
    EXPECT_TRUE(says(said([&] { return g.f64("a.u8"); }), "is of type u8, where a number of type f32 or f64"));
    EXPECT_TRUE(says(said([&] { return g.boolean("a.two"); }), "is a boolean of 2"));
    EXPECT_TRUE(says(said([&] { return g.boolean("a.u8"); }), "where a boolean belongs"));
    EXPECT_TRUE(says(said([&] { return g.str("a.strs"); }), "is a list of 3 of type string, where a string belongs"));
    EXPECT_TRUE(says(said([&] { return g.strs("a.ints"); }), "is a list of 3 of type i16, where a list of strings belongs"));
    EXPECT_TRUE(says(said([&] { return g.strs("a.empty"); }), "is of type string, where a list belongs"));
    EXPECT_TRUE(says(said([&] { return g.ints("a.strs"); }), "where a list of whole numbers"));
    EXPECT_TRUE(says(said([&] { return g.ints("a.large"); }), "where a list of whole numbers below 2^63"));
    EXPECT_TRUE(says(said([&] { return g.ints("a.nested"); }), "is a list of lists"));
    EXPECT_TRUE(says(said([&] { return g.floats("a.ints"); }), "where a list of numbers of type f32 or f64"));
  }
}

TEST(Gguf, TensorsWhereTheyAre) {
  for (const uint64_t align : {32u, 1u, 8u, 4096u}) {
    GgufMade f = small();
    f.align = align;
    if (align != 32) f.keys.emplace_back("general.alignment", u32(static_cast<uint32_t>(align)));
    const Gguf g(written(f.bytes()).string());
    ASSERT_EQ(g.tensors().size(), 3u);
    for (size_t i = 0; i < 3; i++) {
      const GgufTensor& t = g.tensors()[i];
      EXPECT_EQ(t.name, f.tensors[i].name);
      EXPECT_EQ(t.type->number, f.tensors[i].type);
      EXPECT_EQ(t.rank, f.tensors[i].dims.size());
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(t.data), t.bytes), f.tensors[i].bytes);
      EXPECT_EQ(g.tensor(t.name), &t);
    }
    EXPECT_EQ(g.tensors()[0].dims, (std::array<uint64_t, 4>{3, 2, 1, 1}));
    EXPECT_EQ(g.tensor("four"), nullptr);
  }
}

// What is before the data is cut anywhere, and so is the data; only zeros after the last tensor are not missed.
TEST(Gguf, CutAnywhere) {
  const GgufMade f = small();
  const std::string whole = f.bytes();
  const fs::path p = written(whole);
  const size_t needed = whole.size() - 22;  // the last tensor has 10 of 32 bytes
  for (size_t n = whole.size() - 1;; n--) {
    fs::resize_file(p, n);
    const std::string said = message_of([&] { Gguf g(p.string()); });
    if (n >= needed)
      ASSERT_EQ(said, "") << n;
    else
      ASSERT_TRUE(says(said, "made.gguf: ")) << n;
    if (n == 0) break;
  }
  EXPECT_TRUE(says(message(whole.substr(0, 3)), "the file ends after 3 bytes, within its header"));
  EXPECT_TRUE(says(message(whole.substr(0, needed - 1)), "tensor \"three\" of 10 bytes at 96 of the data, which begins at byte " +
                                                             std::to_string(whole.size() - 128) + ", ends beyond the file's " +
                                                             std::to_string(needed - 1)));
}

TEST(Gguf, FrontsThatAreWrong) {
  const auto with = [](auto&& change) {
    GgufMade f = small();
    change(f);
    return message(f.bytes());
  };
  const auto key = [&](const std::string& value) {
    return with([&](GgufMade& f) { f.keys.insert(f.keys.begin(), {"k", value}); });
  };
  const auto tensor = [&](const GgufMade::Tensor& t) { return with([&](GgufMade& f) { f.tensors.push_back(t); }); };
  const std::string four(4, 'x');
  EXPECT_TRUE(says(message("GGML" + four), "this is not a GGUF file: it begins with 0x4c4d4747"));
  for (const uint32_t v : {0u, 1u, 4u, UINT32_MAX})
    EXPECT_TRUE(says(with([&](GgufMade& f) { f.version = v; }), "the GGUF version is " + std::to_string(v) + "; 2 and 3 are read"));
  EXPECT_TRUE(says(with([&](GgufMade& f) { f.version = 0x03000000; }), "this GGUF file is big endian"));
  // counts
  for (const uint64_t n : {uint64_t{1} << 40, UINT64_MAX}) {
    EXPECT_TRUE(
        says(with([&](GgufMade& f) { f.key_count = n; }), "the header says " + std::to_string(n) + " keys, more than a file"));
    EXPECT_TRUE(says(with([&](GgufMade& f) { f.tensor_count = n; }), std::to_string(n) + " tensors, more than a file"));
    EXPECT_TRUE(says(key(list(0, n, "")), "key \"k\" has a list of " + std::to_string(n) + " values at byte"));
    EXPECT_TRUE(says(key(list(8, n, "")), "key \"k\" has a list of " + std::to_string(n) + " values at byte"));
    EXPECT_TRUE(says(key(list(10, n, "")), "of 8 bytes each at least"));
    EXPECT_TRUE(says(key(le<uint32_t>(8) + le(n)), "key \"k\" has a string of " + std::to_string(n) + " bytes at byte"));
  }
  EXPECT_TRUE(says(with([&](GgufMade& f) { f.key_count = f.keys.size() + 1; }), "made.gguf: "));
  EXPECT_TRUE(says(with([&](GgufMade& f) { f.tensor_count = f.tensors.size() + 1; }), "made.gguf: "));
  // keys
  EXPECT_TRUE(says(key(le<uint32_t>(13)), "key \"k\" has values of the unknown type 13"));
  EXPECT_TRUE(says(key(list(13, 0, "")), "key \"k\" has values of the unknown type 13"));
  EXPECT_TRUE(says(with([](GgufMade& f) { f.keys.emplace_back("a.u8", u8(1)); }), "key \"a.u8\" is there twice"));
  EXPECT_TRUE(says(with([](GgufMade& f) { f.keys[3].first = ""; }), "key 3 has no name"));
  std::string nested = list(0, 1, "x");
  for (int i = 0; i < 7; i++) nested = list(9, 1, nested.substr(4));
  EXPECT_EQ(key(nested), "");
  EXPECT_TRUE(says(key(list(9, 1, nested.substr(4))), "key \"k\" has lists nested more than 8 deep"));
  std::string endless;
  for (int i = 0; i < 1000000; i++) endless += le<uint32_t>(9) + le<uint64_t>(1);
  EXPECT_TRUE(says(key(le<uint32_t>(9) + endless), "nested more than 8 deep"));
  // alignment
  EXPECT_TRUE(
      says(with([](GgufMade& f) { f.set("general.alignment", u32(0)); }), "general.alignment is 0, which is no power of two"));
  EXPECT_TRUE(says(with([](GgufMade& f) { f.set("general.alignment", u32(48)); }), "general.alignment is 48, which is"));
  EXPECT_TRUE(says(with([](GgufMade& f) { f.set("general.alignment", i64(INT64_MIN)); }), "-9223372036854775808, which is no"));
  EXPECT_TRUE(says(with([](GgufMade& f) { f.set("general.alignment", u64(uint64_t{1} << 62)); }), "ends beyond the file's"));
  EXPECT_TRUE(says(with([](GgufMade& f) { f.set("general.alignment", u64(uint64_t{1} << 63)); }), "no whole number but a u64"));
  EXPECT_TRUE(says(with([](GgufMade& f) { f.set("general.alignment", str("32")); }), "no whole number but a string"));
  // tensors
  EXPECT_TRUE(says(tensor({"two", {1}, 0, four}), "tensor \"two\" is in the table twice"));
  EXPECT_TRUE(says(tensor({"", {1}, 0, four}), "tensor 3 of the table has no name"));
  EXPECT_TRUE(says(tensor({"x", {}, 0, four}), "tensor \"x\" has 0 dimensions; 1 to 4 are read"));
  EXPECT_TRUE(says(tensor({"x", {1, 1, 1, 1, 1}, 0, four}), "tensor \"x\" has 5 dimensions"));
  EXPECT_TRUE(says(tensor({"x", {1, 0}, 0, four}), "tensor \"x\" has a dimension of 0"));
  EXPECT_TRUE(
      says(tensor({"x", {1ull << 32, 1ull << 32}, 0, four}), "has 4294967296 x 4294967296 values, which do not fit in 64 bits"));
  EXPECT_TRUE(says(tensor({"x", {1ull << 32, 1ull << 30}, 0, four}), "blocks of 4 bytes, which do not fit in 64 bits"));
  EXPECT_TRUE(says(tensor({"x", {1ull << 32, 1ull << 29}, 0, four}), "tensor \"x\" of 9223372036854775808 bytes at"));
  EXPECT_TRUE(says(tensor({"x", {33}, 2, four}), "tensor \"x\" has rows of 33 values, no multiple of the 32 of a block of q4_0"));
  for (const uint32_t bad : {4u, 5u, 31u, 43u, UINT32_MAX})
    EXPECT_TRUE(says(tensor({"x", {1}, bad, four}), "tensor \"x\" has the type " + std::to_string(bad) + ", which is not known"));
  // offsets
  const auto at = [&](uint64_t offset) { return with([&](GgufMade& f) { f.tensors[1].offset = offset; }); };
  EXPECT_TRUE(says(at(33), "tensor \"two\" is at 33 of the data, which is no multiple of the alignment 32"));
  EXPECT_TRUE(says(at(0), "tensor \"two\" is at 0 of the data where 32 belongs: it overlaps what is before it"));
  EXPECT_TRUE(says(at(64), "tensor \"two\" is at 64 of the data where 32 belongs: it leaves a gap before it"));
  EXPECT_TRUE(says(at(1024), "ends beyond the file's"));
  EXPECT_TRUE(says(at(UINT64_MAX - 31), "ends beyond the file's"));
  // names that a terminal would obey
  EXPECT_TRUE(says(tensor({"\x1b[2J\n", {1}, 99, four}), "tensor \"\\x1b[2J\\x0a\" has the type 99"));
}

// Lengths that only a front as long as they say could hold, in a file of holes that is that long: no time and no memory.
TEST(Gguf, AFrontOfTerabytes) {
  GgufMade f = small();
  f.keys.emplace_back("k", list(0, uint64_t{1} << 39, ""));
  const fs::path p = written(f.bytes());
  std::error_code ec;
  fs::resize_file(p, uint64_t{1} << 40, ec);
  if (ec) GTEST_SKIP() << "this machine has no file system for a file of 1 TiB: " << ec.message();
  const std::string said = message_of([&] { Gguf g(p.string()); });
  fs::remove(p);
  if (said.find("cannot map it") != std::string::npos) GTEST_SKIP() << "this machine has no addresses for a file of 1 TiB";
  EXPECT_TRUE(says(said, "key \"k\" has a list of 549755813888 values at byte"));
}

// More keys or tensors than any model has, in a file of holes that could hold them.
TEST(Gguf, MoreThanAreRead) {
  GgufMade f = small();
  const auto said = [&] {
    const fs::path p = written(f.bytes());
    fs::resize_file(p, uint64_t{64} << 20);
    return message_of([&] { Gguf g(p.string()); });
  };
  f.key_count = 65537;
  EXPECT_TRUE(says(said(), "the header says 65537 keys, more than the 65536 that are read"));
  f.key_count.reset();
  f.tensor_count = 1048577;
  EXPECT_TRUE(says(said(), "the header says 1048577 tensors, more than the 1048576 that are read"));
}

TEST(Gguf, PartsAreOneModel) {
  const fs::path dir = test::tmp_dir() / "parts";
  const auto name = [&](int n) { return dir / ("m-0000" + std::to_string(n) + "-of-00003.gguf"); };
  std::vector<GgufMade> parts(3);
  const auto write = [&] {
    for (int n = 0; n < 3; n++) test::write_file(name(n + 1), parts[static_cast<size_t>(n)].bytes());
  };
  const auto fresh = [&] {
    for (uint16_t n = 0; n < 3; n++) {
      parts[n] = {};
      parts[n].keys = {{"split.no", u16(n)}, {"split.count", u16(3)}, {"split.tensors.count", i32(3)}};
      parts[n].keys.emplace_back("own", u8(static_cast<uint8_t>(n)));
      parts[n].tensors = {{"t" + std::to_string(n), {2}, 0, std::string(8, static_cast<char>('a' + n))}};
    }
    write();
  };
  const auto said = [&](int n) { return message_of([&] { Gguf g(name(n).string()); }); };
  fresh();
  for (const int opened : {1, 3}) {
    const Gguf g(name(opened).string());
    EXPECT_EQ(g.path(), name(1).string());
    EXPECT_EQ(g.u64("own"), 0u);
    ASSERT_EQ(g.tensors().size(), 3u);
    for (size_t n = 0; n < 3; n++) {
      EXPECT_EQ(g.tensors()[n].file, n);
      EXPECT_EQ(*g.tensors()[n].data, 'a' + n);
      EXPECT_EQ(g.files()[n].path(), name(static_cast<int>(n) + 1).string());
    }
  }
  parts[1].tensors[0].name = "t0";
  write();
  EXPECT_TRUE(says(said(1), "m-00002-of-00003.gguf: tensor \"t0\" is in " + name(1).string() + " as well"));
  fresh();
  parts[1].set("split.no", u16(2));
  write();
  EXPECT_TRUE(says(said(1), "m-00002-of-00003.gguf: split.no is 2 and split.count is 3, where part 2 of 3 has 1 and 3"));
  parts[1].set("split.no", u16(1)).set("split.count", u16(4));
  write();
  EXPECT_TRUE(says(said(1), "split.no is 1 and split.count is 4, where part 2 of 3 has 1 and 3"));
  parts[1].erase("split.no").set("split.count", u16(4));
  write();
  EXPECT_TRUE(says(said(1), "split.no is missing and split.count is 4"));
  fresh();
  parts[0].set("split.tensors.count", i32(4));
  write();
  EXPECT_TRUE(says(said(1), "split.tensors.count is 4, but the 3 parts have 3 tensors"));
  parts[0].set("split.tensors.count", i32(-1));
  write();
  EXPECT_TRUE(says(said(1), "key split.tensors.count is no whole number from 0 on"));
  fresh();
  fs::remove(name(2));
  EXPECT_TRUE(says(said(1), "m-00002-of-00003.gguf: cannot open it: "));
  fs::rename(name(3), dir / "other.gguf");
  EXPECT_TRUE(
      says(message_of([&] { Gguf g((dir / "other.gguf").string()); }),
           "other.gguf: this is part 3 of 3 by its keys split.no and split.count, and so must be called NAME-00003-of-00003.gguf"));
  for (const char* other : {"m-00002-of-00003.gguf", "m-00003-of-00004.gguf"}) {
    fs::copy_file(dir / "other.gguf", dir / other);
    EXPECT_TRUE(says(message_of([&] { Gguf g((dir / other).string()); }), "and so must be called NAME-00003-of-00003.gguf"))
        << other;
  }
  // a part's name alone makes no part
  test::write_file(name(1), small().bytes());
  EXPECT_EQ(said(1), "");
}

// Whatever the bytes, in bounded memory: a file or one sentence.
TEST(Gguf, Damaged) {
  const std::string base = small().bytes();
  const size_t front = small().front().size();
  const fs::path p = written(base, "damaged.gguf");
  const int fd = open(p.c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  test::Random r{77};
  size_t read = 0, refused = 0;
  const auto begin = std::chrono::steady_clock::now();
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < 20000; i++) {
    if (i % 1000 == 0 && std::chrono::steady_clock::now() - begin > std::chrono::seconds(20)) break;  // under a sanitizer
    std::string b = base;
    for (uint64_t k = 0, n = 1 + r.below(3); k < n; k++) test::damage(b, 4, front, r);
    if (r.below(4) == 0) b.resize(1 + r.below(b.size()));
    ASSERT_EQ(pwrite(fd, b.data(), b.size(), 0), static_cast<ssize_t>(b.size()));
    ASSERT_EQ(ftruncate(fd, static_cast<off_t>(b.size())), 0);
    try {
      const Gguf g(p.string());
      read++;
      for (const auto& [k, v] : g.keys()) {
        try {
          (void)g.u64(k);
          (void)g.f64(k);
          (void)g.str(k);
        } catch (const Error&) {}
        try {
          (void)(v.element == GgufType::string ? g.strs(k).size() : g.ints(k).size());
        } catch (const Error&) {}
      }
      uint64_t sum = 0;
      for (const GgufTensor& t : g.tensors())
        for (uint64_t at = 0; at < t.bytes; at++) sum += t.data[at];
      ASSERT_GT(sum + 1, 0u);
    } catch (const Error& e) {
      refused++;
      ASSERT_TRUE(says(e.what(), p.string() + ": ")) << i;
    }
  }
  close(fd);
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 200 * 1024);
  EXPECT_GT(refused, read);
  EXPECT_GT(read, 100u);
}

TEST(Gguf, FilesOfOthers) {
  NYB_NEED_DATA();
  const Gguf s((test::data_dir() / "stories260K" / "stories260K-f32.gguf").string());
  EXPECT_EQ(s.u64("llama.block_count"), 5u);
  EXPECT_EQ(s.tensors().size(), 47u);
  EXPECT_EQ(s.strs("tokenizer.ggml.tokens").size(), 512u);
  const Gguf q((test::data_dir() / "vocab" / "ggml-vocab-qwen2.gguf").string());
  EXPECT_EQ(q.tensors().size(), 0u);
  EXPECT_EQ(q.strs("tokenizer.ggml.tokens").size(), 151936u);
  EXPECT_EQ(q.ints("tokenizer.ggml.token_type").size(), 151936u);
}

}  // namespace
}  // namespace nyb
