#include "node.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "support/data.h"
#include "support/npm.h"

namespace nyb::test {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string quoted(const fs::path& p) {
  std::string out = "'";
  for (const char c : p.string()) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::vector<json> node_answers(const std::string& package, const std::string& script, const std::vector<fs::path>& arguments,
                               const std::vector<std::string>& lines) {
  if (!fs::exists(npm_file(package + "/package.json"))) return {};
  const fs::path in = tmp_dir() / "node.in", out = tmp_dir() / "node.out";
  {
    std::ofstream file(in, std::ios::binary);
    for (const std::string& line : lines) file << line << '\n';
  }
  std::string command = "node " + quoted(source_dir() / "tests/text" / script) + " " + quoted(npm_dir());
  for (const fs::path& a : arguments) command += " " + quoted(a);
  command += " <" + quoted(in) + " >" + quoted(out);
  if (std::system(command.c_str()) != 0) {  // NOLINT(bugprone-command-processor)
    ADD_FAILURE() << "node did not run: " << npm_remedy();
    return {};
  }
  std::vector<json> answers;
  std::ifstream file(out);
  for (std::string line; std::getline(file, line);) answers.push_back(json::parse(line));
  EXPECT_EQ(answers.size(), lines.size()) << "node did not answer every line";
  if (answers.size() != lines.size()) answers.clear();
  return answers;
}

}  // namespace nyb::test
