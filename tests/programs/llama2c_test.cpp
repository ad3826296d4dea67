// A model of llama2.c with its tokenizer, from quantize to the text that llama2.c prints.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include "kern/cpu.h"
#include "model/model.h"
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {
namespace fs = std::filesystem;

std::string stories(const std::string& file) { return (data_dir() / "stories260K" / file).string(); }

Ran quantize(const Args& args) {
  Args all{program("quantize"), "--quiet"};
  all.insert(all.end(), args.begin(), args.end());
  return run(all);
}

std::string made(const std::string& name, Args args) {
  std::string out = (tmp_dir() / name).string();
  args.insert(args.begin() + 1, out);
  const Ran r = quantize(args);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out + r.err, "");
  return out;
}

const std::string& f32() {
  static const std::string path =
      made("stories.mnm", {stories("stories260K.bin"), "--type", "f32", "--tokenizer", stories("tok512.bin")});
  return path;
}

// An explained error: code 1, one line on stderr with `part` in it, nothing on stdout.
void fails(const Ran& r, const std::string& part) {
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  EXPECT_NE(r.err.find(part), std::string::npos) << r.err << " lacks " << part;
}

std::vector<int> expected_ids() {
  std::istringstream in(read_file(stories("expected_ids.txt")));
  std::vector<int> ids;
  for (int id = 0; in >> id;) ids.push_back(id);
  return ids;
}

// 256 ids with BOS
const Args kGreedy{"--raw", "-p", "", "--temp", "0", "--max", "255", "--quiet"};

