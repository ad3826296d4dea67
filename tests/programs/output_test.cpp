// output_test.cpp - what other programs read: JSON, logits, evaluation, verification.
#include <gtest/gtest.h>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include "engine/fingerprint.h"
#include "kern/cpu.h"
#include "model/model.h"
#include "programs.h"
#include "support/data.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Npy {
  size_t rows = 0, cols = 0;
  std::vector<float> at;
};

// As numpy's own format document has it.
Npy read_npy(const fs::path& path) {
  const std::string all = read_file(path);
  Npy n;
  if (all.size() < 10 || all.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0) {
    ADD_FAILURE() << "no .npy: " << path;
    return n;
  }
  const size_t header = static_cast<uint8_t>(all[8]) + 256u * static_cast<uint8_t>(all[9]);
  EXPECT_EQ((10 + header) % 64, 0u);
  const std::string dict = all.substr(10, header);
  EXPECT_EQ(dict.back(), '\n');
  EXPECT_EQ(std::sscanf(dict.c_str(), "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", &n.rows, &n.cols), 2)
      << dict;
  EXPECT_EQ(all.size(), 10 + header + n.rows * n.cols * 4);
  n.at.resize(n.rows * n.cols);
  std::memcpy(n.at.data(), all.data() + 10 + header, n.at.size() * 4);
  return n;
}

std::string hash_of(std::span<const float> v) {
  Fingerprint f;
  f.add(v);
  return f.hex();
}

