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

Fit fit(const std::string& name, uint32_t ctx, KvType kv, uint64_t left, double bandwidth = 0) {
  return fit_of(model_outline(name), ctx, kv, 2, {left, 0}, bandwidth);
}

TEST(Fit, QwenByHand) {
  const Fit f = fit("qwen2.5-1.5b", 8192, KvType::f16, UINT64_MAX, 30);
  EXPECT_EQ(f.kv_per_position, 28672u);
  EXPECT_EQ(f.ctx, 8192u);
  EXPECT_EQ(f.depths, (std::vector<uint32_t>{0, 4096}));
  ASSERT_EQ(f.rows.size(), 4u);
  const FitRow& q8 = f.rows[1];
  EXPECT_EQ(q8.type, "q8");
  EXPECT_EQ(q8.kv, 8192u * 28672u);
  EXPECT_NEAR(q8.ceilings[0], 30e9 / (static_cast<double>(q8.read_per_token) + 28672), 1e-9);
  EXPECT_NEAR(q8.ceilings[1], 30e9 / (static_cast<double>(q8.read_per_token) + 4097.0 * 28672), 1e-9);
  // 1544 million weights of a byte each, and a scale for each row
  EXPECT_NEAR(static_cast<double>(q8.weights), 1.544e9, 0.01e9);
  EXPECT_LT(f.rows[3].weights, f.rows[2].weights) << "int4 with an int8 head is larger";
}

TEST(Fit, TheAnswerIsAtTheByte) {
  const FitRow r = fit("126m", 0, KvType::f32, UINT64_MAX).rows[1];
  EXPECT_TRUE(fit("126m", 0, KvType::f32, r.total()).rows[1].fits);
  EXPECT_FALSE(fit("126m", 0, KvType::f32, r.total() - 1).rows[1].fits);
}

TEST(Fit, AModelFileHasItsOwnRow) {
  const std::string path = (tmp_dir() / "a model.mnm").string();
  constexpr NamedShape tiny{"tiny", "llama", 3, 96, 6, 2, 16, 172, 301, 64, false, 10000};
  random_model(path, tiny, TType::q4, TType::q8);
  const Fit f = fit(path, 0, KvType::f32, UINT64_MAX);
  ASSERT_EQ(f.rows.size(), 1u);
  EXPECT_EQ(f.rows[0].type, "q4 (head q8)") << "as chat names it";
  EXPECT_LT(f.rows[0].weights, std::filesystem::file_size(path));
  EXPECT_GT(static_cast<double>(f.rows[0].weights), 0.9 * static_cast<double>(std::filesystem::file_size(path)) - 20000);
  EXPECT_EQ(f.ctx, 64u);
  EXPECT_EQ(f.model.kind, "model file");
}

TEST(Fit, AFolderIsLookedAt) {
  const Fit f = fit(pocket_dir().string(), 512, KvType::f32, UINT64_MAX);
  ASSERT_EQ(f.rows.size(), 4u);
  const auto file = std::filesystem::file_size(binary_dir() / "share/nybble/pocket.mnm");
  EXPECT_NEAR(static_cast<double>(f.rows[1].weights), static_cast<double>(file), 0.02 * static_cast<double>(file))
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
  const Fit f = fit("126m", 0, KvType::f32, uint64_t{100} << 20, 20);
  const std::string t = fit_text(f);
  for (const char* word :
       {"126m: known shape, 126M parameters", "free here: 104.9 MB (0.10 GiB)", "20.0 GB/s with 2 threads", "no", "q4 (head q8)"})
    EXPECT_NE(t.find(word), std::string::npos) << word << " in\n" << t;
  const auto j = nlohmann::json::parse(fit_json(f));
  EXPECT_EQ(j["rows"].size(), 4u);
  EXPECT_EQ(j["free_bytes"], 100u << 20);
  EXPECT_TRUE(nlohmann::json::parse(fit_json(fit("126m", 0, KvType::f32, UINT64_MAX)))["free_bytes"].is_null());
}

}  // namespace
}  // namespace nyb::test