Args with(Args base, const Args& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

class Llama2cOnPath : public testing::TestWithParam<Path> {};

TEST_P(Llama2cOnPath, WritesTheKnownStory) {
  NYB_NEED_DATA();
  const Path path = GetParam();
  const std::string missing = cpu_missing(cpu_here(), path);
  const bool emulated = (path == Path::vnni || path == Path::vnni8) && cpu_missing(cpu_here(), Path::avx2).empty();
  if (!missing.empty() && !emulated) GTEST_SKIP() << "this CPU lacks " << missing;
  const std::string name(path_name(path));
  const auto tell = [&](const Args& more) {
    return run(with(with({program(missing.empty() ? "chat" : "chat_emu"), f32(), "--kernel", name}, kGreedy), more));
  };
  const Ran text = tell({});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.out, read_file(stories("expected.txt")) + "\n");
  for (const Args& more : {Args{"--threads", "1"}, Args{"--threads", "3"}}) {
    const Ran json = tell(with({"--json"}, more));
    ASSERT_EQ(json.code, 0) << json.err;
    const auto j = nlohmann::json::parse(json.out);
    std::vector<int> ids = j["ids"];
    ids.insert(ids.begin(), 1);  // BOS, which is the whole prompt
    EXPECT_EQ(ids, expected_ids());
    EXPECT_EQ(j["prompt_tokens"], 1);
    EXPECT_EQ(j["text"].get<std::string>(), read_file(stories("expected.txt")));
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Llama2cOnPath, testing::ValuesIn(kAllPaths),
                         [](const auto& info) { return std::string(path_name(info.param)); });

TEST(Llama2c, TheFolderOfTheSameModelTellsTheSame) {
  NYB_NEED_DATA();
  const std::string folder = made("stories-hf.mnm", {stories("hf"), "--type", "q8", "--tokenizer", stories("tok512.bin")});
  const std::string file = made("stories-q8.mnm", {stories("stories260K.bin"), "--tokenizer", stories("tok512.bin")});
  const auto print = [](const std::string& model) {
    const Ran r = chat({model, "-p", "Once upon a time", "--seed", "3", "--max", "60", "--quiet", "--fingerprint"});
    EXPECT_EQ(r.code, 0) << r.err;
    return r.out + fingerprint_of(r.err);
  };
  EXPECT_EQ(print(folder), print(file));
}

TEST(Llama2c, CompletesAndSaysSo) {
  NYB_NEED_DATA();
  const Ran r = chat({f32(), "-p", "Once upon a", "--temp", "0", "--max", "3"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("no chat template: it continues each text (completion mode)"), std::string::npos) << r.err;
  EXPECT_EQ(r.out, " time, there\n") << "a reply goes on within the text: its blank stays";
  // from nothing at all the text begins without the blank
  EXPECT_EQ(chat({f32(), "-p", "", "--temp", "0", "--max", "4", "--quiet"}).out, "Once upon a time\n");
  EXPECT_EQ(chat({f32(), "--ids", "1", "--temp", "0", "--max", "4", "--quiet"}).out, "Once upon a time\n");
  EXPECT_EQ(chat({f32(), "--ids", "1,403", "--temp", "0", "--max", "3", "--quiet"}).out, " upon a time\n");
  fails(chat({f32(), "-p", "x", "--system", "y", "--quiet"}), "has no chat template");
  // what is typed is text, not BOS
  const Ran typed = chat({f32(), "-p", "<s>", "--max", "0", "--json", "--quiet"});
  EXPECT_EQ(nlohmann::json::parse(typed.out)["prompt_tokens"], 1 + 4) << typed.out;
}

TEST(Llama2c, AReplyEndsWhereTheNextTextWouldBegin) {
  NYB_NEED_DATA();
  const auto m = eng_load(f32());
  EXPECT_EQ(m->meta.get<std::vector<uint32_t>>(key::tok_ends), (std::vector<uint32_t>{1, 2}));
}

TEST(Llama2c, WithoutATokenizerItTakesIds) {
  NYB_NEED_DATA();
  const std::string bare = made("stories-bare.mnm", {stories("stories260K.bin"), "--type", "f32"});
  EXPECT_EQ(eng_load(bare)->name, "stories260K");
  EXPECT_EQ(chat({bare, "--ids", "1", "--temp", "0", "--max", "4", "--quiet"}).out, "403,407,261,378\n");
  fails(chat({bare, "-p", "Once", "--quiet"}), "has no tokenizer: give token ids with --ids in place of text");
  fails(chat({bare, "--raw", "-p", "", "--quiet"}), "has no tokenizer");
  EXPECT_EQ(chat({bare, "--eval", stories("expected.txt"), "--quiet"}).code, 1);
}

TEST(Llama2c, Eval) {
  NYB_NEED_DATA();
  const Ran r = chat({f32(), "--eval", stories("expected.txt"), "--quiet", "--json"});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto j = nlohmann::json::parse(r.out);
  EXPECT_LT(j["loss"].get<double>(), 1.0) << "its own greedy text";
  EXPECT_GE(j["tokens"].get<size_t>(), 256u);
}

TEST(Llama2c, TokenizersThatDoNotBelong) {
  NYB_NEED_DATA();
  const std::string out = (tmp_dir() / "none.mnm").string(), bin = stories("stories260K.bin"), tok = stories("tok512.bin");
  const auto refused = [&](const std::string& in, const std::string& tokenizer, const std::string& part) {
    fails(quantize({in, out, "--tokenizer", tokenizer}), part);
    EXPECT_FALSE(fs::exists(out));
  };
  refused(pocket_dir().string(), tok, "tokenizer.json: the model has this tokenizer of its own; leave out --tokenizer");
  refused(bin, "/no/such", "/no/such: cannot open it");
  refused(bin, data_dir().string(), "this is a folder");
  refused(bin, bin, "stories260K.bin: ");
  refused(bin, (pocket_dir() / "tokenizer.json").string(), "tokenizer.json: ");
  const std::string short_one = (tmp_dir() / "tok511.bin").string();
  const std::string all = read_file(tok);
  std::ofstream(short_one, std::ios::binary) << all.substr(0, all.size() - 11);
  refused(bin, short_one, "it has 511 tokens where the model's vocabulary is 512");
  const Ran empty = quantize({bin, out, "--tokenizer", ""});
  EXPECT_EQ(empty.code, 2);
  // nor is what is read ever written
  const std::string copy = (tmp_dir() / "copy.bin").string();
  fs::copy_file(tok, copy);
  fails(quantize({bin, copy, "--tokenizer", copy}), "a part of the model to convert");
  EXPECT_EQ(read_file(copy), all);
}

TEST(Llama2c, FilesThatAreNoModels) {
  const std::string out = (tmp_dir() / "none.mnm").string();
  const auto refused = [&](const std::string& in, const std::string& part) {
    fails(quantize({in, out}), part);
    EXPECT_FALSE(fs::exists(out));
  };
  const auto file = [](const std::string& bytes) {
    std::string p = (tmp_dir() / "in.bin").string();
    std::ofstream(p, std::ios::binary) << bytes;
    return p;
  };
  refused("/no/such.bin", "there is no such file or folder");
  refused(file(""), "the file is empty");
  refused(file("short"), "within the 28 of a llama2.c header");
  refused(file("\x89PNG\r\n\x1a\n and so on, and so forth"), "this is no model of llama2.c");
  refused(pocket_model(), "already");
  refused("/dev/null", "a device");
  const std::string fifo = (tmp_dir() / "in.fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  refused(fifo, "a FIFO");
  const std::string self = file(std::string(28, '\1'));
  fails(quantize({self, self}), "");
  EXPECT_EQ(read_file(self), std::string(28, '\1'));
  // a model that says what it is, chat converts itself
  const Ran text =
      chat({file("24ka...................."), "-p", "x", "--quiet"}, {.env = {"XDG_CACHE_HOME=" + tmp_dir().string()}});
  fails(text, "the file ends after 24 bytes, within the 28 of a llama2.c header");
}

}  // namespace
}  // namespace nyb::test
