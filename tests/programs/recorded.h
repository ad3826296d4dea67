// recorded.h - conversations of the built programs in files, for the tests of records.
#pragma once
#include <gtest/gtest.h>
#include <string>
#include "chat/record.h"
#include "programs.h"
#include "support/data.h"

namespace nyb::test {

inline std::string file(const std::string& name) { return (tmp_dir() / name).string(); }

inline Ran ok(const Args& args, const RunOptions& o = {}) {
  Ran r = chat(args, o);
  EXPECT_EQ(r.code, 0) << r.err;
  return r;
}

// A conversation with all that happens in one: settings changed, turns taken back and asked again, the system message.
inline std::string recorded(const std::string& name, const Args& more = {}) {
  Args args = {"--record", file(name), "--seed", "11", "--quiet"};
  args.insert(args.end(), more.begin(), more.end());
  ok(args,
     {.in = "hello\n/set temp 1.2\nTell me a story\n/regen\n/system Be brief.\nWhat is int4?\n/undo\n/set repeat-penalty 1.3\n"
            "/set stop it\nWhat is int4?\n"});
  return file(name);
}

inline Ran replay(const std::string& path, const Args& more = {}) {
  Args args = {"--replay", path, "--quiet"};
  args.insert(args.end(), more.begin(), more.end());
  return chat(args);
}

}  // namespace nyb::test
