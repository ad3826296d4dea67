// cache_test.cpp - models of others named to chat: converted once, kept, shown and removed.
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <utility>
#include "common/app.h"
#include "common/model_cache.h"
#include "kern/error.h"
#include "model/gguf.h"
#include "programs.h"
#include "support/data.h"
#include "support/gguf_file.h"
#include "support/text.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_);
    fs::copy(pocket_dir(), model_);
  }

  Ran ask(const std::string& model) { return chat({model, "-p", "What is int4?", "--temp", "0", "--fingerprint"}, env()); }
  Ran quantize(Args args) {
    args.insert(args.begin(), program("quantize"));
    return run(args, env());
  }
  RunOptions env() const { return {.env = {"XDG_CACHE_HOME=" + (root_ / "cache").string()}}; }
  fs::path kept_in() const { return root_ / "cache" / "nybble" / "models"; }
  std::vector<fs::path> kept() const {
    std::vector<fs::path> all;
    for (const auto& e : fs::directory_iterator(kept_in()))
      if (e.path().extension() != ".source") all.push_back(e.path());
    return all;
  }

  const fs::path root_ = tmp_dir() / "cache-test", model_ = root_ / "a folder";
};

TEST_F(Cache, AFolderIsConvertedOnce) {
  const Ran first = ask(model_.string()), again = ask(model_.string());
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.err.find("(converted '"), std::string::npos) << first.err;
  EXPECT_EQ(again.err.find("(converted '"), std::string::npos) << again.err;
  ASSERT_EQ(kept().size(), 1u);
  const Ran built_in = chat({"-p", "What is int4?", "--temp", "0", "--fingerprint"});
  EXPECT_EQ(first.out, built_in.out);
  EXPECT_EQ(fingerprint_of(first.err), fingerprint_of(built_in.err));
  EXPECT_EQ(fingerprint_of(again.err), fingerprint_of(built_in.err));
}

TEST_F(Cache, AChangedSourceIsConvertedAnew) {
  EXPECT_EQ(ask(model_.string()).code, 0);
  fs::last_write_time(model_ / "config.json", fs::file_time_type::clock::now() - std::chrono::hours(5));
  EXPECT_NE(quantize({"--list"}).out.find("its source has changed since"), std::string::npos);
  const Ran r = ask(model_.string());
  EXPECT_NE(r.err.find("(converted '"), std::string::npos) << r.err;
  EXPECT_EQ(kept().size(), 2u);
  EXPECT_EQ(count_of(quantize({"--list"}).out, "  current (of "), 1u);
  const Ran pruned = quantize({"--prune", "stale"});
  EXPECT_EQ(pruned.code, 0) << pruned.err;
  EXPECT_EQ(count_of(pruned.out, "  removed"), 1u) << pruned.out;
  EXPECT_EQ(kept().size(), 1u);
  EXPECT_EQ(ask(model_.string()).err.find("(converted '"), std::string::npos) << "the current one stays";
  fs::remove_all(model_);
  EXPECT_NE(quantize({"--list"}).out.find("its source is gone"), std::string::npos);
  EXPECT_EQ(quantize({"--prune", "all"}).code, 0);
  EXPECT_TRUE(fs::is_empty(kept_in())) << "nor is there a note left of where one came from";
  EXPECT_NE(quantize({"--list"}).err.find("no converted model"), std::string::npos);
}

TEST_F(Cache, ADamagedFileIsMadeAnew) {
  EXPECT_EQ(ask(model_.string()).code, 0);
  fs::resize_file(kept().at(0), 100000);
  EXPECT_NE(quantize({"--list"}).out.find("  damaged"), std::string::npos);
  const Ran r = ask(model_.string());
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("(converted '"), std::string::npos) << r.err;
  EXPECT_NE(quantize({"--list"}).out.find("  current (of "), std::string::npos);
}

