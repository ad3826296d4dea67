// temporaries.cpp - a fixed table of names: a signal handler may neither lock nor allocate.
#include "model/temporaries.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace nyb {
namespace {

// Whoever takes the name out of its slot owns it: the owner of the file frees it, a handler never does.
std::atomic<char*> names[16];
static_assert(std::atomic<char*>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

}  // namespace

void* temporary_remember(const std::string& path) {
  char* name = strdup(path.c_str());
  if (!name) return nullptr;
  for (std::atomic<char*>& slot : names) {
    char* none = nullptr;
    if (slot.compare_exchange_strong(none, name)) return &slot;
  }
  std::free(name);
  return nullptr;
}

void temporary_forget(void* slot) {
  if (slot) std::free(static_cast<std::atomic<char*>*>(slot)->exchange(nullptr));
}

void temporaries_unlink() noexcept {
  for (std::atomic<char*>& slot : names)
    if (const char* name = slot.exchange(nullptr)) unlink(name);
}

}  // namespace nyb
