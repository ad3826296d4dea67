// gguf's other tasks: files for Ollama, what is in a GGUF, and how two differ.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "model/gguf.h"
#include "programs.h"
#include "support/data.h"

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

TEST(GgufShow, Errors) {
  EXPECT_EQ(gguf({"--info", pocket_model()}).code, 1);
  EXPECT_NE(gguf({"--info", pocket_model()}).err.find("this is not a GGUF file"), std::string::npos);
  EXPECT_EQ(gguf({"--diff", "a.gguf"}).code, 2);
  EXPECT_EQ(gguf({"x", "--info", "a.gguf"}).code, 2);
}

}  // namespace
}  // namespace nyb::test
