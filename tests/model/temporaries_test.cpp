// The names that a handler removes when it ends the process: kept until forgotten, sixteen at once, any thread.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "hf_folder.h"
#include "model/out_file.h"
#include "model/temporaries.h"
#include "support/build.h"
#include "support/data.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

constexpr int kRoom = 16;

std::vector<fs::path> some_files(int n) {
  std::vector<fs::path> all;
  for (int i = 0; i < n; i++) all.push_back(test::write_file(test::tmp_dir() / ("temporary-" + std::to_string(i)), "x"));
  return all;
}

// Empties the table behind a test, whatever came of it.
class Temporaries : public ::testing::Test {
 protected:
  void TearDown() override { temporaries_unlink(); }
};

TEST_F(Temporaries, WhatIsRememberedIsRemovedAndNothingElse) {
  const auto f = some_files(3);
  void* const first = temporary_remember(f[0].string());
  void* const second = temporary_remember(f[1].string());
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  temporary_forget(first);
  temporaries_unlink();
  EXPECT_TRUE(fs::exists(f[0])) << "it was forgotten";
  EXPECT_FALSE(fs::exists(f[1]));
  EXPECT_TRUE(fs::exists(f[2])) << "nobody named it";
  temporary_forget(second);   // its owner comes late: nothing is left to free
  temporary_forget(nullptr);  // what there was no room for
  test::write_file(f[1], "again");
  temporaries_unlink();
  EXPECT_TRUE(fs::exists(f[1])) << "removed a second time";
}

TEST_F(Temporaries, AFileThatIsGoneIsNoTrouble) {
  const auto f = some_files(2);
  ASSERT_TRUE(temporary_remember(f[0].string()));
  ASSERT_TRUE(temporary_remember(f[1].string()));
  fs::remove(f[0]);
  temporaries_unlink();
  EXPECT_FALSE(fs::exists(f[1])) << "the one after it stayed";
}

TEST_F(Temporaries, WithoutRoomTheOwnerAloneRemoves) {
  const auto f = some_files(kRoom + 1);
  std::vector<void*> slots;
  for (int i = 0; i < kRoom; i++) {
    slots.push_back(temporary_remember(f[i].string()));
    ASSERT_TRUE(slots.back()) << i;
  }
  EXPECT_EQ(temporary_remember(f[kRoom].string()), nullptr);
  temporary_forget(slots[5]);
  EXPECT_TRUE(temporary_remember(f[kRoom].string())) << "a slot that is free again";
  temporaries_unlink();
  for (int i = 0; i <= kRoom; i++) EXPECT_EQ(fs::exists(f[i]), i == 5) << i;
}

TEST_F(Temporaries, FromManyThreadsEachHasASlotOfItsOwn) {
  const auto f = some_files(kRoom);
  std::map<void*, std::atomic<bool>> taken;  // which slots there are, and whether a thread has them
  for (const fs::path& p : f) taken[temporary_remember(p.string())] = false;
  ASSERT_EQ(taken.size(), static_cast<size_t>(kRoom));
  for (const auto& [slot, is] : taken) temporary_forget(slot);

  constexpr int turns = test::kSanitized ? 20000 : 200000;  // enough for two of them to meet, also where they seldom run at once
  std::atomic<bool> begin{false};
  std::vector<std::thread> threads;
  threads.reserve(kRoom);
  for (int i = 0; i < kRoom; i++)
    threads.emplace_back([&, i] {
      while (!begin) std::this_thread::yield();
      for (int turn = 0; turn < turns; turn++) {
        void* const slot = temporary_remember(f[i].string());
        if (!taken.contains(slot) || taken[slot].exchange(true)) {
          ADD_FAILURE() << "no slot for " << i << ", or another's";
          return;
        }
        taken[slot] = false;
        temporary_forget(slot);
      }
      if (i % 2 == 0) temporary_remember(f[i].string());
    });
  begin = true;
  for (std::thread& t : threads) t.join();
  temporaries_unlink();
  for (int i = 0; i < kRoom; i++) EXPECT_EQ(fs::exists(f[i]), i % 2 == 1) << i;
}

// An unfinished output is one of them, a finished one is not.
TEST_F(Temporaries, HoldWhatAnOutputFileHasNotFinished) {
  const fs::path done = test::tmp_dir() / "done", open = test::tmp_dir() / "open";
  OutFile unfinished(open.string());
  unfinished.write(0, "x", 1);
  const fs::path temporary = unfinished.temporary();
  {
    OutFile f(done.string());
    f.write(0, "x", 1);
    f.commit();
  }
  ASSERT_TRUE(fs::exists(temporary));
  temporaries_unlink();
  EXPECT_FALSE(fs::exists(temporary));
  EXPECT_EQ(test::read_file(done), "x");
}

}  // namespace
}  // namespace nyb
