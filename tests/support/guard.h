// guard.h - buffers between pages that nobody may touch. The same memory is mapped twice: a writable view for the test and for
// outputs, a read-only one for inputs, each between guard pages; so a read or write past an edge faults at once, and so does
// a write to an input. Bytes of the pages beside the data hold a canary.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace nyb::test {

// Where the data lies: flush against the guard page at its end or its start, or `gap` bytes away from it.
struct Place {
  enum Edge : uint8_t { end, start } edge = end;
  unsigned gap = 0;
};

class GuardBuffer {
 public:
  GuardBuffer(size_t bytes, Place place);
  ~GuardBuffer();
  GuardBuffer(const GuardBuffer&) = delete;
  GuardBuffer& operator=(const GuardBuffer&) = delete;

  size_t size() const { return bytes_; }
  uint8_t* data() const;             // writable
  const uint8_t* read_only() const;  // the same bytes

  // Where a byte beside the data changed: its offset from the start of the data, in words. Empty: none did.
  std::string damage() const;
  // Whether the address is one that this buffer forbids, and in words which.
  std::string forbids(uint64_t address) const;

  struct Arena;

 private:
  Arena* arena_;
  size_t bytes_, offset_;
};

}  // namespace nyb::test
