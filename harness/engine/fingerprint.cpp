// fingerprint.cpp - XXH3-64, streamed.
#include "engine/fingerprint.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <bit>

namespace nyb {

static_assert(std::endian::native == std::endian::little, "the hash is over little-endian floats");

struct Fingerprint::Impl {
  XXH3_state_t* state = XXH3_createState();
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { XXH3_freeState(state); }
};

Fingerprint::Fingerprint() : impl_(std::make_unique<Impl>()) {
  if (!impl_->state) throw std::bad_alloc();
  XXH3_64bits_reset(impl_->state);
}

Fingerprint::~Fingerprint() = default;

void Fingerprint::add(std::span<const float> logits) { XXH3_64bits_update(impl_->state, logits.data(), logits.size_bytes()); }

uint64_t Fingerprint::value() const { return XXH3_64bits_digest(impl_->state); }

uint64_t fingerprint_of(std::span<const float> logits) { return XXH3_64bits(logits.data(), logits.size_bytes()); }

std::string Fingerprint::hex() const { return fmt::format("{:016x}", value()); }

}  // namespace nyb
