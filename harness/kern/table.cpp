// table.cpp - the function tables of all paths and the list of kernels, both from kernels.def.
#include "kern/ref.h"

namespace nyb {

// Only the bodies that a table names have to exist.
extern "C" {
#define KERNEL(family, name, result, params, args, ...) \
  result nyb_##name##_avx2 params;                      \
  result nyb_##name##_vnni params;                      \
  result nyb_##name##_vnni8 params;                     \
  result nyb_##name##_avx512 params;
#include "kern/kernels.def"
#undef KERNEL
}

namespace {

constexpr KernTable kRefTable{
    Path::ref,
#define KERNEL(family, name, result, params, args, ...) &ref::name,
#include "kern/kernels.def"
#undef KERNEL
};

constexpr KernTable kAvx2Table{
    Path::avx2,
#define KERNEL(family, name, result, params, args, avx2, vnni, vnni8, avx512) &nyb_##name##_##avx2,
#include "kern/kernels.def"
#undef KERNEL
};

constexpr KernTable kVnniTable{
    Path::vnni,
#define KERNEL(family, name, result, params, args, avx2, vnni, vnni8, avx512) &nyb_##name##_##vnni,
#include "kern/kernels.def"
#undef KERNEL
};

constexpr KernTable kVnni8Table{
    Path::vnni8,
#define KERNEL(family, name, result, params, args, avx2, vnni, vnni8, avx512) &nyb_##name##_##vnni8,
#include "kern/kernels.def"
#undef KERNEL
};

constexpr KernTable kAvx512Table{
    Path::avx512,
#define KERNEL(family, name, result, params, args, avx2, vnni, vnni8, avx512) &nyb_##name##_##avx512,
#include "kern/kernels.def"
#undef KERNEL
};

constexpr KernInfo kInfos[] = {
#define KERNEL(family, name, result, params, args, avx2, vnni, vnni8, avx512) \
  {#family, #name, {Path::ref, Path::avx2, Path::vnni, Path::vnni8, Path::avx512}},
#include "kern/kernels.def"
#undef KERNEL
};

}  // namespace

const KernTable& kern_table(Path p) {
  switch (p) {
    case Path::ref: break;
    case Path::avx2: return kAvx2Table;
    case Path::vnni: return kVnniTable;
    case Path::vnni8: return kVnni8Table;
    case Path::avx512: return kAvx512Table;
  }
  return kRefTable;
}

std::string_view order_name(Order o) {
  switch (o) {
    case Order::in_order: break;
    case Order::pages: return "by pages";
    case Order::streams: return "in streams";
  }
  return "in order";
}

KernTable with_order(KernTable t, Order order) {
  t.order = order;
  return t;
}

KernTable narrow_table(const KernTable& t) {
  if (t.path != Path::avx512) return t;
  KernTable n = kAvx2Table;
  n.path = t.path;
  n.order = t.order;
#define KERNEL(family, name, ...) \
  if constexpr (std::string_view(#family) == "gemv" || std::string_view(#family) == "gemm") n.name = t.name;
#include "kern/kernels.def"
#undef KERNEL
  return n;
}

std::span<const KernInfo> kern_list() { return kInfos; }

}  // namespace nyb
