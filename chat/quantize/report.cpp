#include "quantize/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/app.h"

namespace nyb {
namespace {

// Three figures or so; float rounding alone in scientific form.
std::string percent(const ErrorSum& e) {
  const double p = 100 * e.relative();
  if (p == 0) return "0 %";
  return p < 0.001 ? fmt::format("{:.0e} %", p) : fmt::format("{:.3f} %", p);
}

}  // namespace

std::string report_table(const ConvertReport& report, const std::string& out) {
  size_t width = 4;
  for (const ConvertKind& k : report.kinds) width = std::max(width, k.types.size());
  std::string s = fmt::format("{:<6}  {:<{}}  {:>10}  {:>9}  {:>9}\n", "tensor", "type", width, "bytes", "weights", "product");
  for (const ConvertKind& k : report.kinds) {
    s += fmt::format("{:<6}  {:<{}}  {:>10}  {:>9}  {:>9}\n", k.kind, k.types, width, human_bytes(k.bytes), percent(k.weights),
                     k.kind == "norms" || k.kind == "biases" ? "" : percent(k.product));
  }
  s += "(errors: relative L2, of the weights and of their product with normal activations as the engine computes it)\n";
  s += fmt::format("{}: {} parameters, {}\n", out, human_count(report.params), human_bytes(report.file_bytes));
  return s;
}

}  // namespace nyb
