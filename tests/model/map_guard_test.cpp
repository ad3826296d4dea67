// A file that shrinks while it is mapped: one sentence and exit code 1, not a bare SIGBUS.
#include "model/map_guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "hf_folder.h"
#include "model/mapped_file.h"
#include "model/model.h"
#include "support/data.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

constexpr size_t kBytes = size_t{3} * 4096;

int touch_all(const uint8_t* p, uint64_t n) {
  const volatile uint8_t* v = p;
  int sum = 0;
  for (uint64_t i = 0; i < n; i += 512) sum += v[i];
  return sum;
}

fs::path file_of(const std::string& name, size_t bytes) {
  return test::write_file(test::tmp_dir() / name, std::string(bytes, 'x'));
}

TEST(MapGuard, AModelThatShrinks) {
  const fs::path p = test::tiny_mnm("shrinks", "f32");
  EXPECT_EXIT(
      {
        const auto m = eng_load(p.string());
        if (truncate(p.c_str(), 4096) != 0) _exit(8);
        model_verify(*m);
        _exit(9);
      },
      ::testing::ExitedWithCode(1), "shrinks.mnm: the file became shorter while it was in use");
}

TEST(MapGuard, EveryMappingIsKnown) {
  std::vector<MappedFile> files;
  files.reserve(20);
  for (int i = 0; i < 20; i++) files.emplace_back(file_of("many-" + std::to_string(i), kBytes).string());
  for (const int i : {0, 7, 19}) {
    EXPECT_EXIT(
        {
          if (truncate(files[static_cast<size_t>(i)].path().c_str(), 4096) != 0) _exit(8);
          _exit(touch_all(files[static_cast<size_t>(i)].data(), kBytes) == 0 ? 9 : 10);
        },
        ::testing::ExitedWithCode(1), "many-" + std::to_string(i) + ": the file became shorter");
    file_of("many-" + std::to_string(i), kBytes);
  }
}

// A limit on addresses is met as one: 47 bits of them hold no twenty files of 8 TiB.
TEST(MapGuard, NoAddressesLeft) {
  const fs::path p = file_of("long", 1);
  std::error_code ec;
  fs::resize_file(p, uint64_t{8} << 40, ec);
  if (ec) GTEST_SKIP() << "this machine has no file system for a file of 8 TiB: " << ec.message();
  std::vector<MappedFile> files;
  files.reserve(20);
  const std::string said = test::message_of([&] {
    for (int i = 0; i < 20; i++) files.emplace_back(p.string());
  });
  files.clear();
  fs::remove(p);
  EXPECT_TRUE(
      test::says(said, "no addresses left for its 8796093022208 bytes; a limit on them, in KiB, is told and set by ulimit"));
}

// One that is gone is not blamed for a fault at the place where it was.
TEST(MapGuard, UnmappedIsForgotten) {
  const fs::path p = file_of("plain", kBytes);
  EXPECT_EXIT(
      {
        signal(SIGBUS, SIG_DFL);  // a sanitizer has a handler of its own
        const void* was;
        {
          const MappedFile f(p.string());
          was = f.data();
        }
        // something else's mapping at the same place, whose file shrinks
        const int fd = fileno(fopen(p.c_str(), "r+"));
        const auto* q = static_cast<const uint8_t*>(mmap(const_cast<void*>(was), kBytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0));
        if (q != was || ftruncate(fd, 0) != 0) _exit(8);
        _exit(touch_all(q, kBytes) == 0 ? 9 : 10);
      },
      ::testing::KilledBySignal(SIGBUS), "");
}

// A handler that was there before gets the faults of others.
TEST(MapGuard, TheEarlierHandlerIsCalled) {
  const fs::path p = file_of("other", kBytes);
  EXPECT_EXIT(
      {
        signal(SIGBUS, SIG_DFL);  // as a process that has mapped nothing yet
        struct sigaction mine {};
        mine.sa_handler = [](int) { _exit(42); };
        sigaction(SIGBUS, &mine, nullptr);
        int guarded = 0;
        void* g = map_guard_add(&guarded, sizeof guarded, "guarded");
        raise(SIGBUS);
        map_guard_remove(g);
      },
      ::testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace nyb
