#include "support/guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace nyb::test {
namespace {
constexpr size_t kPage = 4096, kGuard = 16 * kPage;
// Bytes near 0xFF: read as floats by mistake they are NaN or huge, as weights not zero.
constexpr uint8_t canary(size_t i) { return uint8_t(0xFF - ((i * 5 >> 2) & 3)); }

const uint8_t* canaries(size_t bytes) {
  static std::vector<uint8_t> v;
  if (v.size() < bytes) {
    v.resize(bytes);
    for (size_t i = 0; i < bytes; i++) v[i] = canary(i);
  }
  return v.data();
}

uint8_t* map_between_guards(int fd, size_t bytes, int protection) {
  void* all = mmap(nullptr, bytes + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) abort();
  uint8_t* inner = static_cast<uint8_t*>(all) + kGuard;
  if (mmap(inner, bytes, protection, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) abort();
  return inner;
}
}  // namespace

// Free ones hold nothing but canaries. They are kept for the next buffer of their size: mapping is slow.
struct GuardBuffer::Arena {
  explicit Arena(size_t n) : bytes(n) {
    const int fd = memfd_create("guard", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, off_t(n))) abort();
    writable = map_between_guards(fd, n, PROT_READ | PROT_WRITE);
    readable = map_between_guards(fd, n, PROT_READ);
    close(fd);
    memcpy(writable, canaries(n), n);
  }
  size_t bytes;
  uint8_t* writable;
  uint8_t* readable;
};

namespace {
std::vector<std::unique_ptr<GuardBuffer::Arena>>& free_arenas(size_t pages) {
  static std::array<std::vector<std::unique_ptr<GuardBuffer::Arena>>, 32> lists;
  static pid_t owner = getpid();
  if (const pid_t me = getpid(); owner != me) {  // a fork: the pages are the parent's too, so leave them to it
    for (auto& list : lists) {
      for (auto& arena : list) (void)arena.release();
      list.clear();
    }
    owner = me;
  }
  return lists.at(size_t(std::countr_zero(pages)));
}
}  // namespace

GuardBuffer::GuardBuffer(size_t bytes, Place place) : bytes_(bytes) {
  const size_t pages = std::bit_ceil((bytes + place.gap + kPage) / kPage);
  auto& list = free_arenas(pages);
  if (list.empty()) {
    arena_ = new Arena(pages * kPage);
  } else {
    arena_ = list.back().release();
    list.pop_back();
  }
  offset_ = place.edge == Place::start ? place.gap : arena_->bytes - bytes - place.gap;
}

GuardBuffer::~GuardBuffer() {
  if (damage().empty()) {
    memcpy(data(), canaries(arena_->bytes) + offset_, bytes_);
  } else {
    memcpy(arena_->writable, canaries(arena_->bytes), arena_->bytes);
  }
  free_arenas(arena_->bytes / kPage).emplace_back(arena_);
}

uint8_t* GuardBuffer::data() const { return arena_->writable + offset_; }
const uint8_t* GuardBuffer::read_only() const { return arena_->readable + offset_; }

std::string GuardBuffer::damage() const {
  const uint8_t *have = arena_->writable, *want = canaries(arena_->bytes);
  const size_t after = offset_ + bytes_;
  if (!memcmp(have, want, offset_) && !memcmp(have + after, want + after, arena_->bytes - after)) return {};
  for (size_t i = 0; i < offset_; i++) {
    const size_t back = offset_ - 1 - i;  // the nearest one
    if (have[back] != want[back]) return "byte -" + std::to_string(i + 1) + " before the start was written";
  }
  for (size_t i = after; i < arena_->bytes; i++) {
    if (have[i] != want[i]) return "byte " + std::to_string(i - after + 1) + " past the end was written";
  }
  return {};
}

std::string GuardBuffer::forbids(uint64_t address) const {
  for (const uint8_t* view : {arena_->writable, arena_->readable}) {
    const auto at = int64_t(address - reinterpret_cast<uint64_t>(view));
    const auto bytes = int64_t(arena_->bytes);
    if (at < -int64_t(kGuard) || at >= bytes + int64_t(kGuard)) continue;
    if (at >= 0 && at < bytes) return view == arena_->readable ? "a write to an input" : "";
    if (at < 0) return "an access " + std::to_string(int64_t(offset_) - at) + " bytes before the start";
    return "an access " + std::to_string(at - int64_t(offset_ + bytes_) + 1) + " bytes past the end";
  }
  return {};
}

}  // namespace nyb::test
