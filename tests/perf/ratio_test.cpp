// ratio_test.cpp - products beside reading: what is refused, and what is told. The figures are no matter for a test.
#include "ratio.h"
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <cstring>
#include <nlohmann/json.hpp>
#include "huge.h"
#include "refused.h"

namespace nyb::test {
namespace {

using nlohmann::json;

RatioOptions small() {
  RatioOptions o;
  o.mib = 64;
  o.rounds = 2;
  o.path = Path::avx2;
  return o;
}

// One bit of one row.
TEST(Ratio, RefusesAPathThatIsWrong) {
  if (const std::string lacks = cpu_missing(cpu_here(), Path::avx2); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  KernTable wrong = kern_table(Path::avx2);
  wrong.gemv_q4 = [](const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) {
    kern_table(Path::avx2).gemv_q4(w, x, y, groups, panels);
    y[3] += 1;
  };
  std::vector<std::string> notes;
  std::vector<TType> told;
  expect_refused(
      [&] {
        run_ratio(
            cpu_here(), small(), notes, [&](const RatioRow& r) { told.push_back(r.type); },
            [&](Path) -> const KernTable& { return wrong; });
      },
      "avx2", "gemv_q4");
  EXPECT_EQ(told, (std::vector<TType>{TType::f32, TType::q8, TType::q8, TType::q8})) << "those before it, q8 in all orders";
}

// What is called huge pages is in huge pages.
TEST(Ratio, HugePagesAreHad) {
  if (const std::string lacks = cpu_missing(cpu_here(), Path::avx2); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  RatioOptions o = small();
  o.pages = Memory::Pages::huge;
  std::vector<std::string> notes;
  ASSERT_EQ(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
  expect_refused([&] { run_ratio(cpu_here(), o, notes); }, "--huge is not to be had here", "transparent huge pages");
  ASSERT_EQ(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0);
  EXPECT_EQ(notes, std::vector<std::string>()) << "nothing was said to be huge";
}

TEST(Ratio, SmallPagesAreNotCalledHuge) {
  const auto said = [](Memory::Pages pages) {
    const Memory m(size_t{16} << 20, pages);
    std::memset(m.data(), 1, m.size());
    std::vector<std::string> notes;
    note_huge("all\nof it", {m.data(), m.size()}, notes);
    return notes;
  };
  EXPECT_EQ(said(Memory::Pages::small), std::vector<std::string>{"all\\nof it: only 0 % of it is in 2 MiB pages"});
  for (const std::string& note : said(Memory::Pages::huge)) EXPECT_EQ(note.find("of it: only 100"), std::string::npos) << note;
}

TEST(Ratio, WordsAndJson) {
  const RatioRow steady{Path::avx2, Order::in_order, TType::q80, "ymm x8", {10, 10, 11}, {9, 9, 9}, {0.9, 0.9, 0.82}};
  const RatioRow noisy_one{Path::avx512, Order::pages, TType::q4, "zmm x1", {10, 10}, {5, 9}, {0.5, 0.9}};
  EXPECT_EQ(ratio_line(steady), "avx2    in order    q8_0      10.00  ymm x8                9.00  0.900     9 %\n");
  const Machine m{"a CPU", "2026-01-01T00:00:00Z", "0", "perf --ratio", 4, 32 << 20, "abc123"};
  EXPECT_NE(ratio_head(m, {"a note"})
                .find("32 MiB; nybble 0 at abc123, 2026-01-01T00:00:00Z\na note\npath    order       type  read GB/s"),
            std::string::npos);
  const json j = json::parse(ratio_json({steady, noisy_one}, small(), {"a note"}, m));
  EXPECT_EQ(j["machine"]["cpu"], "a CPU");
  EXPECT_EQ(j["rows"][0]["ratio"], 0.9);
  EXPECT_EQ(j["rows"][0]["noisy"], false);
  EXPECT_EQ(j["rows"][1]["noisy"], true);
  EXPECT_EQ(j["rows"][0]["order"], "in order");
  EXPECT_EQ(j["rows"][1]["order"], "by pages");
  EXPECT_EQ(j["rows"][1]["samples"], json({0.5, 0.9}));
  EXPECT_EQ(j["noisy_above"], 0.1);
}

}  // namespace
}  // namespace nyb::test
