// template_test.cpp - a model whose chat template is not understood: all but the template works, and both programs say why.
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include "model/model.h"
#include "programs.h"
#include "support/data.h"
#include "support/text.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOdd = "{% macro tool(x) %}{{ x }}{% endmacro %}";
constexpr const char* kFault = "the chat template has \"";

std::string odd_model() {
  return pocket_with("odd-template.mnm", [](std::string_view k, MetaValue& v) {
    if (k == key::chat_template) v = std::string(kOdd);
    return true;
  });
}

TEST(OddTemplate, ChatCompletesAndSaysWhyOnce) {
  const Ran r = chat({odd_model(), "--max", "4", "--temp", "0"}, {.in = "Once upon a\nOnce upon a\n"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(count_of(r.err, "completion mode"), 1u) << r.err;
  EXPECT_EQ(count_of(r.err, kFault), 1u) << r.err;
  const Ran raw = chat({"--raw", "-p", "Once upon a", "--max", "4", "--temp", "0", "--quiet"});
  EXPECT_EQ(r.out, raw.out + raw.out);
}

TEST(OddTemplate, TheRestOfTheModelIsOfUse) {
  const std::string path = odd_model();
  const Ran verify = chat({path, "--verify", "--quiet"});
  EXPECT_EQ(verify.code, 0) << verify.err;
  EXPECT_NE(verify.out.find("are right"), std::string::npos) << verify.out;
  EXPECT_EQ(chat({path, "--ids", "2043,5", "--max", "1", "--quiet"}).code, 0);
  const Ran raw = chat({path, "--raw", "-p", "x", "--max", "1"});
  EXPECT_EQ(raw.code, 0);
  EXPECT_EQ(count_of(raw.err, kFault), 0u) << "--raw wants no template: " << raw.err;
}

TEST(OddTemplate, WhatNeedsATemplateSaysWhyThereIsNone) {
  const std::string path = odd_model();
  for (const Args& more : {Args{"-p", "x", "--system", "y"}, Args{"--eval", (pocket_dir() / "heldout.jsonl").string()}}) {
    Args a{path, "--quiet"};
    a.insert(a.end(), more.begin(), more.end());
    const Ran r = chat(a);
    EXPECT_EQ(r.code, 1);
    EXPECT_EQ(count_of(r.err, "\n"), 1u) << r.err;
    EXPECT_EQ(count_of(r.err, kFault), 1u) << r.err;
  }
}

TEST(OddTemplate, QuantizeKeepsItAndSaysSo) {
  const fs::path folder = tmp_dir() / "odd-folder", out = tmp_dir() / "odd.mnm";
  fs::create_directory(folder);
  for (const auto& e : fs::directory_iterator(pocket_dir()))
    if (e.path().extension() == ".json" || e.path().extension() == ".safetensors")
      fs::copy_file(e.path(), folder / e.path().filename());
  std::ofstream(folder / "chat_template.jinja") << kOdd;
  const Ran r = run({program("quantize"), "--quiet", folder.string(), out.string()});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(count_of(r.err, "\n"), 1u) << r.err;
  EXPECT_EQ(count_of(r.err, "completion mode"), 1u) << r.err;
  EXPECT_EQ(count_of(r.err, kFault), 1u) << r.err;
  EXPECT_EQ(eng_load(out.string())->meta.get<std::string>(key::chat_template), kOdd);
  const Ran good = run({program("quantize"), "--quiet", pocket_dir().string(), (tmp_dir() / "good.mnm").string()});
  EXPECT_EQ(good.err, "");
}

}  // namespace
}  // namespace nyb::test
