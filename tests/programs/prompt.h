// prompt.h - chat at a terminal of its own, for the tests of its prompt.
#pragma once
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>
#include "programs.h"
#include "support/data.h"

namespace nyb::test {

namespace fs = std::filesystem;
using Env = std::vector<std::string>;

constexpr const char* kUp = "\x1b[A";
constexpr const char* kDown = "\x1b[B";
constexpr const char* kLeft = "\x1b[D";
constexpr const char* kCtrlC = "\x03";
constexpr const char* kCtrlD = "\x04";
constexpr const char* kMarksOn = "\x1b[?2004h";
constexpr const char* kMarksOff = "\x1b[?2004l";

// chat at a terminal, whose replies are JSON on a pipe: their fingerprints tell what it understood.
class Prompt {
 public:
  explicit Prompt(const Env& env = {}, const Args& more = {}) : t_(args(more), with_term(env), true) {
    EXPECT_TRUE(t_.wait("> ")) << t_.seen;
  }
  void type(const std::string& keys) { t_.type(keys); }
  // Types it and waits for the next prompt, after the reply to it if there is one.
  void say(const std::string& keys) {
    t_.type(keys);
    EXPECT_TRUE(t_.wait("> ")) << t_.seen;
  }
  // Types it and Enter, and compares what was understood with `text`; the conversation is forgotten after it.
  void understands(const std::string& keys, const std::string& text) {
    const size_t before = replies().size();
    t_.type(keys + "\r");
    ASSERT_TRUE(t_.wait("fingerprint ")) << keys << ": " << t_.seen;
    ASSERT_TRUE(t_.wait("> ")) << t_.seen;
    t_.type("/reset\r");
    ASSERT_TRUE(t_.wait("begins anew")) << t_.seen;
    ASSERT_TRUE(t_.wait("> ")) << t_.seen;
    for (int i = 0; i < 200 && replies().size() == before; ++i) t_.look();
    ASSERT_EQ(replies().size(), before + 1) << t_.out;
    EXPECT_EQ(replies().back(), print_of(text))
        << nlohmann::json(keys).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }
  // Leaves with these keys; the terminal is as it was.
  int leave(const std::string& keys) {
    t_.type(keys);
    return gone();
  }
  int gone() {
    const int code = t_.finish();
    EXPECT_NE(code, -2) << t_.seen;
    EXPECT_EQ(t_.modes(), t_.began) << "the terminal is not as it was";
    EXPECT_GE(t_.seen.rfind(kMarksOff) + 1, t_.seen.rfind(kMarksOn) + 1) << "pastes are still marked";
    return code;
  }
  Pty& pty() { return t_; }
  const std::string& seen() const { return t_.seen; }

 private:
  static Args args(const Args& more) {
    Args a{program("chat"), "--temp", "0", "--max", "2", "--json", "--quiet", "--fingerprint"};
    a.insert(a.end(), more.begin(), more.end());
    return a;
  }
  static Env with_term(const Env& env) {
    Env all{"TERM=xterm"};
    all.insert(all.end(), env.begin(), env.end());
    return all;
  }
  static std::string print_of(const std::string& text) {
    const std::string path = (tmp_dir() / "said.txt").string();
    std::ofstream(path, std::ios::binary) << text << '\n';
    const Ran r = chat({"-f", path, "--temp", "0", "--max", "2", "--json", "--quiet"});
    EXPECT_EQ(r.code, 0) << r.err;
    return nlohmann::json::parse(r.out)["fingerprint"];
  }
  std::vector<std::string> replies() const {
    std::vector<std::string> all;
    std::istringstream in(t_.out);
    for (std::string line; std::getline(in, line);)
      if (nlohmann::json::accept(line)) all.push_back(nlohmann::json::parse(line)["fingerprint"]);
    return all;
  }
  Pty t_;
};

// A state folder of its own.
inline Env state(const std::string& name) { return {"XDG_STATE_HOME=" + (tmp_dir() / name).string()}; }
inline fs::path history_in(const std::string& name) { return tmp_dir() / name / "nybble" / "history"; }

}  // namespace nyb::test