TEST_F(Cache, AFileOfAnotherVersionIsMadeAnew) {
  EXPECT_EQ(ask(model_.string()).code, 0);
  const std::string whole = read_file(kept().at(0));
  std::string newer = whole;
  newer[8]++;  // the version, after the magic
  std::ofstream(kept().at(0), std::ios::binary) << newer;
  EXPECT_NE(quantize({"--list"}).out.find("  damaged, or of another version of this program"), std::string::npos);
  EXPECT_NE(ask(model_.string()).err.find("(converted '"), std::string::npos);
  EXPECT_TRUE(read_file(kept().at(0)) == whole);
}

TEST_F(Cache, WhatSomebodyMayBeWritingStays) {
  EXPECT_EQ(ask(model_.string()).code, 0);
  const fs::path unfinished = kept().at(0).parent_path() / ".nybble-1-1.tmp";
  std::ofstream(unfinished) << "half";
  EXPECT_EQ(quantize({"--prune", "all"}).code, 0);
  EXPECT_TRUE(fs::exists(unfinished));
  for (const char* other : {"mine.mnm", "notes.txt"}) std::ofstream(unfinished.parent_path() / other) << "mine";
  fs::create_directory(unfinished.parent_path() / "a-0123456789abcdef.mnm");
  fs::last_write_time(unfinished, fs::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_NE(quantize({"--prune", "stale"}).out.find(".nybble-1-1.tmp"), std::string::npos);
  EXPECT_FALSE(fs::exists(unfinished));
  EXPECT_EQ(quantize({"--prune", "all"}).code, 0);
  EXPECT_EQ(kept().size(), 3u) << "what is none of ours stays";
}

// The folder's model with so many layers, in f32, all zeros: a file of holes.
void make_deep(const fs::path& folder, int layers) {
  std::string config = read_file(folder / "config.json");
  const std::string was = "\"num_hidden_layers\": 6";
  config.replace(config.find(was), was.size(), "\"num_hidden_layers\": " + std::to_string(layers));
  std::ofstream(folder / "config.json") << config;
  std::string tensors;
  uint64_t end = 0;
  const auto add = [&](const std::string& name, uint64_t rows, uint64_t cols) {
    const uint64_t begin = std::exchange(end, end + 4 * rows * std::max<uint64_t>(cols, 1));
    tensors += (tensors.empty() ? "{\"" : ",\"") + name + "\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(rows) +
               (cols ? "," + std::to_string(cols) : "") + "],\"data_offsets\":[" + std::to_string(begin) + "," +
               std::to_string(end) + "]}";
  };
  add("model.embed_tokens.weight", 2048, 256);
  add("model.norm.weight", 256, 0);
  for (int l = 0; l < layers; ++l) {
    const std::string layer = "model.layers." + std::to_string(l) + ".";
    for (const char* norm : {"input_layernorm", "post_attention_layernorm"}) add(layer + norm + ".weight", 256, 0);
    for (const char* wide : {"self_attn.q_proj", "self_attn.o_proj"}) add(layer + wide + ".weight", 256, 256);
    for (const char* half : {"self_attn.k_proj", "self_attn.v_proj"}) add(layer + half + ".weight", 128, 256);
    for (const char* up : {"mlp.gate_proj", "mlp.up_proj"}) add(layer + up + ".weight", 704, 256);
    add(layer + "mlp.down_proj.weight", 256, 704);
  }
  tensors += "}";
  const uint64_t length = tensors.size();
  std::ofstream(folder / "model.safetensors").write(reinterpret_cast<const char*>(&length), 8) << tensors;
  fs::resize_file(folder / "model.safetensors", 8 + length + end);
}

// 144 MB in f32 and 36 MB in q8 with 16 MiB of its own: tensor by tensor, none above 3 MB.
TEST_F(Cache, ALargeModelNeedsLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr const char* limit = "unlimited";  // shadow memory counts; the rest holds there too
#else
  constexpr const char* limit = "16384";
#endif
  make_deep(model_, 48);
  const Ran r = run({"/bin/sh", "-c", "ulimit -d $0 && exec \"$@\"", limit, program("chat"), model_.string(), "--raw", "-p", "a",
                     "--max", "1", "--ctx", "16", "--threads", "1"},
                    env());
  EXPECT_EQ(r.code, 0) << r.err;
  ASSERT_EQ(kept().size(), 1u);
  EXPECT_GT(fs::file_size(kept()[0]), 36'000'000u);
}

TEST_F(Cache, WhatTheWeightsLostIsSaid) { EXPECT_NE(ask(model_.string()).err.find("(the weights lost 0."), std::string::npos); }

TEST_F(Cache, NothingLostIsSaidToo) {
  NYB_NEED_DATA();
  const Ran exact = chat({(data_dir() / "stories260K" / "stories260K-f32.gguf").string(), "--raw", "-p", "a", "--max", "1"}, env());
  EXPECT_NE(exact.err.find("(no weight was changed)"), std::string::npos) << exact.err;
}

TEST_F(Cache, WhatCannotBeConvertedLeavesNothing) {
  fs::resize_file(model_ / "model.safetensors", 1000);
  const Ran r = ask(model_.string());
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(count_of(r.err, "\n"), 1u) << r.err;
  EXPECT_EQ(kept().size(), 0u);
}

// What quantize writes unasked, to the last byte: no path is in it, so that its checksum is the model's wherever it lies.
TEST_F(Cache, ItIsWhatQuantizeWrites) {
  EXPECT_EQ(ask(model_.string()).code, 0);
  const fs::path out = root_ / "quantized.mnm";
  EXPECT_EQ(quantize({"--quiet", model_.string(), out.string()}).code, 0);
  EXPECT_TRUE(read_file(kept().at(0)) == read_file(out));
}

TEST_F(Cache, WhereAModelCameFromIsToldAgain) {
  EXPECT_EQ(ask(model_.string()).code, 0);
  for (const auto& e : fs::directory_iterator(kept_in()))
    if (e.path().extension() == ".source") fs::remove(e.path());
  EXPECT_NE(quantize({"--list"}).out.find("its source is gone"), std::string::npos);
  EXPECT_EQ(ask(model_.string()).err.find("(converted '"), std::string::npos);
  EXPECT_NE(quantize({"--list"}).out.find("  current (of " + model_.string()), std::string::npos);
}

TEST_F(Cache, AConversationRemembersTheSource) {
  const fs::path saved = root_ / "saved.json";
  EXPECT_EQ(chat({model_.string(), "-p", "hi", "--max", "3", "--save", saved.string()}, env()).code, 0);
  EXPECT_EQ(quantize({"--prune", "all"}).code, 0);
  const Ran r = chat({"--replay", saved.string()}, env());
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("(converted '"), std::string::npos) << r.err;
}

