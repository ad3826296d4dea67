// fingerprint.h - the hash that says two runs gave the same answer to the last bit.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace nyb {

// XXH3-64 over little-endian f32 logits, position after position. How they are cut into add() calls does not matter.
class Fingerprint {
 public:
  Fingerprint();
  ~Fingerprint();
  void add(std::span<const float> logits);
  uint64_t value() const;   // of what was added so far; adding can go on
  std::string hex() const;  // 16 lower-case digits

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The hash of these logits alone.
uint64_t fingerprint_of(std::span<const float> logits);

}  // namespace nyb
