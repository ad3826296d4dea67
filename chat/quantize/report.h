// report.h - the table that quantize ends with.
#pragma once
#include <string>
#include "model/convert.h"

namespace nyb {

// One line per kind of tensor: types, bytes, relative L2 error of the weights and of a matrix-vector product; then the file.
std::string report_table(const ConvertReport& report, const std::string& out);

}  // namespace nyb
