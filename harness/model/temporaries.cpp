// temporaries.cpp - a fixed table of names: a signal handler may neither lock nor allocate.
#include "model/temporaries.h"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstring>

namespace nyb {
namespace {

enum class State : uint8_t { free, busy, named };  // busy: whoever made it so writes or reads the name, and nobody else

struct Slot {
  std::atomic<State> state{State::free};
  char name[PATH_MAX];
};
Slot slots[16];
static_assert(std::atomic<State>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

bool turn(Slot& slot, State from, State to) { return slot.state.compare_exchange_strong(from, to); }

}  // namespace

void* temporary_remember(const std::string& path) {
  if (path.size() >= sizeof Slot::name) return nullptr;  // no file has such a name
  for (Slot& slot : slots) {
    if (!turn(slot, State::free, State::busy)) continue;
    std::memcpy(slot.name, path.c_str(), path.size() + 1);
    slot.state = State::named;
    return &slot;
  }
  return nullptr;
}

void temporary_forget(void* slot) {
  if (slot) turn(*static_cast<Slot*>(slot), State::named, State::free);
}

void temporaries_unlink() noexcept {
  for (Slot& slot : slots) {
    if (!turn(slot, State::named, State::busy)) continue;
    unlink(slot.name);
    slot.state = State::free;
  }
}

}  // namespace nyb
