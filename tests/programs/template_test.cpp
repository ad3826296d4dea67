// template_test.cpp - a model whose chat template is not understood: all but the template works, and both programs say why.
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include "model/model.h"
#include "programs.h"
#include "support/data.h"
#include "support/text.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOdd = "{% include 'other' %}";
constexpr const char* kFault = "the chat template, line 1: {% include %} is not understood";

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
  const Ran quiet = chat({odd_model(), "--max", "4", "--temp", "0", "--quiet", "-p", "x"});
  EXPECT_EQ(count_of(quiet.err, kFault), 1u) << "also where all else is kept back: " << quiet.err;
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

// A template that tells a date and a mood, and takes no system message.
constexpr std::string_view kTold =
    "{{ bos_token }}<|system|>{{ strftime_now('%Y-%m-%d') ~ (mood if mood is defined else '') }}<|end|>"
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system message, please') }}{% endif %}"
    "<|{{ m.role }}|>{{ m.content | trim }}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

std::string told_model() {
  return pocket_with("told.mnm", [](std::string_view k, MetaValue& v) {
    if (k == key::chat_template) v = std::string(kTold);
    return true;
  });
}

std::string fingerprint(const Args& more) {
  Args a{told_model(), "-p", "Once upon a", "--max", "2", "--temp", "0", "--json"};
  a.insert(a.end(), more.begin(), more.end());
  const Ran r = chat(a);
  EXPECT_EQ(r.code, 0) << r.err;
  return r.code ? r.err : nlohmann::json::parse(r.out)["fingerprint"].get<std::string>();
}

TEST(Template, OptionsAreTold) {
  const std::string day = fingerprint({"--date", "2026-07-04"});
  EXPECT_EQ(fingerprint({"--date", "2026-07-04"}), day);
  EXPECT_NE(fingerprint({"--date", "2026-07-05"}), day);
  EXPECT_NE(fingerprint({"--date", "2026-07-04", "--template-var", "mood=glad"}), day);
  EXPECT_EQ(fingerprint({"--date", "2026-07-04", "--template-var", "mood=\"\"", "--template-var", "other=[1]"}), day);
  for (const Args& wrong :
       {Args{"--date", "tomorrow"}, Args{"--template-var", "mood"}, Args{"--template-var", "=x"},
        Args{"--template-var", "messages=1"}, Args{"--template-var", "a b=1"}, Args{"--template-var", "1a=1"}}) {
    const Ran r = chat(wrong);
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_NE(r.err.find(wrong[0] == "--date"       ? "2026-07-31"
                         : wrong[1] == "messages=1" ? "leave it out"
                                                    : "NAME=VALUE"),
              std::string::npos)
        << r.err;
  }
}

TEST(Template, RecordsKeepWhatWasTold) {
  const std::string file = (tmp_dir() / "told.json").string();
  const Args told{told_model(), "--date", "2026-07-04", "--template-var", "mood=glad", "--max", "6", "--seed", "1", "--save", file};
  ASSERT_EQ(chat(told, {.in = "Once upon a\nAnd then?\n"}).code, 0);
  EXPECT_NE(read_file(file).find("\"date\": \"2026-07-04\""), std::string::npos);
  const Ran again = chat({told_model(), "--replay", file});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("identical: 2 replies"), std::string::npos) << again.out << again.err;
  const Ran later = chat({told_model(), "--load", file, "--date", "2026-07-05", "-p", "And?", "--max", "2"});
  EXPECT_EQ(later.code, 0) << later.err;
  EXPECT_NE(later.err.find("saved with the date 2026-07-04"), std::string::npos) << later.err;
}

TEST(Template, ASystemMessageThatItRefuses) {
  const Ran r = chat({told_model(), "--quiet", "-p", "x", "--system", "y"});
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(count_of(r.err, "\n"), 1u) << r.err;
  EXPECT_NE(r.err.find("takes no system message"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("no system message, please"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace nyb::test
