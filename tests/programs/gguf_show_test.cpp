// gguf's other tasks: files for Ollama, what is in a GGUF, and how two differ.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "model/gguf.h"
#include "programs.h"
#include "support/data.h"
#include "support/gguf_file.h"
#include "support/text.h"

namespace nyb::test {
namespace {
namespace fs = std::filesystem;

Ran gguf(Args args, const RunOptions& o = {}) {
  args.insert(args.begin(), program("gguf"));
  return run(args, o);
}

fs::path fresh(const std::string& name) {
  fs::path p = tmp_dir() / name;
  fs::remove_all(p);
  fs::create_directories(p);
  return p;
}

// A program called ollama that writes down what it is told, and ends as it is told.
std::string fake_ollama(const fs::path& folder, int code) {
  std::ofstream(folder / "ollama") << "#!/bin/sh\nprintf '%s ' \"$@\" >>'" << (folder / "calls").string() << "'\necho >>'"
                                   << (folder / "calls").string() << "'\necho working >&2\nexit " << code << "\n";
  fs::permissions(folder / "ollama", fs::perms::owner_all);
  return "PATH=" + folder.string() + ":/usr/bin:/bin";
}

TEST(GgufOllama, WithoutOllamaTheCommandsAreShown) {
  const fs::path dir = fresh("without");
  const Ran r = gguf({pocket_model(), dir.string(), "--ollama", "me/pocket", "--types", "q8_0,q4_0,f16", "--quiet"},
                     {.env = {"PATH=" + fresh("empty").string()}});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  std::string want;
  for (const std::string type : {"q8_0", "q4_0", "f16"}) {
    const std::string base = (dir / ("pocket-" + type)).string();
    want += "ollama create me/pocket:" + type + " -f " + base + ".Modelfile\n";
    EXPECT_EQ(Gguf(base + ".gguf").tensor("blk.0.attn_q.weight")->type->name, type);
    const std::string said = read_file(base + ".Modelfile");
    EXPECT_TRUE(said.starts_with("FROM ./pocket-" + type +
                                 ".gguf\nTEMPLATE \"\"\"{{ if .System }}<|system|>{{ .System }}<|end|><|user|>{{ else }}"))
        << said;
    EXPECT_TRUE(
        said.ends_with("\nPARAMETER stop \"\"\"<|end|>\"\"\"\nPARAMETER temperature 0.7\nPARAMETER top_p 0.9\nPARAMETER top_k 64\n"
                       "PARAMETER min_p 0\nPARAMETER repeat_penalty 1\nPARAMETER num_ctx 512\n"))
        << said;
  }
  EXPECT_EQ(r.out, want);
  EXPECT_EQ(std::distance(fs::directory_iterator(dir), {}), 6);
}

TEST(GgufOllama, OllamaIsCalled) {
  const fs::path dir = fresh("with"), bin = fresh("bin");
  const std::string path = fake_ollama(bin, 0);
  Ran r = gguf({pocket_model(), "--ollama", "pocket"}, {.env = {path}, .cwd = dir.string()});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(read_file(bin / "calls"), "create pocket:q8_0 -f ./pocket-q8_0.Modelfile \n");
  EXPECT_NE(r.out.find("ollama has pocket:q8_0\n"), std::string::npos) << r.out;
  fake_ollama(bin, 3);
  r = gguf({pocket_model(), "--ollama", "pocket", "--quiet"}, {.env = {path}, .cwd = dir.string()});
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.err.find("ollama create pocket:q8_0 ended with exit code 3; "), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("| working"), std::string::npos) << r.err;
  EXPECT_TRUE(fs::exists(dir / "pocket-q8_0.gguf"));
}

// The text of the Modelfile of pocket with another template; `err` is what was said.
std::string modelfile_with(const char* jinja, std::string& err) {
  const std::string model = pocket_with("ollama", [&](std::string_view key, MetaValue& value) {
    if (key != key::chat_template) return true;
    if (jinja) value = std::string(jinja);
    return jinja != nullptr;
  });
  const fs::path dir = fresh("templates");
  const Ran r =
      gguf({model, dir.string(), "--ollama", "m", "--types", "q8_0,f16", "--quiet"}, {.env = {"PATH=" + fresh("empty").string()}});
  EXPECT_EQ(r.code, 0) << r.err;
  err = r.err;
  EXPECT_EQ(Gguf((dir / "m-f16.gguf").string()).tensor("blk.0.attn_q.weight")->type->name, "f16");
  return read_file(dir / "m-q8_0.Modelfile");
}

TEST(GgufOllama, TemplatesThatAModelfileCannotHave) {
  std::string err;
  EXPECT_TRUE(modelfile_with(nullptr, err).starts_with("FROM ./m-q8_0.gguf\nTEMPLATE \"\"\"{{ .Prompt }}\"\"\"\nPARAMETER stop "));
  EXPECT_EQ(err, "");
  const std::string quotes = "a Modelfile has no way to say a text with three quotes";
  EXPECT_TRUE(modelfile_with("{% for m in messages %}{{ m['role'] + '\"\"\"' + m['content'] }}{% endfor %}", err)
                  .starts_with("FROM ./m-q8_0.gguf\nPARAMETER "));
  EXPECT_EQ(count_of(err, quotes), 1u) << "once for all types: " << err;
  modelfile_with("{% for m in messages %}{{ m['role'] + m['content'] | upper }}{% endfor %}", err);
  EXPECT_EQ(count_of(err, "the Modelfile has no TEMPLATE, which is yours to add: the chat template "), 1u) << err;
}

TEST(GgufOllama, WrongUsage) {
  for (const char* name : {"", "a b", "a:b", "/a", "a/", "a//b", "-a", "a\"b"})
    EXPECT_EQ(gguf({pocket_model(), "--ollama", name}).code, 2) << name;
  for (const char* types : {"", "q5_0", "q8_0,", "q8_0,q8_0", ",q4_0"})
    EXPECT_EQ(gguf({pocket_model(), "--ollama", "a", "--types", types}).code, 2) << types;
  EXPECT_EQ(gguf({pocket_model(), (tmp_dir() / "x.gguf").string(), "--types", "q8_0"}).code, 2);
  const Ran r = gguf({pocket_model(), pocket_model(), "--ollama", "a"});
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.err.find("with --ollama, OUT is a folder for the files, and this is none"), std::string::npos) << r.err;
}

