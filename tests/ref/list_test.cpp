// list_test.cpp - the list of kernels, the tables made from it, and docs/kernels.md say the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "kern/cpu.h"
#include "kern/ref.h"
#include "ref/cpus.h"
#include "support/data.h"

namespace nyb::test {
namespace {

using Row = std::vector<std::string>;

std::string trimmed(const std::string& s) {
  const size_t from = s.find_first_not_of(' ');
  if (from == std::string::npos) return "";
  return s.substr(from, s.find_last_not_of(' ') - from + 1);
}

// The rows of the first table after a heading, the line of dashes left out.
std::vector<Row> table_after(const std::string& heading) {
  std::istringstream in(read_file(source_dir() / "docs" / "kernels.md"));
  std::vector<Row> rows;
  bool found = false;
  for (std::string line; std::getline(in, line);) {
    if (line == heading) found = true;
    if (!found || line.empty() || line[0] != '|') {
      if (!rows.empty()) break;
      continue;
    }
    if (line.compare(0, 4, "|---") == 0) continue;
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trimmed(cell));
    rows.push_back(row);
  }
  return rows;
}

TEST(KernList, IsTheSupportTableOfTheDocs) {
  const std::vector<Row> rows = table_after("## Support");
  ASSERT_FALSE(rows.empty()) << "no table under \"## Support\"";
  Row head = {"family", "kernel"};
  for (const Path p : kAllPaths)
    if (p != Path::ref) head.emplace_back(path_name(p));
  EXPECT_EQ(rows[0], head);
  std::vector<Row> want = {head};
  for (const KernInfo& k : kern_list()) {
    Row row = {std::string(k.family), std::string(k.name)};
    for (const Path p : kAllPaths)
      if (p != Path::ref) row.emplace_back(path_name(k.body[static_cast<size_t>(p)]));
    want.push_back(row);
  }
  ASSERT_EQ(rows.size(), want.size()) << "rows in the docs, kernels in the list";
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], want[i]);
}

// The table of bits names what cpu_missing names, for the same paths.
TEST(KernList, BitsOfTheDocsAreThoseOfTheDetection) {
  const std::vector<Row> rows = table_after("## What a path needs");
  ASSERT_GT(rows.size(), 1u);
  std::set<std::string> named;
  for (size_t r = 1; r < rows.size(); ++r) {
    ASSERT_EQ(rows[r].size(), rows[0].size());
    named.insert(rows[r][0]);
  }
  for (size_t column = 2; column < rows[0].size(); ++column) {
    std::string want;
    for (size_t r = 1; r < rows.size(); ++r)
      if (rows[r][column] == "x") want += (want.empty() ? "" : ", ") + rows[r][0];
    for (const Path p : kAllPaths) {
      if (path_name(p) == rows[0][column]) { EXPECT_EQ(cpu_missing(CpuFeatures{}, p), want) << path_name(p); }
    }
  }
  for (const Need& need : needs()) EXPECT_EQ(named.count(std::string(need.name)), 1u) << need.name;
}

TEST(KernList, NamesAreUnique) {
  std::set<std::string_view> seen;
  for (const KernInfo& k : kern_list()) EXPECT_TRUE(seen.insert(k.name).second) << k.name;
  EXPECT_GE(seen.size(), 17u);
}

// A body belongs to a path whose bits are among those of the path that runs it.
TEST(KernList, BodiesNeedNoMoreThanThePath) {
  for (const KernInfo& k : kern_list()) {
    for (const Path p : kAllPaths) {
      const Path body = k.body[static_cast<size_t>(p)];
      EXPECT_EQ(body == Path::ref, p == Path::ref) << k.name;
      EXPECT_EQ(k.body[static_cast<size_t>(body)], body) << k.name << ": inherited from a path that inherits itself";
      for (const Need& need : needs()) {
        const auto needs_it = [&need](Path q) { return std::find(need.paths.begin(), need.paths.end(), q) != need.paths.end(); };
        if (needs_it(body)) { EXPECT_TRUE(needs_it(p)) << k.name << " on " << path_name(p) << " needs " << need.name; }
      }
    }
  }
}

// Every table is complete, and an entry is the very function of the body that the list names.
TEST(KernList, TablesRunTheBodiesOfTheList) {
  std::map<std::string_view, const KernInfo*> infos;
  for (const KernInfo& k : kern_list()) infos[k.name] = &k;
  for (const Path p : kAllPaths) {
    const KernTable& t = kern_table(p);
    EXPECT_EQ(t.path, p);
#define KERNEL(family, name, result, params, args, ...)                                   \
  {                                                                                       \
    const Path body = infos[#name]->body[static_cast<size_t>(p)];                         \
    EXPECT_NE(t.name, nullptr) << #name;                                                  \
    EXPECT_EQ(t.name, kern_table(body).name) << #name << " on " << path_name(p);          \
    for (const Path other : kAllPaths) {                                                  \
      if (infos[#name]->body[static_cast<size_t>(other)] != body) {                       \
        EXPECT_NE(t.name, kern_table(other).name) << #name << " on " << path_name(other); \
      }                                                                                   \
    }                                                                                     \
  }
#include "kern/kernels.def"
#undef KERNEL
  }
  EXPECT_EQ(kern_table(Path::ref).qx_vec, &ref::qx_vec);
}

TEST(KernList, PathNames) {
  std::set<std::string_view> seen;
  for (const Path p : kAllPaths) EXPECT_TRUE(seen.insert(path_name(p)).second);
  EXPECT_EQ(path_name(Path::ref), "ref");
}

}  // namespace
}  // namespace nyb::test
