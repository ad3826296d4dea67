// load_test.cpp - the two ways to load a model: the same answer, and what each takes of memory and says of it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include "engine/memory.h"
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kHuge = uint64_t{2} << 20;

json answer(const Args& more) {
  Args args{"-p", "Tell me a story", "--seed", "1", "--max", "20", "--json", "--quiet"};
  args.insert(args.end(), more.begin(), more.end());
  const Ran r = chat(args);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  return json::parse(r.out, nullptr, false);
}

// Whether the system has huge pages to give at this moment.
bool huge_pages_come() {
  auto* p = static_cast<char*>(mmap(nullptr, 4 * kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (p == MAP_FAILED) return false;
  (void)madvise(p, 4 * kHuge, MADV_HUGEPAGE);
  std::memset(p, 1, 4 * kHuge);
  const bool come = range_use(p, 4 * kHuge).huge > 0;
  munmap(p, 4 * kHuge);
  return come;
}

TEST(LoadMode, TheSameAnswer) {
  const json map = answer({}), huge = answer({"--load", "huge"});
  EXPECT_EQ(huge["fingerprint"], map["fingerprint"]);
  EXPECT_EQ(huge["text"], map["text"]);
  EXPECT_EQ(map["load"], "map");
  EXPECT_EQ(huge["load"], "huge");
  EXPECT_EQ(chat({"--load", "huge", "--verify"}).code, 0);
}

TEST(LoadMode, TheFiguresOfMemory) {
  const uint64_t file = fs::file_size(pocket_model());
  for (const char* load : {"map", "huge"}) {
    const json j = answer({"--load", load}), m = j["memory_bytes"];
    EXPECT_GT(j["load_seconds"], 0);
    EXPECT_EQ(m["file"], file);
    EXPECT_GT(m["resident"], file / 2) << "a reply reads all of the weights";
    EXPECT_LT(m["resident"], file + 2 * kHuge);
    EXPECT_EQ(m["engine"], m["kv_cache"].get<uint64_t>() + m["working"].get<uint64_t>());
    EXPECT_GT(m["working"], 0);
    EXPECT_GT(m["peak_rss"], m["resident"]);
  }
  EXPECT_EQ(answer({"--ctx", "64"})["memory_bytes"]["kv_cache"].get<uint64_t>() * 2,
            answer({"--ctx", "128"})["memory_bytes"]["kv_cache"].get<uint64_t>());
}

TEST(LoadMode, HugePagesWhereTheSystemHasThem) {
  EXPECT_EQ(answer({"--load", "map"})["memory_bytes"]["huge_pages"], 0);
  const bool come = huge_pages_come();
  const uint64_t huge = answer({"--load", "huge"})["memory_bytes"]["huge_pages"];
  if (come) { EXPECT_GE(huge, fs::file_size(pocket_model()) / kHuge * kHuge); }
  const Ran r = chat({"--load", "huge", "-p", "hello", "--temp", "0"});
  EXPECT_NE(r.err.find("(read into memory in "), std::string::npos) << r.err;
  EXPECT_NE(r.err.find(" in huge pages"), std::string::npos) << r.err;
}

TEST(LoadMode, WithoutHugePagesItSaysSoAndGoesOn) {
  ASSERT_EQ(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
  const Ran r = chat({"--load", "huge", "-p", "hello", "--temp", "0"}),
            json_too = chat({"--load", "huge", "-p", "hello", "--json"});
  ASSERT_EQ(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, chat({"-p", "hello", "--temp", "0"}).out);
  EXPECT_NE(r.err.find("0 B of "), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("transparent huge pages"), std::string::npos) << r.err;
  EXPECT_EQ(json::parse(json_too.out)["memory_bytes"]["huge_pages"], 0);
}

TEST(LoadMode, TheWordsOfTheOption) {
  EXPECT_EQ(answer({"load=huge"})["load"], "huge");
  EXPECT_EQ(answer({"--load=huge", "--load", "map"})["load"], "map") << "the last one counts";
  EXPECT_EQ(answer({"--load", "huge", pocket_model()})["load"], "huge") << "it takes one word";
  for (const char* file : {"fast", "./huge", "./map"}) {
    const Ran r = chat({"--load", file, "-p", "x", "--quiet"});
    EXPECT_EQ(r.code, 1) << r.err;
    EXPECT_NE(r.err.find(file), std::string::npos) << "any other word is the name of a conversation: " << r.err;
  }
  const std::string talk = (tmp_dir() / "talk.json").string();
  ASSERT_EQ(chat({"--save", talk, "-p", "hello", "--seed", "1", "--quiet"}).code, 0);
  const json both = answer({"--load", talk, "--load", "huge"});
  EXPECT_EQ(both["load"], "huge");
  EXPECT_EQ(both["text"], answer({"--load", talk})["text"]);
  EXPECT_NE(both["prompt_tokens"], answer({})["prompt_tokens"]) << "the conversation came before";
  EXPECT_EQ(chat({"--load", talk, "--verify"}).code, 2);
  for (const Args& a : std::vector<Args>{{"--load", ""}, {"--load"}, {"load="}, {"--load", "a", "--load", "b"}}) {
    const Ran r = chat(a);
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_NE(r.err.find("--load"), std::string::npos) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
}

// A sparse file: its length is what counts.
std::string sparse(const std::string& name, uint64_t bytes) {
  const fs::path p = tmp_dir() / name;
  fs::copy_file(pocket_model(), p, fs::copy_options::overwrite_existing);
  fs::resize_file(p, bytes);
  return p.string();
}

TEST(LoadMode, AModelLargerThanMemoryIsRefused) {
  const std::string path = sparse("large.mnm", uint64_t{1} << 40);
  const Ran r = chat({path, "--load", "huge", "-p", "x"});
  EXPECT_EQ(r.code, 1);
  EXPECT_TRUE(r.err.starts_with("chat: --load huge would copy the 1.1 TB of '" + path + "' into memory, but ")) << r.err;
  EXPECT_NE(r.err.find(" free; --load map needs no copy\n"), std::string::npos) << r.err;
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
}

TEST(LoadMode, CtrlCWhileItReads) {
  if (memory_left().bytes < uint64_t{6} << 30) GTEST_SKIP() << "this machine has too little memory to read for long";
  Pty t({program("chat"), sparse("long.mnm", uint64_t{4} << 30), "--load", "huge"}, {"TERM=xterm"});
  ASSERT_TRUE(t.wait("reading the model [")) << t.seen;
  t.signal(2);
  EXPECT_EQ(t.finish(), 130) << t.seen;
}

// Pages of `path` in the page cache.
size_t cached_pages(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const size_t size = fs::file_size(path), pages = (size + 4095) / 4096;
  void* p = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  std::vector<unsigned char> in(pages);
  EXPECT_EQ(mincore(p, size, in.data()), 0);
  munmap(p, size);
  close(fd);
  return static_cast<size_t>(std::count_if(in.begin(), in.end(), [](unsigned char c) { return c & 1; }));
}

TEST(LoadMode, TheFileLeavesThePageCache) {
  const fs::path p = tmp_dir() / "cached.mnm";
  fs::copy_file(pocket_model(), p, fs::copy_options::overwrite_existing);
  const int fd = open(p.c_str(), O_RDONLY | O_CLOEXEC);
  fsync(fd);  // only what is on the disk can be dropped
  struct statfs s {};
  const bool in_memory = fstatfs(fd, &s) == 0 && s.f_type == 0x01021994;  // tmpfs: the cache is the file
  close(fd);
  if (in_memory) GTEST_SKIP() << "this machine has its temporary files in memory";
  const size_t before = cached_pages(p);
  EXPECT_EQ(chat({p.string(), "--load", "huge", "-p", "hello", "--max", "1", "--quiet"}).code, 0);
  EXPECT_LT(cached_pages(p), before / 10 + 64) << "of " << before;
}

TEST(Stats, AfterEachReplyAndAtTheEnd) {
  const auto count = [](const std::string& all, const std::string& what) {
    size_t n = 0;
    for (size_t at = 0; (at = all.find(what, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  struct Case {
    Args args;
    std::string in;
    size_t times, rates;
  };
  for (const Case& c : std::vector<Case>{{{"-p", "hello", "--stats", "--quiet"}, "", 1, 1},
                                         {{"--stats"}, "hello\nhow are you?\n", 2, 2},
                                         {{"--verify", "--stats", "--load", "huge"}, "", 1, 0},
                                         {{"-p", "hello"}, "", 0, 1}}) {
    const Ran r = chat(c.args, {.in = c.in});
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(count(r.err, "\nloaded in ") + (r.err.starts_with("loaded in ") ? 1 : 0), c.times) << r.err;
    EXPECT_EQ(count(r.err, "memory: model file "), c.times) << r.err;
    EXPECT_EQ(count(r.err, "; peak RSS "), c.times) << r.err;
    EXPECT_EQ(count(r.err, " prompt token"), c.rates) << r.err;
  }
  const Ran huge = chat({"-p", "hello", "--stats", "--quiet", "--load", "huge"});
  EXPECT_NE(huge.err.find(": reading the file "), std::string::npos) << huge.err;
  EXPECT_NE(huge.err.find(" copied, "), std::string::npos) << huge.err;
}

}  // namespace
}  // namespace nyb::test
