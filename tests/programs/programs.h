// programs.h - the built programs, and model files made for their tests.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>
#include "model/meta.h"
#include "process.h"

namespace nyb::test {

std::string program(const std::string& name);  // of this build
std::string pocket_model();                    // the built-in model

// chat with these arguments; stdin is empty unless o says otherwise.
Ran chat(const Args& args, const RunOptions& o = {});

// What a conversation with these lines piped in gives: the JSON of each reply, and stderr.
struct Spoken {
  std::vector<nlohmann::json> replies;
  std::string err;
};
Spoken talk(const std::string& in, Args args = {"--temp", "0"});

// Pocket's weights under changed metadata: `edit` may change a value, and says whether the key stays. Returns the path of a
// file of this test process.
std::string pocket_with(const std::string& name, const std::function<bool(std::string_view key, MetaValue& value)>& edit);

std::string fingerprint_of(const std::string& err);  // of the line that --fingerprint prints

}  // namespace nyb::test
