// eval_npy_test.cpp - token ids of a .npy file, scored; the expected figures are computed here, of the logits that chat writes.
#include <gtest/gtest.h>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>
#include "model/model.h"
#include "programs.h"
#include "support/data.h"
#include "text/tokenizer.h"

namespace nyb::test {
namespace {

using nlohmann::json;

std::string file_with(const std::string& name, const std::string& bytes) {
  std::string path = (tmp_dir() / name).string();
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// As numpy's format document has it: version 1.0 counts the header in two bytes, 2.0 and 3.0 in four.
std::string npy(const std::string& dict, const std::string& data, char version = 1) {
  const std::string text = dict + "\n";
  std::string all = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) all += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return all + text + data;
}

template <class T>
std::string bytes_of(const std::vector<int64_t>& ids) {
  std::string all;
  for (const int64_t id : ids) {
    const auto v = static_cast<T>(id);
    all.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  return all;
}

std::string dict_of(const std::string& descr, size_t n) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + std::to_string(n) + ",), }";
}

json eval_of(const std::string& path, const Args& more = {}) {
  Args args{"--eval", path, "--json", "--quiet"};
  args.insert(args.end(), more.begin(), more.end());
  const Ran r = chat(args);
  EXPECT_EQ(r.code, 0) << r.err;
  return json::parse(r.out, nullptr, false);
}

std::string story() {
  std::string text;
  for (int i = 0; i < 4; ++i) text += "Once upon a time, there lived a little wolf in the deep forest. ";
  return text;
}

std::vector<int64_t> story_ids() {
  const auto m = eng_load(pocket_model());
  const std::vector<int32_t> ids = Tokenizer::from_meta(m->meta)->encode(story());
  return {ids.begin(), ids.end()};
}

int32_t pocket_bos() { return *Tokenizer::from_meta(eng_load(pocket_model())->meta)->bos(); }

// The sum of losses of ids[first ...], each predicted by the logits of the ids before it, which chat --ids --logits writes.
double loss_by_hand(const std::vector<int64_t>& ids, size_t first) {
  std::string list;
  for (const int64_t id : ids) list += (list.empty() ? "" : ",") + std::to_string(id);
  const std::filesystem::path out = tmp_dir() / "by_hand.npy";
  EXPECT_EQ(chat({"--ids", list, "--max", "0", "--logits", out.string(), "--quiet"}).code, 0);
  const std::string all = read_file(out);
  const size_t vocab = (all.size() - 128) / 4 / ids.size();
  std::vector<float> row(vocab);
  double loss = 0;
  for (size_t i = first; i < ids.size(); ++i) {
    std::memcpy(row.data(), all.data() + 128 + (i - 1) * vocab * 4, vocab * 4);
    long double sum = 0;
    for (const float l : row) sum += std::exp(static_cast<long double>(l));
    loss += static_cast<double>(std::log(sum)) - row[static_cast<size_t>(ids[i])];
  }
  return loss;
}

TEST(EvalNpy, WindowsWithTheLossOfTheirLogits) {
  const std::vector<int64_t> ids = story_ids();
  const std::string path = file_with("story.npy", npy(dict_of("<i4", ids.size()), bytes_of<int32_t>(ids)));
  for (const size_t ctx : {size_t{16}, ids.size() + 1, size_t{512}}) {
    const json j = eval_of(path, {"--ctx", std::to_string(ctx)});
    double loss = 0;
    size_t tokens = 0;
    for (size_t at = 0; at < ids.size(); at += ctx - 1) {
      std::vector<int64_t> window{pocket_bos()};
      for (size_t i = at; i < std::min(at + ctx - 1, ids.size()); ++i) window.push_back(ids[i]);
      loss += loss_by_hand(window, 1);
      tokens += window.size();
    }
    EXPECT_EQ(j["targets"], ids.size());
    EXPECT_EQ(j["tokens"], tokens);
    EXPECT_NEAR(j["loss"], loss / static_cast<double>(ids.size()), 1e-9) << "context " << ctx;
    EXPECT_NEAR(j["perplexity"], std::exp(loss / static_cast<double>(ids.size())), 1e-8);
    EXPECT_GT(j["tokens_per_second"], 0);
  }
}

TEST(EvalNpy, TheSameAsTheText) {
  const std::vector<int64_t> ids = story_ids();
  const json a = eval_of(file_with("same.txt", story()));
  // every type and version, keys in any order, either kind of quotes; the magic tells as well as the name
  for (const std::string& path :
       {file_with("i4.npy", npy(dict_of("<i4", ids.size()), bytes_of<int32_t>(ids))),
        file_with("i8.npy", npy(dict_of("<i8", ids.size()), bytes_of<int64_t>(ids), 2)),
        file_with("u2.npy", npy(dict_of("<u2", ids.size()), bytes_of<uint16_t>(ids), 3)),
        file_with("ids.bin", npy("{ \"shape\":(" + std::to_string(ids.size()) + ",),'fortran_order':False, \"descr\" : '<u4'}   ",
                                 bytes_of<uint32_t>(ids)))}) {
    const json j = eval_of(path);
    EXPECT_EQ(j["loss"], a["loss"]) << path;
    EXPECT_EQ(j["fingerprint"], a["fingerprint"]) << path;
    EXPECT_EQ(j["targets"], ids.size());
  }
}

TEST(EvalNpy, OneBosAlsoWhereTheIdsBeginWithIt) {
  std::vector<int64_t> ids = story_ids();
  const json without = eval_of(file_with("without.npy", npy(dict_of("<i4", ids.size()), bytes_of<int32_t>(ids))));
  ids.insert(ids.begin(), pocket_bos());
  const json with = eval_of(file_with("with.npy", npy(dict_of("<i4", ids.size()), bytes_of<int32_t>(ids))));
  EXPECT_EQ(with["fingerprint"], without["fingerprint"]);
  EXPECT_EQ(with["targets"], without["targets"]);
}

TEST(EvalNpy, AModelWithoutATokenizerHasNoBos) {
  const std::string model =
      pocket_with("bare.mnm", [](std::string_view k, MetaValue&) { return !k.starts_with("tok.") && k != key::chat_template; });
  const std::vector<int64_t> ids = story_ids();
  const std::string path = file_with("bare.npy", npy(dict_of("<i4", ids.size()), bytes_of<int32_t>(ids)));
  const Ran r = chat({model, "--eval", path, "--json", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  const json j = json::parse(r.out);
  EXPECT_EQ(j["targets"], ids.size() - 1) << "nothing predicts the first";
  EXPECT_NEAR(j["loss"], loss_by_hand(ids, 1) / static_cast<double>(ids.size() - 1), 1e-9);
}

TEST(EvalNpy, WhatIsWrongIsNamed) {
  const std::string three = bytes_of<int32_t>({1, 2, 3}), good = npy(dict_of("<i4", 3), three);
  struct Case {
    std::string bytes, says;
  };
  size_t number = 0;
  for (const Case& c : std::vector<Case>{
           {"", "does not begin with numpy's"},
           {"some text", "does not begin with numpy's"},
           {good.substr(0, 9), "ends after 9 bytes, within its header"},
           {good.substr(0, 40), "has 40 bytes, but its header alone would take"},
           {npy(dict_of("<i4", 3), three, 4), "version 4.0"},
           {npy(dict_of("<i4", 3), three.substr(1)), "holds 11 bytes of data, but 3 ids of 4 bytes"},
           {npy(dict_of("<i4", 3), three + "x"), "holds 13 bytes of data"},
           {npy(dict_of("<i4", 3), three + three), "holds 24 bytes of data"},
           {npy("{'descr': '<i4', 'fortran_order': False, 'shape': (4611686018427387907,), }", three), "4611686018427387907 ids"},
           {npy("{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,), }", three), "malformed"},
           {npy("{'descr': '<i4', 'fortran_order': True, 'shape': (3,), }", three), "Fortran order"},
           {npy("{'descr': '<i4', 'fortran_order': False, 'shape': (3, 1), }", three), "has 2 dimensions"},
           {npy("{'descr': '<i4', 'fortran_order': False, 'shape': (), }", three.substr(0, 4)), "has 0 dimensions"},
           {npy(dict_of(">i4", 3), three), "of type '>i4'"},
           {npy(dict_of("<f4", 3), three), "of type '<f4'"},
           {npy(dict_of("|u1", 12), three), "of type '|u1'"},
           {npy("{'descr': [('id', '<i4')], 'fortran_order': False, 'shape': (3,), }", three), "records of several fields"},
           {npy("{'descr': '<i4', 'fortran_order': False, }", three), "malformed"},
           {npy("{'descr': '<i4', 'fortran_order': 0, 'shape': (3,), }", three), "it has '0, 'shape'"},
           {npy("{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", three), "the key 'descr'"},
           {npy("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), 'more': 1}", three), "the key 'more'"},
           {npy("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), } x", three), "malformed"},
           {npy("{'descr': '<i4', 'fortran_order': False, 'shape': (3,", three), "malformed"},
           {npy("{'descr': '<i4", three), "a text without an end"},
           {npy(dict_of("<i4", 3), bytes_of<int32_t>({1, 2048, 3})),
            "the id at position 1 is 2048, outside the vocabulary of 2048"},
           {npy(dict_of("<i8", 2), bytes_of<int64_t>({1, -1})), "the id at position 1 is -1"},
           {npy(dict_of("<i8", 1), bytes_of<int64_t>({int64_t{1} << 32})), "the id at position 0 is 4294967296"},
           {npy(dict_of("<u4", 1), bytes_of<uint32_t>({-1})), "the id at position 0 is 4294967295"},
           {npy(dict_of("<i4", 0), ""), "no token to score"}}) {
    const std::string path = file_with("wrong" + std::to_string(number++) + ".npy", c.bytes);
    const Ran r = chat({"--eval", path, "--quiet"});
    EXPECT_EQ(r.code, 1) << c.says << r.out;
    EXPECT_EQ(r.out, "");
    EXPECT_NE(r.err.find(c.says), std::string::npos) << "wanted '" << c.says << "' in: " << r.err;
    EXPECT_TRUE(r.err.starts_with("chat: '" + path + "'")) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
}

}  // namespace
}  // namespace nyb::test
