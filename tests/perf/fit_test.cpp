// fit_test.cpp - will it fit: the arithmetic, against files and by hand.
#include "fit/fit.h"
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include "kern/error.h"
#include "model/random_model.h"
#include "support/data.h"

namespace nyb::test {
namespace {

Fit fit(const std::string& name, uint32_t ctx, KvType kv, uint64_t left, const FitSpeeds& speeds = {}) {
  Fit f = fit_of(model_outline(name), {ctx, kv, 2}, {left, 0});
  fit_speeds(f, speeds);
  return f;
}

const FitRow& row(const Fit& f, const std::string& type) {
  for (const FitRow& r : f.rows)
    if (r.type == type) return r;
  throw Error("no row " + type);
}

std::vector<std::string> types(const Fit& f) {
  std::vector<std::string> all;
  for (const FitRow& r : f.rows) all.push_back(r.type);
  return all;
}

TEST(Fit, QwenByHand) {
  const Fit f = fit("qwen2.5-1.5b", 8192, KvType::f16, UINT64_MAX, {30, {{TType::q8, 20}, {TType::q4, 10}}, "avx2", ""});
  EXPECT_EQ(f.kv_per_position, 28672u);
  EXPECT_EQ(f.plan.ctx, 8192u);
  EXPECT_EQ(f.depths, (std::vector<uint32_t>{0, 4096, 32767})) << "its context of 32768 is full then";
  EXPECT_TRUE(f.beyond.empty());
  EXPECT_EQ(types(f),
            (std::vector<std::string>{"f32", "q8", "q4 (head q8)", "q4", "keep: q8_0", "keep: q4_K (head q6_K)", "keep: q6_K"}));
  const FitRow& q8 = row(f, "q8");
  const auto read = static_cast<double>(q8.cost.read_per_token);
  EXPECT_EQ(q8.kv, 8192u * 28672u);
  EXPECT_NEAR(q8.ceilings[0], 30e9 / (read + 28672), 1e-9);
  EXPECT_NEAR(q8.ceilings[1], 30e9 / (read + 4097.0 * 28672), 1e-9);
  EXPECT_NEAR(q8.ceilings[2], 30e9 / (read + 32768.0 * 28672), 1e-9);
  EXPECT_NEAR(q8.expected, 20e9 / read, 0.01 * q8.expected) << "as the products go, norms and cache beside them";
  const ModelCost mixed = row(f, "q4 (head q8)").cost;
  EXPECT_NEAR(1 / row(f, "q4 (head q8)").expected,
              static_cast<double>(mixed.read_of.at(TType::q8)) / 20e9 + static_cast<double>(mixed.read_of.at(TType::q4)) / 10e9,
              1e-4);
  // 1544 million weights of a byte each, and a scale for each row
  EXPECT_NEAR(static_cast<double>(q8.cost.weights), 1.544e9, 0.01e9);
  EXPECT_LT(row(f, "q4").cost.weights, mixed.weights) << "int4 with an int8 head is larger";
}

TEST(Fit, DepthsEndWithTheContext) {
  const Fit f = fit("126m", 0, KvType::f32, UINT64_MAX, {20, {}, "avx2", ""});
  EXPECT_EQ(f.depths, (std::vector<uint32_t>{0, 1023}));
  EXPECT_EQ(f.beyond, (std::vector<uint32_t>{4096, 32768}));
  EXPECT_NE(fit_text(f).find("at 1023: the last position of its context of 1024; 4096 and 32768 are beyond it\n"),
            std::string::npos);
  const Fit longer = fit("llama3.2-1b", 0, KvType::f32, UINT64_MAX);
  EXPECT_EQ(longer.depths, (std::vector<uint32_t>{0, 4096, 32768}));
  EXPECT_TRUE(longer.beyond.empty());
}

TEST(Fit, AWindowIsCounted) {
  ModelOutline m = model_outline("mistral-7b");
  m.shape.windows.assign(m.shape.layers, 0);
  m.shape.windows[0] = m.shape.windows[5] = 1000;
  Fit f = fit_of(m, {0, KvType::f16, 1}, {UINT64_MAX, 0});
  fit_speeds(f, {20, {}, "avx2", "a note"});
  const FitRow& r = row(f, "q4");
  const uint64_t layer = f.kv_per_position / m.shape.layers;
  EXPECT_NEAR(20e9 / r.ceilings[1], static_cast<double>(r.cost.read_per_token + layer * (30 * 4097 + 2 * 1000)), 1);
  for (const char* text : {"2 of 32 layers look back over a window of at most 1000 positions", "\na note\n"})
    EXPECT_NE(fit_text(f).find(text), std::string::npos) << text;
}

// Whose columns are no whole blocks of 256.
TEST(Fit, WhatAShapeCannotBeIsSaid) {
  const Fit f = fit("smollm2-135m", 0, KvType::f32, UINT64_MAX);
  EXPECT_EQ(types(f), (std::vector<std::string>{"f32", "q8", "q4 (head q8)", "q4", "keep: q8_0"}));
  ASSERT_EQ(f.notes.size(), 2u);
  EXPECT_EQ(f.notes[1], "q6_K is not for this shape: a matrix of it has 576 columns, which are no whole blocks of 256");
}

TEST(Fit, TheAnswerIsAtTheByte) {
  const FitRow r = row(fit("126m", 0, KvType::f32, UINT64_MAX), "q8");
  EXPECT_TRUE(row(fit("126m", 0, KvType::f32, r.total()), "q8").fits);
  EXPECT_FALSE(row(fit("126m", 0, KvType::f32, r.total() - 1), "q8").fits);
}

TEST(Fit, AModelFileHasItsOwnRow) {
  const std::string path = (tmp_dir() / "a model.mnm").string();
  constexpr NamedShape tiny{"tiny", "llama", 3, 96, 6, 2, 16, 172, 301, 64, false, 10000};
  random_model(path, tiny, TType::q4, TType::q8);
  const Fit f = fit(path, 0, KvType::f32, UINT64_MAX);
  ASSERT_EQ(f.rows.size(), 1u);
  EXPECT_EQ(f.rows[0].type, "q4 (head q8)") << "as chat names it";
  EXPECT_LT(f.rows[0].cost.weights, std::filesystem::file_size(path));
  EXPECT_GT(static_cast<double>(f.rows[0].cost.weights), 0.9 * static_cast<double>(std::filesystem::file_size(path)) - 20000);
  EXPECT_EQ(f.plan.ctx, 64u);
  EXPECT_EQ(f.model.kind, "model file");
}

TEST(Fit, AFolderIsLookedAt) {
  const Fit f = fit(pocket_dir().string(), 512, KvType::f32, UINT64_MAX);
  EXPECT_EQ(types(f), (std::vector<std::string>{"keep: q8_0", "f32", "q8", "q4 (head q8)", "q4"}));
  const auto file = std::filesystem::file_size(binary_dir() / "share/nybble/pocket.mnm");
  EXPECT_NEAR(static_cast<double>(row(f, "q8").cost.weights), static_cast<double>(file), 0.02 * static_cast<double>(file))
      << "as quantize writes it, but for its tokenizer";
}

TEST(Fit, WhatIsNothingOfItIsSaid) {
  for (const char* bad : {"no-such-model", "/no/such/file", ""}) EXPECT_THROW(model_outline(bad), Error) << bad;
  EXPECT_THROW(fit("126m", 1025, KvType::f32, UINT64_MAX), Error) << "beyond the model's context";
  const std::string path = (tmp_dir() / "junk").string();
  { std::ofstream(path) << "junk that is no model"; }
  EXPECT_THROW(model_outline(path), Error);
}

TEST(Fit, WordsAndJson) {
  const Fit f = fit("126m", 0, KvType::f32, uint64_t{100} << 20, {20, {{TType::q8, 10}}, "avx2", ""});
  const std::string t = fit_text(f);
  for (const char* word :
       {"126m: known shape, 126M parameters", "free here: 104.9 MB (0.10 GiB)", "20.0 GB/s with 2 threads", "no", "q4 (head q8)"})
    EXPECT_NE(t.find(word), std::string::npos) << word << " in\n" << t;
  const auto j = nlohmann::json::parse(fit_json(f));
  EXPECT_EQ(j["rows"].size(), 7u);
  EXPECT_EQ(j["depths"], nlohmann::json({0, 1023}));
  EXPECT_GT(j["rows"][1]["expected_tokens_per_second"], 0);
  EXPECT_EQ(j["product_gb_per_second"]["q8"], 10);
  EXPECT_EQ(j["free_bytes"], 100u << 20);
  EXPECT_TRUE(nlohmann::json::parse(fit_json(fit("126m", 0, KvType::f32, UINT64_MAX)))["free_bytes"].is_null());
}

}  // namespace
}  // namespace nyb::test