// As the hub's own cache has them: names that are links to files called otherwise.
TEST_F(Cache, ALinkIsKeptUnderItsOwnName) {
  NYB_NEED_DATA();
  fs::create_symlink(fs::absolute(data_dir() / "stories260K" / "stories260K-f32.gguf"), root_ / "linked.gguf");
  EXPECT_EQ(chat({(root_ / "linked.gguf").string(), "--raw", "-p", "a", "--max", "1"}, env()).code, 0);
  EXPECT_TRUE(kept().at(0).filename().string().starts_with("linked-")) << kept().at(0);
}

class Converting : public Cache {
 protected:
  void SetUp() override {
    Cache::SetUp();
    setenv("XDG_CACHE_HOME", (root_ / "cache").c_str(), 1);
  }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }
};

TEST_F(Converting, StoppedItLeavesNothing) {
  EXPECT_THROW(cached_model(model_.string(), [](uint64_t, uint64_t) { throw Interrupted{}; }), Interrupted);
  EXPECT_TRUE(fs::is_empty(kept_in()));
}

TEST_F(Converting, ASourceThatChangesMeanwhileIsNotKept) {
  const auto change = [&](uint64_t, uint64_t) {
    fs::last_write_time(model_ / "config.json", fs::file_time_type::clock::now() - std::chrono::hours(3));
  };
  try {
    cached_model(model_.string(), change);
    ADD_FAILURE() << "it was kept";
  } catch (const Error& e) { EXPECT_NE(std::string(e.what()).find("changed while they were read"), std::string::npos) << e.what(); }
  EXPECT_TRUE(fs::is_empty(kept_in()));
}

