// links_test.cpp - that the documents name files that are there.
#include <gtest/gtest.h>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>
#include "support/data.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = source_dir();

std::vector<fs::path> documents() {
  std::vector<fs::path> all{kRoot / "README.md", kRoot / "CONTRIBUTING.md"};
  for (const auto& e : fs::directory_iterator(kRoot / "docs"))
    if (e.path().extension() == ".md") all.push_back(e.path());
  return all;
}

// What [words](target) and [words]: target lead to, without the part after '#'; addresses of the web and places of the same page
// are left out.
std::vector<std::string> links(const std::string& text) {
  static const std::regex link(R"(\]\(<?([^)>\s#]+)|^\[[^\]]+\]:\s*<?([^>\s#]+))", std::regex::ECMAScript | std::regex::multiline);
  static const std::regex web(R"([a-z]+:.*)");
  std::vector<std::string> all;
  for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
    std::string target = (*it)[1].matched ? (*it)[1].str() : (*it)[2].str();
    if (!std::regex_match(target, web)) all.push_back(std::move(target));
  }
  return all;
}

TEST(Links, OfTheDocumentsLeadToFiles) {
  size_t seen = 0;
  for (const fs::path& doc : documents())
    for (const std::string& target : links(read_file(doc))) {
      EXPECT_TRUE(fs::exists(doc.parent_path() / target)) << doc << " leads to " << target;
      ++seen;
    }
  EXPECT_GT(seen, 20u) << "the documents' links were not found";
}

// Paths in backticks that begin with a folder of the project; stars and NAMES stand for many.
TEST(Links, FilesNamedInTheDocumentsAreThere) {
  static const std::regex name(R"(`((?:asm|macros|harness|chat|perf|tests|docs|models|scripts|cmake)/[a-z0-9_./-]*)`)");
  size_t seen = 0;
  for (const fs::path& doc : documents()) {
    const std::string text = read_file(doc);
    for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it, ++seen)
      EXPECT_TRUE(fs::exists(kRoot / (*it)[1].str())) << doc << " names " << (*it)[1].str();
  }
  EXPECT_GT(seen, 10u) << "the documents' paths were not found";
}

// The first cell of each row is links to folders, each named as it is.
TEST(Links, RowsOfTheReadmesTableAreFolders) {
  const std::string text = read_file(kRoot / "README.md");
  static const std::regex row(R"(\n\| ([^|]*) \|)"), folder(R"(\[([^\]]+)\]\(([^)]+)\))"), cell(R"((\[[^\]]+\]\([^)]+\)(, )?)+)");
  const size_t table = text.find("| folder |"), rule = text.find("|---|", table);
  ASSERT_NE(rule, std::string::npos);
  const std::string rows = text.substr(rule, text.find("\n\n", rule) - rule);
  size_t seen = 0;
  for (std::sregex_iterator it(rows.begin(), rows.end(), row), end; it != end; ++it) {
    const std::string first = (*it)[1].str();
    EXPECT_TRUE(std::regex_match(first, cell)) << first;
    for (std::sregex_iterator in(first.begin(), first.end(), folder); in != end; ++in, ++seen) {
      EXPECT_EQ((*in)[1].str(), (*in)[2].str());
      EXPECT_TRUE(fs::is_directory(kRoot / (*in)[2].str())) << first;
    }
  }
  EXPECT_GT(seen, 10u);
}

TEST(Links, AreFoundAsTheyAreWritten) {
  const std::vector<std::string> wanted{"a.md", "b/", "c.md"};
  EXPECT_EQ(links("[x](a.md#part), [y](b/) [z](https://a.b/c) [s](#here)\n[r]: c.md\n"), wanted);
}

}  // namespace
}  // namespace nyb::test
