// node.h - independent references from npm, asked line by line.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nyb::test {

// What the script of this folder answers to each line, with `package` of npm. Fails the test with what to run, and returns nothing,
// where it cannot. The script is told where npm installs, then `arguments`.
std::vector<nlohmann::json> node_answers(const std::string& package, const std::string& script,
                                         const std::vector<std::filesystem::path>& arguments,
                                         const std::vector<std::string>& lines);

}  // namespace nyb::test
