// What a Hugging Face folder may hold: read rightly, or refused with one sentence.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <set>

#include "support/data.h"
#include "text/byte_map.h"
#include "text/regex_import.h"
#include "text_support.h"

namespace nyb {
namespace {
using namespace test;
using nlohmann::json;
namespace fs = std::filesystem;

Meta imported(const fs::path& folder, uint32_t vocab = kPocketVocab) {
  Meta m;
  tok_import_hf(folder.string(), vocab, m);
  return m;
}

Meta imported(const json& tokenizer, const json& config) { return imported(folder_with(tokenizer, config)); }

void expect_holds(const std::string& s, std::initializer_list<std::string> parts) {
  for (const std::string& p : parts) EXPECT_NE(s.find(p), std::string::npos) << "\"" << s << "\" lacks \"" << p << "\"";
  EXPECT_EQ(s.find('\n'), std::string::npos) << s;
}

TEST(Import, ByteAlphabet) {
  std::set<std::string> seen;
  for (int b = 0; b < 256; ++b) {
    const std::string one(1, static_cast<char>(b));
    EXPECT_TRUE(seen.insert(byte_map_encode(one)).second);
    EXPECT_EQ(byte_map_decode(byte_map_encode(one)), one);
  }
  EXPECT_EQ(byte_map_encode(" a\n"), "\u0120a\u010a");
  EXPECT_EQ(byte_map_encode(std::string("\0\xad\x7f", 3)), "\u0100\u0143\u0121");
  for (const char* bad : {" ", "\u00ad", "\u0144", "\u4e16", "\xc4", "\xff", "\xc4\x41"})
    EXPECT_EQ(byte_map_decode(bad), std::nullopt) << bad;
}

TEST(Import, PocketsKeys) {
  const Meta& m = pocket_meta();
  EXPECT_EQ(m.get<std::string>("tok.kind"), "bpe");
  EXPECT_EQ(m.get<std::vector<std::string>>("tok.tokens").size(), kPocketVocab);
  EXPECT_EQ(m.get<std::vector<std::string>>("tok.tokens")[2047], "<|end|>");
  EXPECT_EQ(m.get<std::vector<uint32_t>>("tok.merges").size(), 3 * 1787u);
  EXPECT_EQ(m.get<std::vector<uint32_t>>("tok.specials"), (std::vector<uint32_t>{2043, 2044, 2045, 2046, 2047}));
  EXPECT_EQ(m.get<std::string>("chat.template"), pocket_config().at("chat_template").get<std::string>());
  EXPECT_TRUE(m.entries().at("tok.tokens").required);
}

TEST(Import, FolderWithoutATokenizer) {
  EXPECT_TRUE(imported(folder_with({{"config.json", "{}"}})).entries().empty());
  expect_holds(error_of([] { imported(folder_with({{"tokenizer.model", "x"}})); }), {"tokenizer.model", "SentencePiece"});
}

// tokenizer_config.json alone decides on BOS; config.json does where it is absent.
TEST(Import, Beginnings) {
  const auto bos = [](const Meta& m) {
    const auto* id = m.find<uint64_t>("tok.bos");
    return id ? static_cast<int64_t>(*id) : -1;
  };
  json config = pocket_config();
  config.erase("chat_template");
  Meta m = imported(pocket_json(), config);
  EXPECT_EQ(bos(m), 2043);
  EXPECT_EQ(m.get<uint64_t>("tok.add_bos"), 0u);  // nothing asks for it
  config["chat_template"] = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}";
  EXPECT_EQ(imported(pocket_json(), config).get<uint64_t>("tok.add_bos"), 1u);  // its template does
  config.erase("chat_template");
  config["add_bos_token"] = true;
  EXPECT_EQ(imported(pocket_json(), config).get<uint64_t>("tok.add_bos"), 1u);
  config["bos_token"] = {{"content", "<|user|>"}, {"lstrip", false}};
  EXPECT_EQ(bos(imported(pocket_json(), config)), 2044);
  config["bos_token"] = nullptr;
  m = imported(pocket_json(), config);
  EXPECT_EQ(bos(m), -1);
  EXPECT_EQ(m.get<uint64_t>("tok.add_bos"), 0u);
  const std::string ids = R"({"bos_token_id": 2043, "eos_token_id": 2047})";
  EXPECT_EQ(
      bos(imported(folder_with({{"tokenizer.json", pocket_json().dump()}, {"config.json", ids}, {"tokenizer_config.json", "{}"}}))),
      -1);
  EXPECT_EQ(bos(imported(folder_with({{"tokenizer.json", pocket_json().dump()}, {"config.json", ids}}))), 2043);
}

TEST(Import, PostProcessorThatWritesBos) {
  json config = pocket_config(), t = pocket_json();
  config.erase("chat_template");
  const json piece = {{"SpecialToken", {{"id", "<|bos|>"}, {"type_id", 0}}}}, text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json writes = {{"type", "TemplateProcessing"}, {"single", {piece, text}}};
  t["post_processor"] = writes;
  EXPECT_EQ(imported(t, config).get<uint64_t>("tok.add_bos"), 1u);
  t["post_processor"] = {{"type", "Sequence"}, {"processors", {{{"type", "ByteLevel"}}, writes}}};
  EXPECT_EQ(imported(t, config).get<uint64_t>("tok.add_bos"), 1u);
  config["add_bos_token"] = false;  // has the last word
  EXPECT_EQ(imported(t, config).get<uint64_t>("tok.add_bos"), 0u);
  config.erase("add_bos_token");
  t["post_processor"] = {{"type", "TemplateProcessing"}, {"single", {text, piece}}};
  EXPECT_EQ(imported(t, config).get<uint64_t>("tok.add_bos"), 0u);
  t["post_processor"] = {{"type", "TemplateProcessing"}, {"single", json::array()}};
  EXPECT_EQ(imported(t, config).get<uint64_t>("tok.add_bos"), 0u);
}

TEST(Import, EndsAreASet) {
  using U = std::vector<uint32_t>;
  const auto ends = [](const std::map<std::string, std::string>& more, const json& config) {
    std::map<std::string, std::string> files = {{"tokenizer.json", pocket_json().dump()}, {"tokenizer_config.json", config.dump()}};
    files.insert(more.begin(), more.end());
    return imported(folder_with(files)).get<U>("tok.ends");
  };
  const json none = json::object();
  EXPECT_EQ(ends({}, none), U{});
  EXPECT_EQ(ends({}, {{"eos_token", "<|end|>"}}), U{2047});
  EXPECT_EQ(ends({}, {{"eos_token", {{"content", "<|user|>"}}}}), U{2044});
  EXPECT_EQ(ends({{"config.json", R"({"eos_token_id": 2044})"}}, {{"eos_token", "<|end|>"}}), (U{2044, 2047}));
  EXPECT_EQ(
      ends({{"config.json", R"({"eos_token_id": [2047, 2043]})"}, {"generation_config.json", R"({"eos_token_id": [2047, 2044]})"}},
           none),
      (U{2043, 2044, 2047}));
  // What closes a reply in the template, though no file names it.
  EXPECT_EQ(ends({}, {{"chat_template", pocket_config().at("chat_template")}, {"eos_token", "<|bos|>"}}), (U{2043, 2047}));
  // Also where the template is not understood, by its name.
  EXPECT_EQ(ends({}, {{"chat_template", "{% if x %}{{ '<|end|>' }}{% endif %}"}}), U{2047});
  EXPECT_EQ(ends({}, {{"chat_template", "{% if x %}{{ '<|stop|>' }}{% endif %}"}}), U{});
  // Of several the one that is called so is known.
  EXPECT_EQ(imported(folder_with({{"tokenizer.json", pocket_json().dump()},
                                  {"tokenizer_config.json", R"({"eos_token": "<|end|>"})"},
                                  {"config.json", R"({"eos_token_id": 2044})"}}))
                .get<uint64_t>("tok.eos"),
            2047u);
  // An end is special though tokenizer.json does not say so: text never becomes it.
  const Meta m = imported(folder_with({{"tokenizer.json", pocket_json().dump()}, {"config.json", R"({"eos_token_id": 984})"}}));
  EXPECT_TRUE(Tokenizer::from_meta(m)->is_special(984));
}

TEST(Import, TemplateForms) {
  const std::string text = pocket_config().at("chat_template");
  json config = {{"chat_template", {{{"name", "tool_use"}, {"template", "x"}}, {{"name", "default"}, {"template", text}}}}};
  EXPECT_EQ(imported(pocket_json(), config).get<std::string>("chat.template"), text);
  EXPECT_EQ(imported(folder_with({{"tokenizer.json", pocket_json().dump()}, {"chat_template.jinja", text}}))
                .get<std::string>("chat.template"),
            text);
  EXPECT_FALSE(imported(pocket_json(), json::object()).has("chat.template"));
  // the file of its own is the newer form
  EXPECT_EQ(imported(folder_with({{"tokenizer.json", pocket_json().dump()},
                                  {"tokenizer_config.json", json{{"chat_template", "old"}}.dump()},
                                  {"chat_template.jinja", text}}))
                .get<std::string>("chat.template"),
            text);
  // One that is not understood is kept as it is: the chat says so.
  EXPECT_EQ(imported(pocket_json(), {{"chat_template", "{{"}}).get<std::string>("chat.template"), "{{");
}

// Where ByteLevel says nothing of its regular expression it has one.
TEST(Import, ByteLevelAlone) {
  json t = pocket_json();
  t["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  EXPECT_EQ(imported(t, json::object()).get<std::string>("tok.pattern"), regex_import(kGpt2Pattern, "here"));
}

TEST(Import, Patterns) {
  const auto read = [](const char* s) { return regex_import(s, "here"); };
  EXPECT_EQ(read("\\p{L}+|\\P{Lu}|\\p{^Han}"), "\\p{L}+|\\P{Lu}|\\p{^Han}");
  EXPECT_EQ(read("\\v\\x41\\x{1f600}\\u00e9"), "\\x{0b}\\x{41}\\x{1f600}\\x{00e9}");
  EXPECT_EQ(read("a{,3}b{2}c{2,}d{2,4}"), "a{0,3}b{2}c{2,}d{2,4}");
  EXPECT_EQ(read("(?i:a)(?:b)(?=c)(?!d)(?<=e)(?<!f)(?>g)(h)"), "(?i:a)(?:b)(?=c)(?!d)(?<=e)(?<!f)(?>g)(h)");
  EXPECT_EQ(read("[^\\r\\n\\-\\]]\\."), "[^\\r\\n\\-\\]]\\.");
  EXPECT_EQ(read("\u00e9[\u4e00-\u9fa5]"), "\u00e9[\u4e00-\u9fa5]");
  EXPECT_EQ(regex_quote("a.b\n\u00e9"), "a\\.b\\x{0a}\u00e9");
  for (const char* bad : {"\\w",
                          "\\b",
                          "\\h",
                          "\\R",
                          "\\1",
                          "\\K",
                          "\\",
                          "^a",
                          "a$",
                          "[a",
                          "[]a]",
                          "[a[b]]",
                          "[a&&b]",
                          "[[:alpha:]]",
                          "[\\S]",
                          "(?m:a)",
                          "(?<n>a)",
                          "(?#x)",
                          "(?i)a",
                          "(*UTF)",
                          "a{",
                          "a{x}",
                          "a{,}",
                          "a{2}+",
                          "\\p",
                          "\\p{L",
                          "\\p{L=x}",
                          "\\x{}",
                          "\\x{110000000}",
                          "\\x4",
                          "\\u12",
                          "\\\u00e9"}) {
    expect_holds(error_of([&] { read(bad); }), {"here holds", "not understood"});
  }
}

using Change = std::function<void(json& tokenizer, json& config)>;

TEST(Import, RefusesWithFileAndKey) {
  const auto split = [](json& t) -> json& { return t["pre_tokenizer"]["pretokenizers"][0]; };
  const auto level = [](json& t) -> json& { return t["pre_tokenizer"]["pretokenizers"][1]; };
  const std::pair<Change, std::vector<std::string>> rows[] = {
      {[](json& t, json&) { t = json::array(); }, {"tokenizer.json", "object"}},
      {[](json& t, json&) { t.erase("model"); }, {"tokenizer.json", "model is missing"}},
      {[](json& t, json&) { t["model"] = 5; }, {"model", "object"}},
      {[](json& t, json&) { t["model"]["type"] = "Unigram"; }, {"model.type", "Unigram"}},
      {[](json& t, json&) { t["model"].erase("vocab"); }, {"model.vocab is missing"}},
      {[](json& t, json&) { t["model"]["vocab"] = json::array(); }, {"model.vocab", "array", "object"}},
      {[](json& t, json&) { t["model"].erase("merges"); }, {"model.merges is missing"}},
      {[](json& t, json&) { t["model"]["vocab"]["qq"] = 2048; }, {"model.vocab[\"qq\"]", "2048", "vocabulary of 2048"}},
      {[](json& t, json&) { t["model"]["vocab"]["qq"] = -1; }, {"model.vocab[\"qq\"]", "-1"}},
      {[](json& t, json&) { t["model"]["vocab"]["qq"] = 1.5; }, {"model.vocab[\"qq\"]", "1.5"}},
      {[](json& t, json&) { t["model"]["vocab"]["qq"] = "7"; }, {"model.vocab[\"qq\"]", "string"}},
      {[](json& t, json&) { t["model"]["vocab"]["qq"] = 7; }, {"model.vocab[\"", "the id 7", "already"}},
      {[](json& t, json&) { t["model"]["vocab"].erase("A"); }, {"model.vocab", "0x41"}},
      {[](json& t, json&) { t["model"]["merges"][5] = "a"; }, {"model.merges[5]", "\"a\""}},
      {[](json& t, json&) { t["model"]["merges"][5] = "a b c"; }, {"model.merges[5]"}},
      {[](json& t, json&) { t["model"]["merges"][5] = " b"; }, {"model.merges[5]", "empty"}},
      {[](json& t, json&) { t["model"]["merges"][5] = 7; }, {"model.merges[5]", "number"}},
      {[](json& t, json&) {
         t["model"]["merges"][5] = {"a", "b", "c"};
       },
       {"model.merges[5]", "3"}},
      {[](json& t, json&) {
         t["model"]["merges"][5] = {"a", 1};
       },
       {"model.merges[5][1]", "string"}},
      {[](json& t, json&) { t["model"]["merges"][5] = "a zzzz"; }, {"model.merges[5]", "\"zzzz\""}},
      {[](json& t, json&) { t["model"]["merges"][5] = "z Q"; }, {"model.merges[5]", "\"zQ\""}},
      {[](json& t, json&) { t["model"]["byte_fallback"] = true; }, {"model.byte_fallback"}},
      {[](json& t, json&) { t["model"]["dropout"] = 0.1; }, {"model.dropout"}},
      {[](json& t, json&) { t["model"]["end_of_word_suffix"] = "</w>"; }, {"model.end_of_word_suffix"}},
      {[](json& t, json&) { t["model"]["ignore_merges"] = 1; }, {"model.ignore_merges", "true or false"}},
      {[](json& t, json&) {
         t["normalizer"] = {{"type", "NFKC"}};
       },
       {"normalizer", "NFKC"}},
      {[](json& t, json&) {
         t["normalizer"] = {{"type", "Prepend"}, {"prepend", "\u2581"}};
       },
       {"normalizer", "blanks"}},
      {[](json& t, json&) {
         t["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "Lowercase"}}}}};
       },
       {"normalizers[1]", "Lowercase"}},
      {[](json& t, json&) { t["normalizer"] = "NFC"; }, {"normalizer"}},
      {[](json& t, json&) {
         t["decoder"] = {{"type", "Metaspace"}};
       },
       {"decoder", "Metaspace"}},
      {[](json& t, json&) { t["pre_tokenizer"] = nullptr; }, {"pre_tokenizer is missing"}},
      {[](json& t, json&) {
         t["pre_tokenizer"] = {{"type", "Whitespace"}};
       },
       {"pre_tokenizer", "ByteLevel"}},
      {[](json& t, json&) { t["pre_tokenizer"]["pretokenizers"] = json::array(); }, {"pre_tokenizer", "ByteLevel"}},
      {[&](json& t, json&) { t["pre_tokenizer"] = level(t); }, {"pre_tokenizer", "use_regex"}},
      {[&](json& t, json&) { level(t)["add_prefix_space"] = true; }, {"pretokenizers[1]", "add_prefix_space"}},
      {[&](json& t, json&) { level(t).erase("add_prefix_space"); }, {"pretokenizers[1]", "add_prefix_space"}},
      {[&](json& t, json&) { split(t)["behavior"] = "Removed"; }, {"pretokenizers[0].behavior", "Removed"}},
      {[&](json& t, json&) { split(t)["invert"] = true; }, {"pretokenizers[0].invert"}},
      {[&](json& t, json&) {
         split(t)["pattern"] = {{"Regex", "\\w+"}};
       },
       {"pretokenizers[0].pattern.Regex", "\\w"}},
      {[&](json& t, json&) {
         split(t)["pattern"] = {{"Regex", "(a"}};
       },
       {"tokenizer.json", "tok.pattern", "character 2"}},
      {[&](json& t, json&) {
         split(t)["pattern"] = {{"Regex", "\\p{Klingon}"}};
       },
       {"tokenizer.json", "tok.pattern"}},
      {[&](json& t, json&) { split(t)["pattern"] = json::object(); }, {"pattern.String is missing"}},
      {[&](json& t, json&) { split(t)["type"] = "Punctuation"; }, {"pretokenizers[0]", "Punctuation"}},
      {[&](json& t, json&) { std::swap(split(t), level(t)); }, {"pre_tokenizer", "end in ByteLevel"}},
      {[](json& t, json&) { t["added_tokens"] = 1; }, {"added_tokens", "list"}},
      {[](json& t, json&) { t["added_tokens"][0].erase("id"); }, {"added_tokens[0].id is missing"}},
      {[](json& t, json&) { t["added_tokens"][0]["id"] = 99999; }, {"added_tokens[0].id", "99999", "2048"}},
      {[](json& t, json&) { t["added_tokens"][0]["id"] = 7; }, {"added_tokens[0]"}},
      {[](json& t, json&) { t["added_tokens"][0]["content"] = ""; }, {"added_tokens[0]", "empty"}},
      {[](json& t, json&) { t["added_tokens"][1]["content"] = "<|bos|>"; }, {"added_tokens[1]", "second time"}},
      {[](json& t, json&) { t["added_tokens"][4]["single_word"] = true; }, {"added_tokens[4]", "<|end|>", "single_word"}},
      {[](json& t, json&) { t["added_tokens"][4]["rstrip"] = 1; }, {"added_tokens[4].rstrip", "true or false"}},
      {[](json&, json& c) { c["bos_token"] = "<s>"; }, {"tokenizer_config.json", "bos_token", "<s>"}},
      {[](json&, json& c) { c["bos_token"] = 7; }, {"tokenizer_config.json", "bos_token", "number"}},
      {[](json&, json& c) { c["eos_token"] = json::object(); }, {"tokenizer_config.json", "eos_token.content is missing"}},
      {[](json&, json& c) { c["eos_token"] = "A"; }, {"0x41"}},
      {[](json&, json& c) { c["add_bos_token"] = "yes"; }, {"tokenizer_config.json", "add_bos_token", "true or false"}},
      {[](json&, json& c) { c["chat_template"] = 7; }, {"tokenizer_config.json", "chat_template", "number"}},
      {[](json&, json& c) { c["chat_template"] = json::array(); }, {"chat_template", "default"}},
      {[](json&, json& c) {
         c["chat_template"] = {{{"name", "default"}}};
       },
       {"chat_template[0].template is missing"}},
      {[](json&, json& c) { c = 7; }, {"tokenizer_config.json", "object"}},
  };
  for (const auto& [change, parts] : rows) {
    json t = pocket_json(), c = pocket_config();
    change(t, c);
    const std::string error = error_of([&] { imported(t, c); });
    for (const std::string& p : parts) EXPECT_NE(error.find(p), std::string::npos) << "\"" << error << "\" lacks \"" << p << "\"";
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_LT(error.size(), 400u);
  }
  expect_holds(error_of([] {
                 imported(folder_with(
                     {{"tokenizer.json", pocket_json().dump()}, {"generation_config.json", R"({"eos_token_id": [1, 4000]})"}}));
               }),
               {"generation_config.json", "eos_token_id[1]", "4000"});
  expect_holds(error_of([] {
                 imported(folder_with({{"tokenizer.json", pocket_json().dump()}, {"config.json", R"({"eos_token_id": -1})"}}));
               }),
               {"config.json", "eos_token_id", "-1"});
  expect_holds(error_of([] { imported(pocket_dir(), 2000); }), {"tokenizer.json", "vocabulary of 2000"});
  expect_holds(error_of([] { imported(pocket_dir(), 0xffffffff); }), {"tokenizer.json", "4294967295"});
}

TEST(Import, FilesThatAreNone) {
  expect_holds(error_of([] { imported(folder_with({{"tokenizer.json", ""}})); }), {"tokenizer.json", "JSON"});
  expect_holds(error_of([] {
                 imported(folder_with({{"tokenizer.json", "{\"a\": \"\xff\"}"}}));
               }),
               {"tokenizer.json", "JSON", "byte"});
  expect_holds(error_of([] { imported(folder_with({{"tokenizer.json", "{} x"}})); }), {"tokenizer.json", "JSON", "byte 4"});
  expect_holds(error_of([] {
                 imported(folder_with({{"tokenizer.json", R"({"model": {"vocab": {"a": 1, "a": 2}}})"}}));
               }),
               {"tokenizer.json", "the key \"a\" is there twice"});
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 200000; ++i) deep += open;
    expect_holds(error_of([&] {
                   imported(folder_with({{"tokenizer.json", deep}}));
                 }),
                 {"tokenizer.json", "nested more than 64 deep"});
  }
  const fs::path a_folder = folder_with(std::map<std::string, std::string>());
  fs::create_directory(a_folder / "tokenizer.json");
  expect_holds(error_of([&] { imported(a_folder); }), {"tokenizer.json", "not a regular file"});
  const fs::path a_fifo = folder_with(std::map<std::string, std::string>());
  ASSERT_EQ(mkfifo((a_fifo / "tokenizer.json").c_str(), 0600), 0);
  expect_holds(error_of([&] { imported(a_fifo); }), {"tokenizer.json", "not a regular file"});
  const fs::path large = folder_with({{"tokenizer.json", "{"}});
  fs::resize_file(large / "tokenizer.json", uintmax_t{1} << 40);  // sparse
  expect_holds(error_of([&] { imported(large); }), {"tokenizer.json", "1099511627776"});
}

// Cut anywhere, or with bytes changed: an Error or a tokenizer, nothing else.
TEST(Import, CutAndChangedFiles) {
  const std::string whole = pocket_json().dump();
  for (size_t n = 0; n < whole.size(); n += whole.size() / 60 + 1) {
    EXPECT_FALSE(error_of([&] { imported(folder_with({{"tokenizer.json", whole.substr(0, n)}})); }).empty());
  }
  Random rng(23);
  for (int round = 0; round < 120; ++round) {
    std::string text = whole;
    for (size_t k = 0; k <= rng.below(4); ++k)
      text[rng.below(2) ? rng.below(text.size()) : rng.below(900)] = "{}[]\",:0a\xff"[rng.below(10)];
    try {
      const Meta m = imported(folder_with({{"tokenizer.json", text}}));
      const auto tok = Tokenizer::from_meta(m);
      ASSERT_NE(tok, nullptr);
      EXPECT_EQ(tok->decode(tok->encode("Hello world")), "Hello world");
    } catch (const Error&) { continue; }
  }
}

}  // namespace
}  // namespace nyb
