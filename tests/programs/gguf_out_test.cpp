// The gguf program end to end: a model out and back, what it says, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "model/gguf.h"
#include "model/model.h"
#include "programs.h"
#include "support/data.h"
#include "support/hf_folder.h"

namespace nyb::test {
namespace {
namespace fs = std::filesystem;

std::string out_path(const std::string& name) { return (tmp_dir() / name).string(); }

Ran gguf(Args args) {
  args.insert(args.begin(), program("gguf"));
  return run(args);
}

std::string told(const std::string& model) {
  const Ran r = chat({model, "-p", "Tell me a story", "--temp", "0", "--max", "40", "--fingerprint", "--quiet"});
  EXPECT_EQ(r.code, 0) << r.err;
  return r.out + fingerprint_of(r.err);
}

// In f32 nothing changes on the way out and back, to the last bit of every logit.
TEST(GgufOut, PocketComesBack) {
  const std::string first = out_path("first.mnm"), file = out_path("out.gguf"), second = out_path("second.mnm");
  ASSERT_EQ(run({program("quantize"), pocket_dir().string(), first, "--type", "f32", "--quiet"}).code, 0);
  for (const std::string& in : {first, pocket_dir().string()}) {
    const Ran r = gguf({in, file, "--type", "f32"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.err, "") << "nothing is otherwise in the GGUF";
    EXPECT_NE(r.out.find("out.gguf: 4.95M weights in f32, 19.9 MB"), std::string::npos) << r.out;
    ASSERT_EQ(run({program("quantize"), file, second, "--quiet"}).code, 0);
    EXPECT_EQ(told(second), told(first));
  }
}

TEST(GgufOut, TypesAndTheHead) {
  const std::string file = out_path("types.gguf");
  std::optional<uint64_t> file_type;
  const auto types = [&](const Args& more) {
    Args args{pocket_model(), file, "--quiet"};
    args.insert(args.end(), more.begin(), more.end());
    const Ran r = gguf(args);
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(r.out + r.err, "");
    const Gguf g(file);
    file_type = g.u64("general.file_type");
    return std::string(g.tensor("token_embd.weight")->type->name) + " " +
           std::string(g.tensor("blk.3.ffn_down.weight")->type->name) + " " +
           std::string(g.tensor("output_norm.weight")->type->name);
  };
  EXPECT_EQ(types({}), "q8_0 q8_0 f32");  // as it is
  EXPECT_EQ(file_type, std::nullopt);
  EXPECT_EQ(types({"--type", "q4_0", "--head", "q8_0"}), "q8_0 q4_0 f32");
  EXPECT_EQ(file_type, 2u) << "LLAMA_FTYPE_MOSTLY_Q4_0";
  EXPECT_EQ(types({"type=bf16"}), "bf16 bf16 f32");
  EXPECT_EQ(types({"--type", "f16", "--head", "keep"}), "q8_0 f16 f32");
  const auto bytes = [&](const char* fit) {
    EXPECT_EQ(gguf({pocket_model(), file, "--type", "q4_0", fit}).code, 0);
    return read_file(file);
  };
  EXPECT_NE(bytes("--fit"), bytes("--no-fit"));
  ASSERT_EQ(gguf({pocket_model(), file, "--name", "Ein Name"}).code, 0);
  EXPECT_EQ(Gguf(file).str("general.name"), "Ein Name");
}

// A tokenizer apart, SentencePiece's, and rows of 172 columns.
TEST(GgufOut, Stories) {
  NYB_NEED_DATA();
  const fs::path dir = data_dir() / "stories260K";
  const std::string file = out_path("stories.gguf");
  Ran r = gguf({(dir / "stories260K.bin").string(), file, "--tokenizer", (dir / "tok512.bin").string(), "--type", "q8_0"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "gguf: down: rows of 172 columns are no whole number of q8_0's blocks of 32, so they are in f16\n");
  r = gguf({(dir / "stories260K.bin").string(), file, "--type", "f32"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err, "gguf: the model has no tokenizer, so that llama.cpp takes ids only\n");
}

TEST(GgufOut, Errors) {
  const std::string file = out_path("errors.gguf");
  const auto says = [](const Ran& r, const std::string& part, int code = 1) {
    const bool one_line = std::count(r.err.begin(), r.err.end(), '\n') == 1 && r.err.starts_with("gguf: ");
    if (r.code == code && one_line && r.out.empty() && r.err.find(part) != r.err.npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << r.code << " " << r.out << r.err;
  };
  EXPECT_TRUE(says(gguf({}), "gguf IN OUT.gguf", 2));
  EXPECT_TRUE(says(gguf({pocket_model()}), "gguf IN OUT.gguf", 2));
  EXPECT_TRUE(says(gguf({pocket_model(), file, "--type", "q5_0"}), "q5_0", 2));
  EXPECT_TRUE(says(gguf({out_path("none.mnm"), file}), "none.mnm: there is no such file or folder"));
  EXPECT_TRUE(says(gguf({pocket_model(), out_path("no/such.gguf")}), "is not there"));
  EXPECT_TRUE(
      says(gguf({pocket_model(), file, "--tokenizer", file}), "a model file has its tokenizer in it; leave out --tokenizer"));
  EXPECT_FALSE(fs::exists(file));
  const std::string own = out_path("own.mnm");
  fs::copy(pocket_model(), own);
  EXPECT_TRUE(says(gguf({own, own}), "this is a part of the model to convert"));
  EXPECT_EQ(read_file(own), read_file(pocket_model()));
  // a model that another program would run wrong
  HfFolder f = tiny_model();
  f.config["architectures"] = {"SmolLM3ForCausalLM"};
  f.config["model_type"] = "smollm3";
  f.config["no_rope_layers"] = {0, 1};
  EXPECT_TRUE(says(gguf({f.write("gguf-smollm3").string(), file}),
                   "the layers without RoPE are 0, where llama.cpp's smollm3 has every 4th"));
  EXPECT_FALSE(fs::exists(file));
}

}  // namespace
}  // namespace nyb::test
