// npy.cpp - numpy's format: magic, version, length of the header, a Python dictionary padded to 64 bytes, the data.
#include "chat/npy.h"
#include <fmt/format.h>
#include <bit>

namespace nyb {
namespace {

static_assert(std::endian::native == std::endian::little, "'<f4' is written as it lies in memory");

// Always 128 bytes, whatever the number of rows: it is written first and once more when the number is known.
std::string header(uint64_t rows, uint64_t cols) {
  std::string dict = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, cols);
  dict.resize(128 - 10 - 1, ' ');
  dict += '\n';
  std::string all(kNpyMagic);
  all += '\x01';
  all += '\x00';
  all += static_cast<char>(dict.size() & 0xff);
  all += static_cast<char>(dict.size() >> 8);
  return all + dict;
}

}  // namespace

NpyOut::NpyOut(const std::string& path, uint64_t cols) : file_(path), cols_(cols) {
  const std::string h = header(0, cols);
  file_.write(0, h.data(), h.size());
  at_ = h.size();
}

void NpyOut::add(std::span<const float> rows) {
  file_.write(at_, rows.data(), rows.size_bytes());
  at_ += rows.size_bytes();
  rows_ += rows.size() / cols_;
}

void NpyOut::finish() {
  const std::string h = header(rows_, cols_);
  file_.write(0, h.data(), h.size());
  file_.commit();
}

}  // namespace nyb