TEST(Json, OneObject) {
  const Ran r = chat({"-p", "What is int4?", "--temp", "0", "--json", "--seed", "18446744073709551615"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 1);
  const json j = json::parse(r.out);
  EXPECT_EQ(j["text"], chat({"-p", "What is int4?", "--temp", "0", "--quiet"}).out.substr(0, j["text"].get<std::string>().size()));
  EXPECT_EQ(j["stop"], "end");
  EXPECT_EQ(j["ids"].size(), j["reply_tokens"]);
  EXPECT_EQ(j["prompt_tokens"].get<int>() + j["reply_tokens"].get<int>() - 1, j["context_used"].get<int>());
  EXPECT_EQ(j["seed"], UINT64_MAX);
  EXPECT_EQ(j["temp"], 0);
  EXPECT_EQ(j["kv"], "f32");
  EXPECT_EQ(j["type"], "q8");
  EXPECT_EQ(j["file"], pocket_model());
  EXPECT_GT(j["reply_tokens_per_second"], 0);
  EXPECT_EQ(j["fingerprint"].get<std::string>().size(), 16u);
  EXPECT_EQ(j["checksum"].get<std::string>().size(), 16u);
}

TEST(Json, ALineEachForAConversation) {
  const Ran r = chat({"--temp", "0", "--json", "--quiet"}, {.in = "hello\nWhat is int4?\n"});
  std::istringstream in(r.out);
  std::string line;
  int n = 0;
  for (; std::getline(in, line); ++n) EXPECT_TRUE(json::accept(line)) << line;
  EXPECT_EQ(n, 2);
}

TEST(Json, ValidWhateverComes) {
  // random tokens of a byte-level vocabulary: much of it is no UTF-8
  const fs::path odd = tmp_dir() / "\xff\"name.mnm";
  fs::copy_file(pocket_model(), odd, fs::copy_options::overwrite_existing);
  for (const char* seed : {"1", "2", "3"}) {
    const Ran r =
        chat({odd.string(), "-p", "x", "--raw", "--temp", "1000", "--top-k", "0", "--top-p", "1", "--json", "--seed", seed});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(utf8_valid(r.out));
    EXPECT_TRUE(json::accept(r.out)) << r.out;
    EXPECT_NE(r.out.find("\xef\xbf\xbd"), std::string::npos) << "no broken character came up: the test shows nothing";
  }
}

TEST(Streaming, WholeCharactersAndTheSameAsJson) {
  const Args base{"-p", "x", "--raw", "--temp", "1000", "--top-k", "0", "--top-p", "1", "--seed", "4", "--quiet"};
  Args js = base;
  js.push_back("--json");
  const Ran streamed = chat(base), whole = chat(js);
  EXPECT_TRUE(utf8_valid(streamed.out));
  EXPECT_EQ(streamed.out, json::parse(whole.out)["text"].get<std::string>() + "\n");
}

// Whatever the last token leaves half is written as U+FFFD: the text is that of all the bytes.
TEST(Streaming, WhatIsPendingAtTheEndComesOut) {
  const auto model = eng_load(pocket_model());
  const auto tok = Tokenizer::from_meta(model->meta);
  int cut = 0;
  for (int max = 1; max <= 40; ++max) {
    const json j = json::parse(chat({"-p", "x", "--raw", "--temp", "1000", "--top-k", "0", "--top-p", "1", "--seed", "4", "--quiet",
                                     "--json", "--max", std::to_string(max)})
                                   .out);
    Utf8Stream stream;
    const std::string whole = stream.push(tok->decode(j["ids"].get<std::vector<int32_t>>())), rest = stream.flush();
    EXPECT_EQ(j["text"], whole + rest) << max;
    cut += !rest.empty();
  }
  EXPECT_GT(cut, 0) << "no reply ended within a character: the test shows nothing";
}

TEST(Logits, EveryPosition) {
  const fs::path out = tmp_dir() / "l.npy";
  const Ran r = chat({"-p", "What is int4?", "--temp", "0", "--logits", out.string(), "--json"});
  ASSERT_EQ(r.code, 0) << r.err;
  const json j = json::parse(r.out);
  const Npy n = read_npy(out);
  EXPECT_EQ(n.cols, 2048u);
  EXPECT_EQ(n.rows, j["prompt_tokens"].get<size_t>() + j["reply_tokens"].get<size_t>() - 1);
  EXPECT_EQ(j["fingerprint"], hash_of(n.at)) << "with --logits the fingerprint is over every position";
  // the greedy reply is the argmax of its rows
  size_t row = j["prompt_tokens"].get<size_t>() - 1;
  for (const int id : j["ids"]) {
    const auto first = n.at.begin() + static_cast<std::ptrdiff_t>(row++ * n.cols);
    EXPECT_EQ(std::max_element(first, first + static_cast<std::ptrdiff_t>(n.cols)) - first, id);
  }
}

TEST(Logits, SampledPositionsGiveTheUsualFingerprint) {
  const fs::path out = tmp_dir() / "s.npy";
  const Ran with = chat({"-p", "Tell me a story", "--seed", "1", "--logits", out.string(), "--json"});
  const Ran without = chat({"-p", "Tell me a story", "--seed", "1", "--json"});
  const json a = json::parse(with.out), b = json::parse(without.out);
  EXPECT_EQ(a["ids"], b["ids"]);
  const Npy n = read_npy(out);
  const size_t from = a["prompt_tokens"].get<size_t>() - 1;
  EXPECT_EQ(b["fingerprint"], hash_of(std::span(n.at).subspan(from * n.cols)));
}

TEST(Logits, IdsAloneAndTheSameInAnyChunk) {
  const fs::path a = tmp_dir() / "a.npy", b = tmp_dir() / "b.npy";
  const Args ids{"--ids", "2043, 5,6,7,300,12,13,14,15", "--max", "0", "--quiet"};
  Args one = ids, two = ids;
  one.insert(one.end(), {"--logits", a.string(), "--chunk", "1"});
  two.insert(two.end(), {"--logits", b.string(), "--chunk", "4", "--kernel", "ref"});
  EXPECT_EQ(chat(one).code, 0);
  EXPECT_EQ(chat(two).code, 0);
  EXPECT_EQ(read_npy(a).rows, 9u);
  EXPECT_EQ(read_file(a), read_file(b));
}

TEST(Logits, WhatIsReadIsNotReplaced) {
  const fs::path model = tmp_dir() / "own.mnm", link = tmp_dir() / "own-link", text = tmp_dir() / "own.txt";
  fs::copy_file(pocket_model(), model);
  fs::create_symlink(model, link);
  std::ofstream(text) << "hi";
  for (const fs::path& out : {model, link, text}) {
    const Ran r = chat({model.string(), "-f", text.string(), "--max", "1", "--quiet", "--logits", out.string()});
    EXPECT_EQ(r.code, 1);
    EXPECT_NE(r.err.find("--logits would replace"), std::string::npos) << r.err;
  }
  EXPECT_EQ(read_file(model), read_file(pocket_model()));
  EXPECT_EQ(read_file(text), "hi");
}

TEST(Logits, NothingHalfIsLeft) {
  const fs::path folder = tmp_dir() / "half";
  fs::create_directory(folder);
  EXPECT_EQ(chat({"--ids", "1,99999", "--logits", (folder / "x.npy").string(), "--quiet"}).code, 1);
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_EQ(chat({"--ids", "1", "--logits", (folder / "no" / "x.npy").string(), "--quiet"}).code, 1);
  EXPECT_EQ(chat({"--ids", "1", "--logits", folder.string(), "--quiet"}).code, 1);
  EXPECT_EQ(chat({"--ids", "1", "--logits", "/dev/null", "--quiet"}).code, 1);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(Eval, HeldOutConversations) {
  const std::string held = (pocket_dir() / "heldout.jsonl").string();
  const Ran r = chat({"--eval", held, "--json"});
  ASSERT_EQ(r.code, 0) << r.err;
  const json j = json::parse(r.out);
  EXPECT_EQ(j["targets"], 2637);
  EXPECT_NEAR(j["loss"], 0.173487, 0.01);  // int8 against PyTorch's f32
  EXPECT_NEAR(j["perplexity"], std::exp(j["loss"].get<double>()), 1e-12);
  EXPECT_GT(j["tokens_per_second"], 0);
  const Ran other = chat({"--eval", held, "--json", "--kernel", "avx2", "--threads", "3", "--chunk", "5"});
  if (cpu_missing(cpu_here(), Path::avx2).empty()) { EXPECT_EQ(json::parse(other.out)["fingerprint"], j["fingerprint"]); }
  const Ran words = chat({"--eval", held, "--quiet", "--fingerprint"});
  EXPECT_EQ(words.out.compare(0, 7, "loss 0."), 0) << words.out;
  EXPECT_EQ(fingerprint_of(words.err), j["fingerprint"]);
}

// Of pocket in another type than the built-in model's.
json held_out_as(const std::string& type) {
  const fs::path model = tmp_dir() / ("pocket-" + type + ".mnm");
  const Ran q = run({program("quantize"), "--quiet", "--type", type, pocket_dir().string(), model.string()});
  EXPECT_EQ(q.code, 0) << q.err;
  const Ran r = chat({model.string(), "--eval", (pocket_dir() / "heldout.jsonl").string(), "--json"});
  EXPECT_EQ(r.code, 0) << r.err;
  return json::parse(r.out, nullptr, false);
}

TEST(Eval, InF32TheFigureOfTheTraining) {
  const json j = held_out_as("f32");
  ASSERT_EQ(j["targets"], 2637);
  EXPECT_NEAR(j["loss"], 0.173487, 0.0005);
}

// The figure of docs/performance.md: a quantizer that does worse, or differently, gives another.
TEST(Eval, Int4LosesLittle) {
  const json j = held_out_as("q4");
  ASSERT_EQ(j["type"], "q4");
  ASSERT_EQ(j["targets"], 2637);
  EXPECT_NEAR(j["loss"], 0.173490, 5e-6);
}

std::string file_with(const std::string& name, const std::string& text) {
  std::string path = (tmp_dir() / name).string();
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(Eval, ATextInWindows) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "Once upon a time, there lived a little wolf. ";
  const std::string path = file_with("t.txt", text);
  const json a = json::parse(chat({"--eval", path, "--json"}).out);
  const json b = json::parse(chat({"--eval", path, "--json", "--ctx", "32"}).out);
  // every token is scored, after BOS in each window: windows change the tokens run, not the targets
  EXPECT_EQ(a["targets"], b["targets"]);
  EXPECT_GT(b["tokens"], a["tokens"]);
  EXPECT_LT(a["loss"], b["loss"]) << "more context, less loss";
  // the loss of one token, by hand from the logits that the program writes
  const std::string one = file_with("o.txt", "a");
  const json o = json::parse(chat({"--eval", one, "--json"}).out);
  EXPECT_EQ(o["targets"], 1);
  const fs::path npy = tmp_dir() / "o.npy";
  EXPECT_EQ(chat({"--raw", "-p", "", "--max", "0", "--logits", npy.string(), "--quiet"}).code, 0);
  const Npy n = read_npy(npy);
  ASSERT_EQ(n.rows, 1u);
  double sum = 0;
  for (const float l : n.at) sum += std::exp(double{l});
  bool found = false;
  for (const float l : n.at) found = found || std::abs(std::log(sum) - l - o["loss"].get<double>()) < 1e-9;
  EXPECT_TRUE(found) << o;
}

TEST(Eval, OnlyTheAssistantIsScored) {
  const std::string line = R"({"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hello!"}]})";
  const std::string list = R"([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hello!"}])";
  const json a = json::parse(chat({"--eval", file_with("a.jsonl", line + "\n\n"), "--json"}).out);
  const json b = json::parse(chat({"--eval", file_with("b.jsonl", list), "--json"}).out);
  EXPECT_EQ(a["loss"], b["loss"]);
  EXPECT_EQ(a["targets"], b["targets"]);
  EXPECT_LE(a["targets"], 5);
  EXPECT_GE(a["targets"], 2);
}

