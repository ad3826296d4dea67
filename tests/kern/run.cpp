#include "kern/run.h"

#include <cmath>

namespace nyb::test {

const char* kind_name(Kind k) {
  static constexpr const char* names[] = {"normal", "wide", "tiny", "large", "zero", "halfway", "extreme", "outlier"};
  return names[size_t(k)];
}

void KernRun::open(std::initializer_list<std::pair<const char*, size_t>> what, Kind kind) {
  buffers_.clear();
  what_.assign(what);
  kind_ = kind;
  returned_ = true;
}

float KernRun::number(Kind kind) {
  const uint64_t r = bits();
  const auto mantissa = uint32_t(r) & 0x7FFFFF, sign = uint32_t(r >> 23 & 1) << 31;
  const auto made = [&](uint32_t exponent, uint32_t s) { return std::bit_cast<float>(s | exponent << 23 | mantissa); };
  switch (kind) {
    case Kind::zero: return std::bit_cast<float>(sign);
    case Kind::tiny: return made(uint32_t(r >> 32) % 3, sign);
    case Kind::large: return made(127 + uint32_t(r >> 32) % 60, 0);
    case Kind::wide: return (r >> 60) == 0 ? std::bit_cast<float>(sign) : made(107 + uint32_t(r >> 32) % 41, sign);
    case Kind::outlier: return (r >> 32) % 37 == 0 ? made(127 + 40, sign) : made(110, sign);
    default: return made(120 + uint32_t(r >> 32) % 8, sign);
  }
}

std::vector<float> KernRun::floats(size_t n, Kind kind) {
  std::vector<float> v(n);
  for (float& f : v) f = number(kind);
  return v;
}

uint16_t KernRun::f16(Kind kind) {
  const uint64_t r = bits();
  const auto mantissa = uint32_t(r) & 0x3FF, sign = uint32_t(r >> 10 & 1) << 15, any = uint32_t(r >> 32);
  switch (kind) {
    case Kind::zero: return uint16_t(sign);
    case Kind::tiny: return uint16_t(sign | (any % 2) << 10 | mantissa);  // half of them subnormal
    case Kind::large: return uint16_t((any % 4 ? 30u : 25u) << 10 | (any % 8 == 1 ? 0x3FFu : mantissa));
    case Kind::wide: return uint16_t(sign | (any % 31) << 10 | mantissa);
    default: return uint16_t(sign | (8 + any % 8) << 10 | mantissa);
  }
}

GuardBuffer& KernRun::buffer(size_t bytes) {
  Place p;
  if (edge_ != Edge::end) p.edge = Place::start;
  if (edge_ == Edge::gap) p.gap = unsigned(gap_ * (buffers_.size() + 1) % 64);
  return buffers_.emplace_back(bytes, p);
}

GuardBuffer& KernRun::filled(const void* data, size_t bytes) {
  GuardBuffer& b = buffer(bytes);
  if (bytes) memcpy(b.data(), data, bytes);
  return b;
}

std::string KernRun::where() const {
  std::string s = target_.label() + ":";
  for (const auto& [name, value] : what_) s += " " + std::string(name) + " " + std::to_string(value) + ",";
  s += std::string(" ") + kind_name(kind_) + " numbers, buffers ";
  s += edge_ == Edge::end ? "ending at a guard page" : edge_ == Edge::start ? "starting at a guard page" : "at misalignment ";
  if (edge_ == Edge::gap) s += std::to_string(gap_);
  return s + ", seed " + std::to_string(seed_) + ", call " + std::to_string(calls_);
}

void KernRun::add(Check check, const std::string& text) {
  if (!full()) findings_.push_back({check, where() + ": [" + check_name(check) + "] " + text});
}

CallOutcome KernRun::call_raw(std::span<const CallArg> args) {
  calls_++;
  CallOutcome out = checked_call(target_.fn, target_.abi, args, bits());
  returned_ = out.signal == 0;
  for (Finding& f : out.findings) {
    if (f.check == Check::fault) {
      for (size_t i = 0; i < buffers_.size(); i++) {
        const std::string forbidden = buffers_[i].forbids(out.fault_address);
        if (forbidden.empty()) continue;
        f = {Check::guard, f.text + ": " + forbidden + " of buffer " + std::to_string(i)};
        break;
      }
    }
    add(f.check, f.text);
  }
  for (size_t i = 0; i < buffers_.size(); i++) {
    const std::string damage = buffers_[i].damage();
    if (!damage.empty()) add(Check::slack, "buffer " + std::to_string(i) + ": " + damage);
  }
  return out;
}

void KernRun::compare(const void* got, const void* want, size_t n, size_t size, const char* what) {
  if (!returned_ || n == 0 || memcmp(got, want, n * size) == 0) return;
  const auto *g = static_cast<const uint8_t*>(got), *w = static_cast<const uint8_t*>(want);
  size_t wrong = 0, first = n;
  for (size_t i = 0; i < n; i++) {
    if (memcmp(g + i * size, w + i * size, size) == 0) continue;
    wrong++;
    if (first == n) first = i;
  }
  const auto hex = [&](const uint8_t* p) {
    std::string s;
    char two[3];
    for (size_t i = size; i-- > 0;) {
      snprintf(two, sizeof two, "%02x", p[first * size + i]);
      s += two;
    }
    if (size != 4) return s;
    float f;
    memcpy(&f, p + first * size, 4);
    char text[40];
    snprintf(text, sizeof text, " (%.9g)", double(f));
    return s + text;
  };
  add(Check::result, std::string(what) + "[" + std::to_string(first) + "] is " + hex(g) + ", the reference has " + hex(w) + "; " +
                         std::to_string(wrong) + " of " + std::to_string(n) + " differ");
}

std::string KernRun::report() const {
  std::string s;
  for (const Finding& f : findings_) s += f.text + "\n";
  return s;
}

Halfway halfway(KernRun& run) {
  for (;;) {
    const uint32_t a = 8193 + 2 * uint32_t(run.below(4095)), b = 1025 + 2 * uint32_t(run.below(511));
    if (a * b < 1u << 24) continue;  // 25 bits, the last of them set
    const float sign = run.below(2) ? 1.0f : -1.0f;
    return {float(a), float(b), std::ldexp(1.0f, -30 - int(run.below(60))), sign * std::ldexp(1.0f, -int(run.below(14)))};
  }
}

}  // namespace nyb::test