void age(const fs::path& file) { fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(3)); }

TEST_F(Converting, EveryFileOfAFolderCounts) {
  EXPECT_TRUE(cached_model(model_.string(), {}).made);
  EXPECT_FALSE(cached_model(model_.string(), {}).made);
  age(model_ / "model.safetensors");
  EXPECT_TRUE(cached_model(model_.string(), {}).made);
  std::ofstream(model_ / "chat_template.jinja") << "{% for m in messages %}{{ m.content }}{% endfor %}";
  EXPECT_TRUE(cached_model(model_.string(), {}).made);
  std::ofstream(model_ / "README.md") << "is no part of it";
  EXPECT_FALSE(cached_model(model_.string(), {}).made);
}

TEST_F(Converting, EveryPartOfAGgufCounts) {
  const std::string whole = (root_ / "whole.gguf").string();
  ASSERT_EQ(run({program("gguf"), pocket_model(), whole, "--quiet"}).code, 0);
  const Gguf g(whole);
  GgufMade parts[2];
  for (const auto& [key, v] : g.keys()) {
    std::string value = le(static_cast<uint32_t>(v.type));
    if (v.type == GgufType::list) value += le(static_cast<uint32_t>(v.element)) + le(v.count);
    parts[0].set(std::string(key), value.append(reinterpret_cast<const char*>(v.data), v.bytes));
  }
  for (const GgufTensor& t : g.tensors())
    parts[t.name.starts_with("blk.5.")].tensors.push_back({std::string(t.name),
                                                           {t.dims.begin(), t.dims.begin() + t.rank},
                                                           t.type->number,
                                                           {reinterpret_cast<const char*>(t.data), t.bytes}});
  const auto name = [&](size_t n) { return root_ / ("m-0000" + std::to_string(n + 1) + "-of-00002.gguf"); };
  for (const uint16_t n : {0, 1}) {
    parts[n].set("split.no", gguf::u16(n)).set("split.count", gguf::u16(2));
    std::ofstream(name(n), std::ios::binary) << parts[n].bytes();
  }
  EXPECT_TRUE(cached_model(name(0).string(), {}).made);
  EXPECT_FALSE(cached_model(name(0).string(), {}).made);
  age(name(1));
  EXPECT_TRUE(cached_model(name(0).string(), {}).made);
}

TEST_F(Cache, NoPlaceToKeepItIsOneSentence) {
  const Ran r = chat({model_.string(), "-p", "hi"}, {.env = {"XDG_CACHE_HOME=/proc/none"}});
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.err.find("cannot make the folder"), std::string::npos) << r.err;
}

TEST_F(Cache, WordsThatDoNotGoTogether) {
  for (const Args& a : {Args{"--list", "in", "out.mnm"}, Args{"only-in"}, Args{}, Args{"--prune", "some"}}) {
    const Ran r = quantize(a);
    EXPECT_EQ(r.code, 2) << r.err;
  }
}

TEST_F(Cache, AGgufOfTheWorldTellsItsStory) {
  NYB_NEED_DATA();
  const fs::path gguf = root_ / "stories.gguf";
  fs::copy(data_dir() / "stories260K" / "stories260K-f32.gguf", gguf);
  const Args args{gguf.string(), "--raw", "-p", "", "--temp", "0", "--max", "255", "--quiet"};
  const Ran first = chat(args, env()), again = chat(args, env());
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, read_file(data_dir() / "stories260K" / "expected.txt") + "\n");
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(kept().size(), 1u);
}

}  // namespace
}  // namespace nyb::test
