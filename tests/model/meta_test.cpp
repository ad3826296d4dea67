// Metadata by itself: what is set is got, and what is written is read.
#include "model/meta.h"

#include <gtest/gtest.h>

#include "hf_folder.h"
#include "model/meta_io.h"

namespace nyb {
namespace {
using test::message_of;
using test::says;

std::span<const uint8_t> bytes(const std::string& s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

TEST(Meta, TypesAreKept) {
  Meta m;
  m.set("a.u", uint64_t{7});
  m.set("a.d", 0.1);
  m.set("a.s", std::string("text"));
  EXPECT_EQ(m.get<uint64_t>("a.u"), 7u);
  EXPECT_EQ(m.get<double>("a.d"), 0.1);
  EXPECT_EQ(m.get<std::string>("a.s"), "text");
  EXPECT_TRUE(m.has("a.s"));
  EXPECT_FALSE(m.has("a"));
  EXPECT_EQ(m.find<uint64_t>("b"), nullptr);
  EXPECT_TRUE(says(message_of([&] { m.get<double>("b"); }), "no key \"b\""));
  EXPECT_TRUE(says(message_of([&] { m.get<double>("a.u"); }), "\"a.u\" is a u64 where a f64 belongs"));
  EXPECT_TRUE(says(message_of([&] { m.find<std::vector<uint32_t>>("a.s"); }), "\"a.s\" is a string where a list of u32 belongs"));
  m.set("a.u", 2.0);
  EXPECT_EQ(m.get<double>("a.u"), 2.0);
}

TEST(Meta, EveryKnownKeySurvivesTheFile) {
  Meta m;
  const std::string odd("\0\xff\n\"x", 5);
  for (const char* k : {key::family, key::name, key::act, key::rope_style, key::tok_kind, key::tok_pattern, key::tok_normal,
                        key::chat_template, key::source_file})
    m.set(k, odd, true);
  for (const char* k : {key::norm_eps, key::attn_scale, key::rope_factor}) m.set(k, -0.0);
  for (const char* k : {key::rope_freqs, key::tok_scores}) m.set(k, std::vector<double>{1e-300, 1e300, 0.1});
  for (const char* k : {key::tok_merges, key::tok_specials, key::tok_ends, key::tok_types, key::tok_named, key::tok_whole,
                        key::tok_strips_before, key::tok_strips_after})
    m.set(k, std::vector<uint32_t>{0, UINT32_MAX, 5});
  for (const char* k : {key::tok_bos, key::tok_add_bos, key::tok_add_prefix, key::tok_byte_fallback, key::tok_unknown,
                        key::tok_each_unknown, key::source_hash})
    m.set(k, uint64_t{UINT64_MAX});
  for (const char* k : {key::tok_tokens, key::tok_patterns}) m.set(k, std::vector<std::string>{"", odd, std::string(70000, 'x')});
  const std::string b = meta_encode(m);
  const Meta back = meta_decode(bytes(b), m.entries().size(), "f");
  ASSERT_EQ(back.entries().size(), m.entries().size());
  for (const auto& [k, e] : m.entries()) {
    const auto it = back.entries().find(k);
    ASSERT_NE(it, back.entries().end()) << k;
    EXPECT_EQ(it->second.value, e.value) << k;
    EXPECT_EQ(it->second.required, e.required) << k;
  }
  EXPECT_EQ(meta_encode(back), b);
}

TEST(Meta, EmptyListsAndStrings) {
  Meta m;
  m.set(key::tok_ends, std::vector<uint32_t>{});
  m.set(key::tok_tokens, std::vector<std::string>{});
  m.set(key::name, std::string());
  const std::string b = meta_encode(m);
  EXPECT_EQ(meta_encode(meta_decode(bytes(b), 3, "f")), b);
  EXPECT_TRUE(meta_decode({}, 0, "f").entries().empty());
}

// The layout, byte by byte.
TEST(Meta, Bytes) {
  Meta m;
  m.set(key::tok_tokens, std::vector<std::string>{"ab", ""}, true);
  const std::string want(
      "\x0a\0\0\0\x06\0\0\0\x01\0\0\0\0\0\0\0\x12\0\0\0\0\0\0\0"
      "tok.tokens"
      "\x02\0\0\0\0\0\0\0\x02\0\0\0ab\0\0\0\0",
      24 + 10 + 18);
  EXPECT_EQ(meta_encode(m), want);
}

TEST(Meta, KeysThatAFileCannotHold) {
  for (const std::string& k :
       {std::string(), std::string("Upper"), std::string("a b"), std::string(256, 'a'), std::string("a\0", 2)}) {
    Meta m;
    m.set(k, uint64_t{1});
    EXPECT_TRUE(says(message_of([&] { meta_encode(m); }), "cannot hold the key")) << k;
  }
}

TEST(Meta, ShownIsFitForAMessage) {
  EXPECT_EQ(shown("plain"), "\"plain\"");
  EXPECT_EQ(shown(std::string_view("a\0\n\x80\"", 5)), "\"a\\x00\\x0a\\x80\\x22\"");
  EXPECT_EQ(shown(std::string(65, 'x')), "\"" + std::string(64, 'x') + "...\"");
}

}  // namespace
}  // namespace nyb