TEST(GgufShow, Info) {
  const std::string file = (fresh("info") / "p.gguf").string();
  ASSERT_EQ(gguf({pocket_model(), file, "--type", "q4_0", "--head", "f16", "--quiet"}).code, 0);
  const Ran r = gguf({"--info", file});
  ASSERT_EQ(r.code, 0) << r.err;
  for (const char* line :
       {"p.gguf: 26 keys, 56 tensors, ", "general.architecture  \"llama\"\n", "llama.attention.layer_norm_rms_epsilon  1e-05\n",
        "tokenizer.ggml.add_bos_token  true\n", "tokenizer.ggml.tokens  2048 x string: \"",
        "token_embd.weight         f16    256 x 2048", "blk.5.ffn_down.weight     q4_0   704 x 256",
        "output_norm.weight        f32    256 ", "q4_0: 42 tensors, "})
    EXPECT_NE(r.out.find(line), std::string::npos) << line << r.out;
}

TEST(GgufShow, Diff) {
  const fs::path dir = fresh("diff");
  const std::string a = (dir / "a.gguf").string(), b = (dir / "b.gguf").string();
  ASSERT_EQ(gguf({pocket_model(), a, "--type", "q8_0", "--quiet"}).code, 0);
  ASSERT_EQ(gguf({pocket_model(), b, "--type", "q8_0", "--head", "q4_0", "--name", "other", "--quiet"}).code, 0);
  Ran r = gguf({"--diff", a, a});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, "the same: 26 keys, 56 tensors\n");
  r = gguf({"--diff", a, b});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("key general.name  \"pocket\" | \"other\"\ntensor token_embd.weight  q8_0 | q4_0  differ by 0."),
            std::string::npos)
      << r.out;
  EXPECT_TRUE(r.out.ends_with("the same: 25 keys, 55 tensors\n")) << r.out;
  // one value more by what is known: the last of the final norm
  std::string bytes = read_file(a);
  const float more = 1000;
  bytes.replace(bytes.size() - 4, 4, std::string(reinterpret_cast<const char*>(&more), 4));
  std::ofstream(b, std::ios::binary) << bytes;
  r = gguf({"--diff", a, b});
  EXPECT_NE(r.out.find("tensor output_norm.weight  differ by 99"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find(" at most (value 255), relative L2 "), std::string::npos) << r.out;
}

std::string floats(std::vector<float> v, size_t at, float x) {
  v.at(at) = x;
  std::string out;
  for (const float y : v) out += le(y);
  return out;
}

