// npy.h - rows of floats as numpy reads them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include "model/out_file.h"

namespace nyb {

// Every .npy file begins so.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// A .npy file, version 1.0, '<f4', C order, [rows][cols]; rows are counted as they come. The file appears with finish().
class NpyOut {
 public:
  NpyOut(const std::string& path, uint64_t cols);
  void add(std::span<const float> rows);  // a multiple of cols
  void finish();

 private:
  OutFile file_;
  uint64_t cols_, rows_ = 0, at_ = 0;
};

}  // namespace nyb
