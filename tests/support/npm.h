// npm.h - where scripts/npm.sh put what the tests compare with.
#pragma once
#include <filesystem>
#include <string>

namespace nyb::test {

std::filesystem::path npm_dir();  // NYBBLE_NPM, else npm in this build
// A file of a package there ("@huggingface/tokenizers/package.json"); fails the test, saying what to run, where it is not.
std::filesystem::path npm_file(const std::string& name);
std::string npm_remedy();

}  // namespace nyb::test