std::string written(const GgufMade& g, const std::string& name) {
  std::string path = (fresh("shown-" + name) / (name + ".gguf")).string();
  std::ofstream(path, std::ios::binary) << g.bytes();
  return path;
}

TEST(GgufShow, EachWayToDiffer) {
  constexpr uint32_t f32 = 0, iq2_xxs = 16;
  const std::vector<float> ones(8, 1), many(70000, 1);
  GgufMade one, two;
  one.set("general.name", gguf::str("m")).set("only.one", gguf::u32(7)).set("typed", gguf::u32(5));
  two.set("general.name", gguf::str("m")).set("only.two", gguf::boolean(1)).set("typed", gguf::i32(5));
  one.tensors = {{"far", {70000}, f32, floats(many, 66000, 1)},
                 {"nan", {8}, f32, floats(ones, 2, 1)},
                 {"of_one", {8}, f32, floats(ones, 0, 1)},
                 {"same", {8}, f32, floats(ones, 0, 1)},
                 {"shape", {4, 2}, f32, floats(ones, 0, 1)},
                 {"unread", {256}, iq2_xxs, std::string(66, 'a')},
                 {"zero", {8}, f32, floats({0, 0, 0, 0, 0, 0, 0, 0}, 0, 0)}};
  two.tensors = {{"far", {70000}, f32, floats(many, 66000, 3)},
                 {"nan", {8}, f32, floats(ones, 2, std::nanf(""))},
                 {"of_two", {8}, f32, floats(ones, 0, 1)},
                 {"same", {8}, f32, floats(ones, 0, 1)},
                 {"shape", {2, 4}, f32, floats(ones, 0, 1)},
                 {"unread", {256}, iq2_xxs, std::string(66, 'b')},
                 {"zero", {8}, f32, floats({0, 0, 0, 0, 0, 0, 0, 0}, 7, -0.0F)}};
  const std::string a = written(one, "one"), b = written(two, "two");
  const Ran r = gguf({"--diff", a, b});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "only in " + a + ": key only.one  7\nkey typed  5 | 5\nonly in " + b +
                       ": key only.two  true\n"
                       "tensor far  differ by 2 at most (value 66000), relative L2 0.00756\n"
                       "tensor nan  differ by nan at most (value 2), relative L2 nan\n"
                       "only in " +
                       a +
                       ": tensor of_one\n"
                       "tensor shape  4 x 2 | 2 x 4\n"
                       "tensor unread  not compared\n"
                       "tensor zero  the same values\n"
                       "only in " +
                       b + ": tensor of_two\nthe same: 1 keys, 1 tensors\n");
}

TEST(GgufShow, LongValuesAndParts) {
  GgufMade parts[2];
  for (uint16_t n = 0; n < 2; n++) {
    parts[n].set("split.no", gguf::u16(n)).set("split.count", gguf::u16(2));
    parts[n].tensors = {{n == 0 ? "x" : "y", {1000, 100}, 0, std::string(400000, '\0')}};
  }
  parts[0]
      .set("few", gguf::list<int32_t>(5, {1, 2, 3, 4, 5, 6}))
      .set("more", gguf::list<int32_t>(5, {1, 2, 3, 4, 5, 6, 7}))
      .set("text", gguf::str(std::string(101, 'x')));
  const fs::path dir = fresh("parts");
  for (const size_t n : {0, 1})
    std::ofstream(dir / ("m-0000" + std::to_string(n + 1) + "-of-00002.gguf"), std::ios::binary) << parts[n].bytes();
  const Ran r = gguf({"--info", (dir / "m-00001-of-00002.gguf").string()});
  ASSERT_EQ(r.code, 0) << r.err;
  for (const std::string line : {"5 keys, 2 tensors, 800.5 kB in 2 files\n", "few  6 x i32: 1, 2, 3, 4, 5, 6\n",
                                 "more  7 x i32: 1, 2, 3, 4, 5, 6 ...\n", "\"... (101 bytes)\n", "f32: 2 tensors, 800.0 kB\n"})
    EXPECT_NE(r.out.find(line), std::string::npos) << line << r.out;
}

TEST(GgufShow, Errors) {
  EXPECT_EQ(gguf({"--info", pocket_model()}).code, 1);
  EXPECT_NE(gguf({"--info", pocket_model()}).err.find("this is not a GGUF file"), std::string::npos);
  EXPECT_EQ(gguf({"--diff", "a.gguf"}).code, 2);
  EXPECT_EQ(gguf({"x", "--info", "a.gguf"}).code, 2);
}

}  // namespace
}  // namespace nyb::test
