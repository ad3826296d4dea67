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

const fs::path root = source_dir();

std::vector<fs::path> documents() {
  std::vector<fs::path> all{root / "README.md", root / "CONTRIBUTING.md"};
  for (const auto& e : fs::directory_iterator(root / "docs"))
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

// Paths in backticks: those of a table of the README, and any that begins with a folder of the project.
TEST(Links, FilesNamedInTheReadmeAreThere) {
  static const std::regex name(R"(`((?:asm|macros|harness|chat|perf|tests|docs|models|scripts|cmake|check)/[A-Za-z0-9_./-]*)`)");
  const std::string text = read_file(root / "README.md");
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it)
    EXPECT_TRUE(fs::exists(root / (*it)[1].str())) << (*it)[1].str();
  // each folder of the table
  static const std::regex row(R"(\n\| (\[[^|]*) \|)");
  size_t rows = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it, ++rows)
    EXPECT_FALSE(links((*it)[1].str()).empty()) << (*it)[1].str();
  EXPECT_GE(rows, 10u);
}

TEST(Links, AreFoundAsTheyAreWritten) {
  const std::vector<std::string> wanted{"a.md", "b/", "c.md"};
  EXPECT_EQ(links("[x](a.md#part), [y](b/) [z](https://a.b/c) [s](#here)\n[r]: c.md\n"), wanted);
}

}  // namespace
}  // namespace nyb::test
