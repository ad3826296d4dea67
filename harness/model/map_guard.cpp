// map_guard.cpp - the handler and the list of maps that it looks through.
#include "model/map_guard.h"

#include <errno.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "kern/printable.h"
#include "model/temporaries.h"

namespace nyb {
namespace {

// Nodes are only ever added and reused, never freed: the handler walks the list without a lock. A node is live while
// begin is not 0; its text is written before that and left alone after.
struct Node {
  std::atomic<uintptr_t> begin{0};
  std::atomic<size_t> size{0};
  char text[1024] = {};
  size_t text_len = 0;
  Node* next = nullptr;
};
std::atomic<Node*> nodes{nullptr};
std::mutex lock;
struct sigaction before {};

void on_sigbus(int sig, siginfo_t* info, void* context) {
  const auto a = reinterpret_cast<uintptr_t>(info->si_addr);
  for (const Node* n = nodes.load(std::memory_order_acquire); n; n = n->next) {
    const uintptr_t begin = n->begin.load(std::memory_order_acquire);
    if (begin == 0 || a < begin || a - begin >= n->size.load(std::memory_order_relaxed)) continue;
    const ssize_t ignored = write(STDERR_FILENO, n->text, n->text_len);
    (void)ignored;
    temporaries_unlink();
    _exit(1);
  }
  if ((before.sa_flags & SA_SIGINFO) && before.sa_sigaction) {
    before.sa_sigaction(sig, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(sig);
  } else {
    std::signal(SIGBUS, SIG_DFL);  // the faulting instruction runs again and ends the process in the usual way
  }
}

// Once, and again only where nobody else's handler has taken the place: a later one may pass on to this one, and taking the
// place back would make the two call each other for ever.
void install() {
  struct sigaction now {};
  sigaction(SIGBUS, nullptr, &now);
  const bool plain = !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
  static bool installed = false;
  if (installed && !plain) return;
  installed = true;
  before = now;
  struct sigaction mine {};
  mine.sa_sigaction = on_sigbus;
  mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&mine.sa_mask);
  sigaction(SIGBUS, &mine, nullptr);
}

}  // namespace

void* map_guard_add(const void* begin, size_t size, const std::string& path) {
  const std::lock_guard<std::mutex> hold(lock);
  install();
  Node* n = nodes.load(std::memory_order_relaxed);
  while (n && n->begin.load(std::memory_order_relaxed) != 0) n = n->next;
  const bool fresh = n == nullptr;
  if (fresh) n = new Node;
  // a reply may have stopped in the middle of its line
  const std::string text =
      "\n" + std::string(program_invocation_short_name).substr(0, 60) + ": " + printable(path).substr(0, 700) +
      ": the file became shorter while it was in use, or its disk cannot be read; start again with the whole file\n";
  n->text_len = std::min(text.size(), sizeof n->text);
  std::memcpy(n->text, text.data(), n->text_len);
  n->size.store(size, std::memory_order_relaxed);
  n->begin.store(reinterpret_cast<uintptr_t>(begin), std::memory_order_release);
  if (fresh) {
    n->next = nodes.load(std::memory_order_relaxed);
    nodes.store(n, std::memory_order_release);
  }
  return n;
}

void map_guard_remove(void* guard) {
  if (guard) static_cast<Node*>(guard)->begin.store(0, std::memory_order_release);
}

}  // namespace nyb
