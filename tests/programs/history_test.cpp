// history_test.cpp - the file of the messages typed before.
#include "chat/history.h"
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <set>
#include "kern/error.h"
#include "support/data.h"
#include "support/started.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;
using All = std::vector<std::string>;

int mode_of(const fs::path& p) {
  struct stat st {};
  return stat(p.c_str(), &st) == 0 ? static_cast<int>(st.st_mode & 0777) : -1;
}

TEST(History, EntriesComeBackAsTheyWere) {
  const fs::path path = tmp_dir() / "h1" / "deep" / "history";
  const History h(path.string());
  EXPECT_EQ(h.read(), All{});
  const All entries{"hello", "a\nb\n\nc", "back\\slash \\n", std::string("nul\0cr\r", 7), "\xff half \xc3", "h\xc3\xa9"};
  for (const std::string& e : entries) h.add(e);
  h.add(entries.back());
  EXPECT_EQ(h.read(), entries) << "twice the same in a row is once";
  EXPECT_EQ(mode_of(path), 0600);
  EXPECT_EQ(mode_of(path.parent_path()), 0700);
}

TEST(History, IsTheUsersAlone) {
  const fs::path path = tmp_dir() / "open-history";
  std::ofstream(path) << "old\n";
  chmod(path.c_str(), 0644);
  History(path.string()).add("new");
  EXPECT_EQ(mode_of(path), 0600);
  EXPECT_EQ(read_file(path), "old\nnew\n");
}

TEST(History, TheOldestGo) {
  const fs::path path = tmp_dir() / "full-history", link = tmp_dir() / "link-history";
  {
    std::ofstream out(path);
    for (int i = 0; i < 1500; ++i) out << i << '\n';
  }
  fs::create_symlink(path, link);
  const History h(link.string());
  EXPECT_EQ(h.read().size(), 1000u);
  EXPECT_EQ(h.read().front(), "500");
  h.add("new");
  EXPECT_EQ(h.read().size(), 1000u);
  EXPECT_EQ(h.read().front(), "501");
  EXPECT_EQ(h.read().back(), "new");
  EXPECT_EQ(mode_of(path), 0600);
  EXPECT_TRUE(fs::is_symlink(link));
  const std::string all = read_file(path);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1000);
}

TEST(History, ALineCutShortHarmsNoOther) {
  const fs::path path = tmp_dir() / "cut-history";
  std::ofstream(path) << "one\ntw";
  const History h(path.string());
  EXPECT_EQ(h.read(), (All{"one", "tw"}));
  h.add("three");
  EXPECT_EQ(h.read(), (All{"one", "tw", "three"}));
}

// Some of them replace the file while the others wait to append.
TEST(History, SeveralProgramsAtOnce) {
  for (const int before : {0, 900}) {
    const fs::path path = tmp_dir() / ("shared-history" + std::to_string(before));
    {
      std::ofstream out(path);
      for (int i = 0; i < before; ++i) out << "old " << i << '\n';
    }
    constexpr int kPrograms = 4, kEach = 50;
    pid_t pids[kPrograms];
    for (int p = 0; p < kPrograms; ++p) {
      pids[p] = started(fork(), "fork");
      if (pids[p] == 0) {
        for (int i = 0; i < kEach; ++i) History(path.string()).add(std::to_string(p) + " says\n" + std::to_string(i));
        _exit(0);
      }
    }
    for (const pid_t p : pids) {
      int status = 0;
      waitpid(p, &status, 0);
      EXPECT_EQ(status, 0);
    }
    const All all = History(path.string()).read();
    std::set<std::string> there(all.begin(), all.end());
    for (int p = 0; p < kPrograms; ++p)
      for (int i = 0; i < kEach; ++i)
        EXPECT_TRUE(there.contains(std::to_string(p) + " says\n" + std::to_string(i))) << p << ' ' << i;
    EXPECT_EQ(all.size(), std::min<size_t>(1000, static_cast<size_t>(before) + size_t{kPrograms} * kEach));
  }
}

TEST(History, WhereItCannotBeIsSaid) {
  const fs::path file = tmp_dir() / "no-folder", fifo = tmp_dir() / "fifo-history", null = tmp_dir() / "null-history";
  std::ofstream(file) << "x";
  mkfifo(fifo.c_str(), 0600);
  fs::create_symlink("/dev/null", null);
  const History in_a_file((file / "nybble" / "history").string()), folder(tmp_dir().string()), pipe(fifo.string());
  EXPECT_EQ(in_a_file.read(), All{});
  EXPECT_THROW(in_a_file.add("x"), Error);
  EXPECT_THROW((void)folder.read(), Error);
  EXPECT_THROW(folder.add("x"), Error);
  EXPECT_THROW((void)pipe.read(), Error);
  EXPECT_THROW(pipe.add("x"), Error);
  const History none(null.string());
  none.add("x");
  EXPECT_EQ(none.read(), All{}) << "a link to /dev/null is a wish for no history";
  try {
    folder.add("x");
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "the history is not kept: '" + tmp_dir().string() + "': Is a directory");
  }
}

TEST(History, WhatIsTakenAndWhere) {
  EXPECT_TRUE(history_takes("hello"));
  EXPECT_TRUE(history_takes("/read x"));
  for (const std::string& s : {std::string(), std::string(" secret"), std::string("/quit"), std::string(65537, 'x')})
    EXPECT_FALSE(history_takes(s)) << s.substr(0, 20);
  setenv("HOME", "/home/me", 1);
  unsetenv("XDG_STATE_HOME");
  EXPECT_EQ(history_place(), "/home/me/.local/state/nybble/history");
  setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(history_place(), "/state/nybble/history");
  setenv("XDG_STATE_HOME", "relative", 1);
  EXPECT_EQ(history_place(), "/home/me/.local/state/nybble/history") << "the standard: a relative one is none";
  setenv("HOME", "", 1);
  EXPECT_EQ(history_place(), std::nullopt);
  unsetenv("HOME");
  EXPECT_EQ(history_place(), std::nullopt);
}

}  // namespace
}  // namespace nyb::test
