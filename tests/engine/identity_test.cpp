// identity_test.cpp - one answer, whatever runs it: all logits of all positions, byte for byte, over kernel paths, threads,
// chunks, fresh and reused caches, cache types and weight types.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "paths.h"
#include "support/data.h"
#include "support/family_folder.h"
#include "weights.h"

namespace nyb::test {
namespace {

constexpr unsigned kThreads[] = {1, 2, 3, 7};
constexpr size_t kChunks[] = {0, 1, 2, 7, 32, SIZE_MAX};  // 0: one eng_step a token
constexpr unsigned kFewThreads[] = {1, 2, 3};
constexpr size_t kFewChunks[] = {0, 7, SIZE_MAX};

struct Way {
  Path path = Path::ref;
  unsigned threads = 1;
  size_t chunk = 0;
  bool reused = false;  // the cache; and the weights are read in another order, and by pages the cache too
};

// In streams one token runs avx2's products on vnni as well, where the watch wants the path's own to be emulated.
Order order_of(const Way& w) {
  if (!w.reused) return Order::in_order;
  return w.threads % 2 == 0 || w.path == Path::vnni || w.path == Path::vnni8 ? Order::pages : Order::streams;
}

std::ostream& operator<<(std::ostream& o, const Way& w) {
  o << path_name(w.path) << ", " << w.threads << " threads, ";
  return (w.chunk == 0 ? o << "token by token" : o << "chunks of " << w.chunk)
         << (w.reused ? ", reused cache, " : ", fresh cache, ") << order_name(order_of(w));
}

Pool& pool_of(unsigned threads) {
  static std::map<unsigned, std::unique_ptr<Pool>> pools;
  auto& p = pools[threads];
  if (!p) p = std::make_unique<Pool>(threads);
  return *p;
}

std::vector<int32_t> random_ids(const Model& m, size_t n, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<int32_t> ids(n);
  for (int32_t& id : ids) id = static_cast<int32_t>(rng() % m.shape.vocab);
  return ids;
}

void feed(Engine& e, std::span<const int32_t> ids, size_t pos, bool one_by_one, std::span<float> out) {
  const size_t vocab = e.model().shape.vocab;
  if (!one_by_one) return eng_step(e, ids, static_cast<uint32_t>(pos), out);
  for (size_t i = 0; i < ids.size(); i++)
    eng_step(e, ids.subspan(i, 1), static_cast<uint32_t>(pos + i), out.empty() ? out : out.subspan(i * vocab, vocab));
}

std::vector<float> logits_of(const Model& m, KvType kv, const Way& way, std::span<const int32_t> ids, Pool& pool) {
  EngOptions opt;
  opt.kv = kv;
  opt.chunk = static_cast<uint32_t>(std::clamp<size_t>(way.chunk, 1, m.shape.ctx));
  Engine e(m, with_order(kern_table(way.path), order_of(way)), pool, opt);
  const EmulationWatch watch(e);
  const bool single = way.chunk == 0;
  const size_t vocab = m.shape.vocab, half = ids.size() / 2;
  std::vector<float> out(ids.size() * vocab);
  if (!way.reused) {
    feed(e, ids, 0, single, out);
    return out;
  }
  // another text of the same length, then the first half of ours over it, another end, and ours in its place
  feed(e, random_ids(m, ids.size(), 99), 0, false, {});
  feed(e, ids.first(half), 0, single, std::span(out).first(half * vocab));
  feed(e, random_ids(m, ids.size() - half, 98), half, false, {});
  feed(e, ids.subspan(half), half, single, std::span(out).subspan(half * vocab));
  return out;
}

void expect_same(const std::vector<float>& is, const std::vector<float>& want, size_t vocab) {
  ASSERT_EQ(is.size(), want.size());
  if (std::memcmp(is.data(), want.data(), is.size() * sizeof(float)) == 0) return;
  for (size_t i = 0; i < is.size(); i++)
    ASSERT_EQ(std::bit_cast<uint32_t>(is[i]), std::bit_cast<uint32_t>(want[i]))
        << "position " << i / vocab << ", token " << i % vocab << ": " << is[i] << " where the reference has " << want[i];
}

// The definition: the scalar reference, one thread, token by token.
std::vector<float> reference(const Model& m, KvType kv, std::span<const int32_t> ids) {
  std::vector<float> want = logits_of(m, kv, Way{}, ids, pool_of(1));
  for (size_t i = 1; i < want.size(); i++)
    if (want[i] != want[0]) return want;
  ADD_FAILURE() << "all logits are the same";
  return want;
}

// Every way there is to run these paths with so many threads and such chunks.
void full_matrix(const Model& m, size_t tokens, const std::vector<Path>& paths, std::span<const unsigned> counts = kThreads,
                 std::span<const size_t> chunks = kChunks) {
  const std::vector<int32_t> ids = random_ids(m, tokens, 1);
  for (const KvType kv : kKvTypes) {
    const std::vector<float> want = reference(m, kv, ids);
    for (const Path path : paths)
      for (const unsigned threads : counts)
        for (const size_t chunk : chunks)
          for (const bool reused : {false, true}) {
            const Way way{path, threads, chunk, reused};
            SCOPED_TRACE(testing::Message() << m.type_name << ", " << kv_name(kv) << " cache, " << way);
            ASSERT_NO_FATAL_FAILURE(expect_same(logits_of(m, kv, way, ids, pool_of(threads)), want, m.shape.vocab));
          }
  }
}

// A few ways in which each value of one axis meets each value of every other: greedily the best of some random rows.
std::vector<Way> pairwise(const std::vector<Path>& paths) {
  const size_t sizes[] = {paths.size(), std::size(kThreads), std::size(kChunks), 2};
  std::set<std::array<size_t, 4>> open;
  for (size_t a = 0; a < 4; a++)
    for (size_t b = a + 1; b < 4; b++)
      for (size_t i = 0; i < sizes[a]; i++)
        for (size_t j = 0; j < sizes[b]; j++) open.insert({a, i, b, j});
  const auto pairs_of = [](const std::array<size_t, 4>& row) {
    std::vector<std::array<size_t, 4>> v;
    for (size_t a = 0; a < 4; a++)
      for (size_t b = a + 1; b < 4; b++) v.push_back({a, row[a], b, row[b]});
    return v;
  };
  std::mt19937 rng(5);
  std::vector<Way> ways;
  while (!open.empty()) {
    std::array<size_t, 4> best{};
    size_t most = 0;
    for (int i = 0; i < 200; i++) {
      std::array<size_t, 4> row{};
      for (size_t a = 0; a < 4; a++) row[a] = rng() % sizes[a];
      size_t n = 0;
      for (const auto& p : pairs_of(row)) n += open.count(p);
      if (n > most) {
        most = n;
        best = row;
      }
    }
    for (const auto& p : pairs_of(best)) open.erase(p);
    if (most > 0) ways.push_back({paths[best[0]], kThreads[best[1]], kChunks[best[2]], best[3] == 1});
  }
  return ways;
}

void pairwise_matrix(const Model& m, size_t tokens) {
  const std::vector<int32_t> ids = random_ids(m, tokens, 2);
  for (const KvType kv : kKvTypes) {
    const std::vector<float> want = reference(m, kv, ids);
    for (const Way& way : pairwise(runnable_paths())) {
      SCOPED_TRACE(testing::Message() << m.type_name << ", " << kv_name(kv) << " cache, " << way);
      ASSERT_NO_FATAL_FAILURE(expect_same(logits_of(m, kv, way, ids, pool_of(way.threads)), want, m.shape.vocab));
    }
  }
}

std::string stories() { return (data_dir() / "stories260K" / "hf").string(); }

class Identity : public testing::TestWithParam<TType> {};
INSTANTIATE_TEST_SUITE_P(, Identity, testing::Values(TType::f32, TType::q8, TType::q4),
                         [](const auto& p) { return std::string(ttype_name(p.param)); });

// With 35 tokens every chunk size differs; with 300 there are two segments of attention.
TEST_P(Identity, StoriesEveryWay) {
  NYB_NEED_DATA();
  full_matrix(*make_model(hf_weights(stories()), all(GetParam())), 35, runnable_paths());
}

TEST_P(Identity, StoriesAcrossSegments) {
  NYB_NEED_DATA();
  pairwise_matrix(*make_model(hf_weights(stories()), all(GetParam())), 300);
}

// The whole matrix on a model that is always there, a test for each type and path.
class IdentityPocket : public testing::TestWithParam<std::tuple<TType, Path>> {};
INSTANTIATE_TEST_SUITE_P(, IdentityPocket,
                         testing::Combine(testing::Values(TType::f32, TType::q8, TType::q4), testing::ValuesIn(kAllPaths)),
                         [](const auto& p) {
                           return std::string(ttype_name(std::get<0>(p.param))) + "_" +
                                  std::string(path_name(std::get<1>(p.param)));
                         });

TEST_P(IdentityPocket, EveryWay) {
  const auto [type, path] = GetParam();
  if (const std::string lacks = cannot_run(path); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  ASSERT_EQ(std::count(runnable_paths().begin(), runnable_paths().end(), path), 1);
  const auto m = make_model(hf_weights(pocket_dir().string()), all(type));
  if (path != Path::ref) return full_matrix(*m, 35, {path});
  full_matrix(*m, 9, {path});  // slow: the longer chunks in a few ways only
  const std::vector<int32_t> ids = random_ids(*m, 35, 2);
  for (const KvType kv : kKvTypes) {
    const std::vector<float> want = reference(*m, kv, ids);
    for (const size_t chunk : {size_t{32}, SIZE_MAX}) {
      const Way way{path, 3, chunk, true};
      SCOPED_TRACE(testing::Message() << m->type_name << ", " << kv_name(kv) << " cache, " << way);
      ASSERT_NO_FATAL_FAILURE(expect_same(logits_of(*m, kv, way, ids, pool_of(3)), want, m->shape.vocab));
    }
  }
}

// ggml's types, whose columns come in blocks of 256: the whole matrix for each type and path.
const ModelShape kBlockShape{
    .layers = 1, .dim = 256, .heads = 2, .kv_heads = 1, .head_dim = 128, .ffn = 256, .vocab = 35, .ctx = 48};

class IdentityBlocks : public testing::TestWithParam<std::tuple<TType, Path>> {};
INSTANTIATE_TEST_SUITE_P(, IdentityBlocks,
                         testing::Combine(testing::Values(TType::q80, TType::q4k, TType::q6k), testing::ValuesIn(kAllPaths)),
                         [](const auto& p) {
                           return std::string(ttype_name(std::get<0>(p.param))) + "_" +
                                  std::string(path_name(std::get<1>(p.param)));
                         });

TEST_P(IdentityBlocks, EveryWay) {
  const auto [type, path] = GetParam();
  if (const std::string lacks = cannot_run(path); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  full_matrix(*make_model(random_weights(kBlockShape, true, 11), all(type)), path == Path::ref ? 4 : 35, {path});
}

TType mixed_blocks(const std::string& name) {
  const std::string part = name.substr(name.rfind('.') + 1);
  if (part == "q" || part == "up" || part == "embed") return TType::q4k;
  if (part == "k" || part == "down" || part == "head") return TType::q6k;
  if (part == "v") return TType::q4;
  if (part == "gate") return TType::f32;
  return TType::q80;
}

TEST(IdentityBlocksMixed, AFewWays) { pairwise_matrix(*make_model(random_weights(kBlockShape, false, 12), mixed_blocks), 40); }

TEST(IdentityLong, PocketAcrossSegments) {
  const auto m = make_model(hf_weights(pocket_dir().string()), all(TType::q8));
  const std::vector<int32_t> ids = random_ids(*m, 270, 3);
  for (const KvType kv : kKvTypes) {
    const std::vector<float> want = reference(*m, kv, ids);
    for (const Path path : runnable_paths()) {
      if (path == Path::ref) continue;  // it is the slow one, and stands above
      const Way way{path, 3, 32, path == Path::vnni8};
      SCOPED_TRACE(testing::Message() << way);
      ASSERT_NO_FATAL_FAILURE(expect_same(logits_of(*m, kv, way, ids, pool_of(3)), want, m->shape.vocab));
    }
  }
}

// Odd sizes everywhere, all types in one model, a head of its own, heads that turn only in part.
TEST(IdentityOdd, MixedTypesEveryWay) {
  const ModelShape s{.layers = 2,
                     .dim = 40,
                     .heads = 6,
                     .kv_heads = 2,
                     .head_dim = 10,
                     .ffn = 52,
                     .vocab = 83,
                     .ctx = 64,
                     .rope_factor = 1.25f,
                     .rope_freqs = {1, 0.1, 0.01}};
  const auto type = [](const std::string& name) {
    if (name == "layers.0.q" || name == "layers.1.v" || name == "layers.0.up" || name == "layers.1.o" || name == "layers.1.down")
      return TType::f32;
    if (name == "layers.0.k" || name == "layers.1.gate" || name == "head") return TType::q8;
    return TType::q4;
  };
  full_matrix(*make_model(random_weights(s, false, 3), type), 35, runnable_paths());
}

// The families, converted as users do.
class IdentityFamily : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, IdentityFamily, testing::ValuesIn(family_case_names()), [](const auto& p) { return p.param; });

TEST_P(IdentityFamily, EveryWay) {
  const std::filesystem::path folder = family_folder(family_case(GetParam()).config).write("identity-" + GetParam());
  for (const TType type : {TType::f32, TType::q8, TType::q4}) pairwise_matrix(*folder_model(folder, type), 35);
}

// The same with ggml's types in all of them, whose blocks ask for wider matrices; every path once, more positions than a window
// has.
TEST_P(IdentityFamily, InBlocks) {
  nlohmann::json config = family_case(GetParam()).config;
  config.update({{"hidden_size", 256}, {"intermediate_size", 256}, {"num_attention_heads", 4}, {"num_key_value_heads", 2}});
  if (config.contains("head_dim")) config["head_dim"] = 64;
  const auto m = retyped(*folder_model(family_folder(config).write("blocks-" + GetParam()), TType::f32), mixed_blocks);
  const std::vector<int32_t> ids = random_ids(*m, 27, 5);
  const std::vector<float> want = reference(*m, KvType::f32, ids);
  for (const Path path : runnable_paths()) {
    const Way way{path, 3, 7, true};
    if (path == Path::ref) continue;
    SCOPED_TRACE(testing::Message() << way);
    ASSERT_NO_FATAL_FAILURE(expect_same(logits_of(*m, KvType::f32, way, ids, pool_of(3)), want, m->shape.vocab));
  }
}

// Windows that begin in one segment of attention and end in the next.
TEST(IdentityWindows, AcrossSegments) {
  const std::filesystem::path folder = family_folder(family_case("mistral").config).write("identity-windows");
  pairwise_matrix(*folder_model(folder, TType::q8), 280);
}

// Five segments of attention, the last of them short.
TEST(IdentityOdd, ManySegments) {
  const ModelShape s{.layers = 1, .dim = 16, .heads = 2, .kv_heads = 1, .head_dim = 8, .ffn = 16, .vocab = 17, .ctx = 1100};
  const auto m = make_model(random_weights(s, true, 7), all(TType::f32));
  const std::vector<int32_t> ids = random_ids(*m, 1030, 8);
  const std::vector<float> want = reference(*m, KvType::f32, ids);
  for (const Path path : runnable_paths()) {
    const Way way{path, 3, 100, true};
    SCOPED_TRACE(testing::Message() << way);
    ASSERT_NO_FATAL_FAILURE(expect_same(logits_of(*m, KvType::f32, way, ids, pool_of(3)), want, s.vocab));
  }
}

// More heads to a KV head than the kernels take at once: its tiles are parts of them, and all look at the same keys; with a window
// not at the same segments.
TEST(IdentityOdd, ManyHeadsShareKeys) {
  for (const auto& [heads, window] : {std::pair<uint32_t, uint32_t>{9, 0}, {12, 0}, {17, 0}, {9, 100}}) {
    ModelShape s{.layers = 1, .dim = 24, .heads = 2 * heads, .kv_heads = 2, .head_dim = 8, .ffn = 16, .vocab = 17, .ctx = 400};
    if (window > 0) s.windows = {window};
    const auto m = make_model(random_weights(s, true, heads), all(TType::q8));
    const std::vector<int32_t> ids = random_ids(*m, window > 0 ? 380 : 280, 8);
    const std::vector<float> want = reference(*m, KvType::f32, ids);
    for (const Path path : runnable_paths())
      for (const auto& [threads, chunk] : {std::pair<unsigned, size_t>{1, SIZE_MAX}, {3, 70}, {20, 70}}) {
        const Way way{path, threads, chunk, false};
        SCOPED_TRACE(testing::Message() << heads << " heads, window " << window << ", " << way);
        ASSERT_NO_FATAL_FAILURE(expect_same(logits_of(*m, KvType::f32, way, ids, pool_of(threads)), want, s.vocab));
      }
  }
}

bool asked[4];  // keys and values of f32, of f16
template <auto Kernel, size_t kWhich, class... Args>
void noting(Args... args) {
  asked[kWhich] = true;
  (kern_table(Path::ref).*Kernel)(args...);
}
KernTable noting_table() {
  KernTable t = with_order(kern_table(Path::ref), Order::pages);
  t.attn_score_f32_pages = noting<&KernTable::attn_score_f32, 0>;
  t.attn_mix_f32_pages = noting<&KernTable::attn_mix_f32, 1>;
  t.attn_score_f16_pages = noting<&KernTable::attn_score_f16, 2>;
  t.attn_mix_f16_pages = noting<&KernTable::attn_mix_f16, 3>;
  return t;
}

// So many positions of a cache that attention asks for what follows, also in f16.
TEST(IdentityOdd, AttentionByPages) {
  constexpr size_t kTokens = 200;
  const ModelShape s{.layers = 1, .dim = 32, .heads = 2, .kv_heads = 1, .head_dim = 128, .ffn = 32, .vocab = 17, .ctx = 208};
  const auto m = make_model(random_weights(s, true, 14), all(TType::q8));
  std::fill(asked, asked + 4, false);
  for (const KvType kv : {KvType::f32, KvType::f16}) {
    EngOptions opt;
    opt.kv = kv;
    Engine e(*m, noting_table(), pool_of(1), opt);
    eng_step(e, random_ids(*m, kTokens, 1), 0, {});
  }
  EXPECT_TRUE(std::all_of(asked, asked + 4, [](bool was) { return was; })) << "the test shows nothing";
  std::vector<Path> quick = runnable_paths();
  std::erase(quick, Path::ref);
  full_matrix(*m, kTokens, quick, kFewThreads, kFewChunks);
  full_matrix(*m, kTokens, {Path::ref}, std::span(kFewThreads).last(1), std::span(kFewChunks).last(1));  // it is slow
}

// All threads awake at once, on however few CPUs.
TEST(IdentityOdd, ManyThreadsAwake) {
  const ModelShape s{.layers = 2, .dim = 64, .heads = 4, .kv_heads = 2, .head_dim = 16, .ffn = 96, .vocab = 100, .ctx = 64};
  const auto m = make_model(random_weights(s, true, 4), all(TType::q8));
  const std::vector<int32_t> ids = random_ids(*m, 33, 4);
  const std::vector<float> want = reference(*m, KvType::f32, ids);
  Pool pool(7, 7);
  for (const Path path : runnable_paths())
    for (const size_t chunk : {size_t{0}, size_t{7}}) {
      const Way way{path, 7, chunk, false};
      SCOPED_TRACE(testing::Message() << way);
      ASSERT_NO_FATAL_FAILURE(expect_same(logits_of(*m, KvType::f32, way, ids, pool), want, s.vocab));
    }
}

TEST(IdentityOdd, PromptLengths) {
  const ModelShape s{.layers = 1, .dim = 64, .heads = 2, .kv_heads = 1, .head_dim = 32, .ffn = 64, .vocab = 50, .ctx = 40};
  const auto m = make_model(random_weights(s, true, 5), all(TType::q4));
  const std::vector<int32_t> ids = random_ids(*m, 33, 6);
  const std::vector<float> want = reference(*m, KvType::f32, ids);
  std::vector<size_t> lengths(17);
  std::iota(lengths.begin(), lengths.end(), size_t{1});
  for (const size_t n : {31u, 32u, 33u}) lengths.push_back(n);
  for (const size_t n : lengths)
    for (const Path path : runnable_paths())
      for (const size_t chunk : {size_t{7}, size_t{32}, SIZE_MAX}) {
        const Way way{path, 2, chunk, false};
        SCOPED_TRACE(testing::Message() << n << " tokens, " << way);
        EngOptions opt;
        opt.chunk = static_cast<uint32_t>(std::min<size_t>(chunk, s.ctx));
        Engine e(*m, kern_table(path), pool_of(2), opt);
        const EmulationWatch watch(e);
        std::vector<float> last(s.vocab);  // only the last position's
        eng_step(e, std::span(ids).first(n), 0, last);
        ASSERT_EQ(std::memcmp(static_cast<const void*>(last.data()), want.data() + (n - 1) * s.vocab, s.vocab * sizeof(float)), 0);
      }
}

}  // namespace
}  // namespace nyb::test
