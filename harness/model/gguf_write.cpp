#include "model/gguf_write.h"

#include <fmt/format.h>

#include "kern/error.h"
#include "model/bytes.h"
#include "model/gguf.h"
#include "model/out_file.h"

namespace nyb {
namespace {

constexpr uint64_t kAlign = 32;                // the format's default
constexpr size_t kBuffered = size_t{1} << 20;  // written at once
constexpr uint32_t kVersion = 3;
uint64_t aligned(uint64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

void put_text(std::string& out, std::string_view s) {
  put_le<uint64_t>(out, s.size());
  out += s;
}

}  // namespace

void GgufKeys::begin(std::string_view key, uint32_t type) {
  put_text(bytes_, key);
  put_le(bytes_, type);
  count_++;
}

void GgufKeys::begin_list(std::string_view key, uint32_t element, uint64_t n) {
  begin(key, static_cast<uint32_t>(GgufType::list));
  put_le(bytes_, element);
  put_le(bytes_, n);
}

void GgufKeys::str(std::string_view key, std::string_view v) {
  begin(key, static_cast<uint32_t>(GgufType::string));
  put_text(bytes_, v);
}

void GgufKeys::u32(std::string_view key, uint32_t v) {
  begin(key, static_cast<uint32_t>(GgufType::u32));
  put_le(bytes_, v);
}

void GgufKeys::f32(std::string_view key, double v) {
  begin(key, static_cast<uint32_t>(GgufType::f32));
  put_le(bytes_, static_cast<float>(v));
}

void GgufKeys::boolean(std::string_view key, bool v) {
  begin(key, static_cast<uint32_t>(GgufType::boolean));
  put_le<uint8_t>(bytes_, v ? 1 : 0);
}

void GgufKeys::strs(std::string_view key, const std::vector<std::string>& v) {
  begin_list(key, static_cast<uint32_t>(GgufType::string), v.size());
  for (const std::string& s : v) put_text(bytes_, s);
}

void GgufKeys::i32s(std::string_view key, std::span<const int32_t> v) {
  begin_list(key, static_cast<uint32_t>(GgufType::i32), v.size());
  for (const int32_t x : v) put_le(bytes_, x);
}

void GgufKeys::f32s(std::string_view key, std::span<const float> v) {
  begin_list(key, static_cast<uint32_t>(GgufType::f32), v.size());
  for (const float x : v) put_le(bytes_, x);
}

void GgufKeys::add(const GgufKeys& more) {
  bytes_ += more.bytes_;
  count_ += more.count_;
}

struct GgufWriter::Impl {
  Impl(const std::string& path, const GgufKeys& keys, const std::vector<GgufPlan>& plan) : out(path) {
    pending = "GGUF";
    put_le(pending, kVersion);
    put_le<uint64_t>(pending, plan.size());
    put_le<uint64_t>(pending, keys.count());
    pending += keys.bytes();
    uint64_t offset = 0;
    for (const GgufPlan& t : plan) {
      const GgmlBlock& b = ggml_block(t.type);
      if (t.cols % b.values != 0)
        throw Error(fmt::format("{}: {} columns of tensor {} are no whole number of {}'s blocks of {}", path, t.cols, t.name,
                                b.name, b.values));
      put_text(pending, t.name);
      put_le<uint32_t>(pending, t.rows == 0 ? 1 : 2);
      put_le(pending, t.cols);
      if (t.rows != 0) put_le(pending, t.rows);
      put_le(pending, b.number);
      put_le(pending, offset);
      sizes.push_back(t.cols / b.values * b.bytes * (t.rows == 0 ? 1 : t.rows));
      offset += aligned(sizes.back());
    }
    pending.resize(aligned(pending.size()));
    total = pending.size() + offset;
    out.reserve(total);
  }

  void flush() {
    out.write(at, pending.data(), pending.size());
    at += pending.size();
    pending.clear();
  }

  OutFile out;
  std::string pending;  // not written yet
  uint64_t at = 0;      // where it goes
  std::vector<uint64_t> sizes;
  size_t tensor = 0;  // the one at hand
  uint64_t done = 0;  // of it
  uint64_t total = 0;
};

GgufWriter::GgufWriter(const std::string& path, const GgufKeys& keys, const std::vector<GgufPlan>& plan)
    : impl_(std::make_unique<Impl>(path, keys, plan)) {}
GgufWriter::~GgufWriter() = default;

uint64_t GgufWriter::file_bytes() const { return impl_->total; }

void GgufWriter::data(const void* bytes, uint64_t n) {
  Impl& w = *impl_;
  if (w.tensor == w.sizes.size() || n > w.sizes[w.tensor] - w.done)
    throw Error("more bytes than the plan of the GGUF has");  // the caller's own mistake
  w.pending.append(static_cast<const char*>(bytes), n);
  w.done += n;
  if (w.done == w.sizes[w.tensor]) {
    w.pending.resize(w.pending.size() + (aligned(w.done) - w.done));
    w.tensor++;
    w.done = 0;
  }
  if (w.pending.size() >= kBuffered) w.flush();
}

void GgufWriter::finish() {
  Impl& w = *impl_;
  if (w.tensor != w.sizes.size()) throw Error("fewer bytes than the plan of the GGUF has");
  w.flush();
  { const Gguf check(w.out.temporary()); }
  w.out.commit();
}

}  // namespace nyb
