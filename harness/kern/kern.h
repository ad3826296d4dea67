// kern.h - the kernels as the rest of the program sees them: one table of functions, filled by kern_pick.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nyb {
struct CpuFeatures;

// 32 quantized activations and what a product needs of them (docs/numerics.md, "Activations").
struct QxGroup {
  int8_t q[32];    // -127..127
  float scale;     // amax / 127
  float xsum;      // float(sum) * scale
  int32_t sum;     // of all 32 q
  int32_t sum_hi;  // of q[16..31]
};
static_assert(sizeof(QxGroup) == 48);

// Bytes of GemmArgs::room.
inline constexpr size_t kGemmRoom = 744;

// Panels of sixteen rows times the vectors of several tokens (macros/gemm.inc knows the order). The arrays have any alignment; y
// overlaps none of the others, and nothing else is touched, so not y between a token's rows and the next one's.
struct GemmArgs {
  const void* w = nullptr;           // as gemv of the type takes it
  const float* row_scale = nullptr;  // [16 * panels] of q8, else not looked at
  const void* x = nullptr;           // QxGroup[groups] a token; of f32 float[groups]
  float* y = nullptr;                // float[16 * panels] a token
  size_t groups = 1;                 // of 32 columns, of f32 columns; >= 1
  size_t panels = 0, tokens = 0;
  size_t x_stride = 0;  // QxGroups (floats) from one token to the next
  size_t y_stride = 0;  // floats from one token to the next
  // Kernels that take groups ask for these bytes meanwhile, in lots of eight pages, so up to seven pages more; ahead is a multiple
  // of 4,096. They do so at each group whose number, counted from the last (1), has no bit of the mask: as it stands, never.
  // Nothing need be there: asking is no access.
  uintptr_t ahead = 0, ahead_end = 0;
  size_t ahead_mask = SIZE_MAX;
  // kGemmRoom bytes that overlap nothing else, of any alignment, faster on 64 bytes: memory that kernels may use for weights they
  // have unpacked, which is faster with many tokens. The same bits without.
  void* room = nullptr;
};

enum class Path : uint8_t { ref, avx2, vnni, vnni8, avx512 };
inline constexpr Path kAllPaths[] = {Path::ref, Path::avx2, Path::vnni, Path::vnni8, Path::avx512};
std::string_view path_name(Path p);
std::optional<Path> path_parse(std::string_view name);  // as path_name spells it; none for any other word
std::string path_names();                               // "ref, avx2, ...", for messages

// A quantized cache: for each group of 32 dimensions, a block of 16 keys, and a row of values (docs/kernels.md, "Memory").
inline constexpr size_t kKeyGroupBytes = 576, kValueGroupBytes = 36;

// How quantized gemv reads the weights from memory: asking some kilobytes ahead; eight pages at once; six stretches side by side
// (macros/stream.inc, six_streams.inc). Which is faster is the CPU's matter.
enum class Order : uint8_t { in_order, pages, streams };
inline constexpr Order kAllOrders[] = {Order::in_order, Order::pages, Order::streams};
std::string_view order_name(Order o);  // "in order", "by pages", "in streams"
// Panels that gemv in streams goes through side by side; fewer in fewer places.
inline constexpr size_t kStreams = 6;

// The function table of a path.
struct KernTable {
  Path path = Path::ref;
#define KERNEL(family, name, result, params, args, ...) result(*name) params = nullptr;
#include "kern/kernels.def"
#undef KERNEL
  Order order = Order::in_order;  // of products from memory
  // Whether products of several tokens ask for panels ahead by pages, and KvCache takes attention's forms of that kind.
  bool asks_pages() const { return order != Order::in_order; }
  // Of how many panels a call should have a multiple.
  size_t panels_together() const { return order == Order::streams ? kStreams : 2; }
};

// The same table with that order, by which mat_panels takes its gemv. The same bits at another speed.
KernTable with_order(KernTable t, Order order);

// For steps of one token: of avx512 the products (gemv, gemm), of avx2 all else; any other path's table as it is. The same bits. A
// CPU that lowers its clock for 512-bit arithmetic computes products as fast, since they wait for memory, and all else faster.
KernTable narrow_table(const KernTable& t);

// The complete table of one path. Fetching it runs nothing: whether the CPU can run it is cpu_missing's to say.
const KernTable& kern_table(Path p);

// What the list says of one kernel, for tests, reports and docs.
struct KernInfo {
  std::string_view family, name;
  Path body[5];  // indexed by Path: the path whose code runs the kernel (vnni inherits most of avx2)
};
std::span<const KernInfo> kern_list();

struct KernChoice {
  KernTable table;
  std::string reason;  // one phrase for the banner: "best of avx2, avx512", "asked for by --kernel"
};

// Chooses the path: `asked` (from --kernel), else NYBBLE_KERNEL, else the best that the CPU has, else ref.
// Throws Error for an unknown name (the valid ones are listed) or a path that the CPU lacks (the missing bits are named).
KernChoice kern_pick(const CpuFeatures& cpu, std::string_view asked = {}, const char* env = nullptr);

}  // namespace nyb