TEST(Eval, WhatTheTemplateAddsAfterTheEndIsNotScored) {
  // the frame of other models: a newline after each end token
  const std::string path = pocket_with("newline.mnm", [](std::string_view k, MetaValue& v) {
    if (k != key::chat_template) return true;
    auto& jinja = std::get<std::string>(v);
    const std::string end = "'<|end|>'";
    jinja.replace(jinja.find(end), end.size(), "'<|end|>\\n'");
    return true;
  });
  const std::string held = (pocket_dir() / "heldout.jsonl").string();
  const json j = json::parse(chat({path, "--eval", held, "--json"}).out), plain = json::parse(chat({"--eval", held, "--json"}).out);
  EXPECT_GT(j["tokens"], plain["tokens"]) << "the newlines are there";
  EXPECT_EQ(j["targets"], plain["targets"]);
}

TEST(Eval, WhatIsWrongIsNamed) {
  struct Case {
    const char *name, *text, *says;
  };
  const std::string long_text = R"([{"role": "user", "content": ")" + std::string(3000, 'x') + R"("}])";
  for (const Case& c :
       {Case{"1.jsonl", "[]\nnot json\n", "line 2"}, Case{"2.jsonl", "{}", "line 1"}, Case{"3.jsonl", "[{\"role\": 1}]", "line 1"},
        Case{"4.jsonl", "", "no token"}, Case{"5.jsonl", long_text.c_str(), "512"}, Case{"6.txt", "", "no token"},
        Case{"7.jsonl", "[]\n[{\"role\": \"tool\", \"content\": \"x\"}]\n",
             "7.jsonl', line 2: the role of a message is \"tool\""}}) {
    const Ran r = chat({"--quiet", "--eval", file_with(c.name, c.text)});
    EXPECT_EQ(r.code, 1) << c.name;
    EXPECT_NE(r.err.find(c.says), std::string::npos) << c.name << ": " << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
  EXPECT_EQ(chat({"--eval", "/nowhere.txt", "--quiet"}).code, 1);
  EXPECT_EQ(chat({"--eval", "/tmp", "--quiet"}).code, 1);
}

TEST(Verify, AllPathsAreEqual) {
  const Ran r = chat({"--verify", "--quiet"});
  EXPECT_EQ(r.code, 0) << r.out;
  EXPECT_NE(r.out.find("checksums of 56 tensors are right"), std::string::npos) << r.out;
  for (const Path p : kAllPaths) {
    if (p == Path::ref) continue;
    const std::string name(path_name(p));
    const std::string missing = cpu_missing(cpu_here(), p);
    std::string wanted = "path " + name;
    wanted += missing.empty() ? ": equal to the reference" : ": not run, this CPU lacks " + missing;
    EXPECT_NE(r.out.find(wanted), std::string::npos) << r.out;
  }
}

TEST(Verify, ADamagedTensorIsNamed) {
  const fs::path bad = tmp_dir() / "damaged.mnm";
  std::string all = read_file(pocket_model());
  const auto m = eng_load(pocket_model());
  const Tensor* t = m->layers[2].up;
  all[t->offset + 100] = static_cast<char>(all[t->offset + 100] ^ 1);
  std::ofstream(bad, std::ios::binary) << all;
  const Ran r = chat({bad.string(), "--verify", "--quiet"});
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.out.find("DAMAGED, the checksum of layers.2.up is wrong"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace nyb::test
