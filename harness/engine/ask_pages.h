// ask_pages.h - the order in which a thread asks the memory for bytes that it reads later.
#pragma once
#include <cstddef>
#include <cstdint>

namespace nyb {

// Calls ask(p) for the p of each line of 64 bytes from `at` on, `bytes` of them (a multiple of 4,096): the first line of each 4,096
// bytes, then the second one of each, and so on, so that as many pages are under way at once (macros/stream.inc tells why). Before
// each round it ends if done(). Bytes that it asked for.
template <class Ask, class Done>
size_t ask_pages(uintptr_t at, size_t bytes, Ask&& ask, Done&& done) {
  size_t line = 0;
  for (; line < 4096 && !done(); line += 64)
    for (size_t page = 0; page < bytes; page += 4096) ask(at + page + line);
  return bytes / 4096 * line;
}

}  // namespace nyb
