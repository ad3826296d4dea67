// kernel_call.cpp - arrays and arguments of each kernel.
#include "kernel_call.h"
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include "engine/attention.h"
#include "kern/f16.h"
#include "model/format.h"
#include "weights.h"

namespace nyb {
namespace {

using Size = KernelSize;
using Sizes = std::vector<Size> KernelSizes::*;
constexpr Sizes kMatrices = &KernelSizes::matrices, kTallMatrices = &KernelSizes::of_prompts, kVectors = &KernelSizes::vectors,
                kHeads = &KernelSizes::heads, kPositions = &KernelSizes::positions, kSegments = &KernelSizes::segments;
constexpr Size kSmallMatrix{64, 256}, kSmallVector{1024, 1}, kSmallHeads{4, 128}, kSmallPositions{128, 64}, kSmallSegments{8, 64};
constexpr size_t kSomeSegments = 16;
constexpr size_t kTokens = 60;  // of a prompt: whole tiles of every kernel
constexpr size_t kQueries = 4;  // that share the keys
constexpr float kEps = 1e-5f;

constexpr size_t up(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Small positive numbers: no kernel has an exception or a slow case to look after.
float value(size_t i) { return static_cast<float>(i % 97) * 0.03125f + 0.0625f; }

struct Array {
  size_t n, size;  // elements, and bytes of one, by which it is known what they are (fill_array)
};

// `scales` floats at `at`, int8 else.
void fill_group(std::byte* p, size_t bytes, size_t at, size_t scales) {
  for (size_t i = 0; i < bytes; ++i) p[i] = static_cast<std::byte>(i % 97);
  for (size_t i = 0; i < scales; ++i) {
    const float scale = value(i);
    std::memcpy(p + at + i * sizeof scale, &scale, sizeof scale);
  }
}

void fill_array(const Array& a, std::byte* p) {
  for (size_t k = 0; k < a.n; ++k, p += a.size) {
    if (a.size == sizeof(float)) *reinterpret_cast<float*>(p) = value(k);
    if (a.size == sizeof(uint16_t)) *reinterpret_cast<uint16_t*>(p) = f32_to_f16(value(k));
    if (a.size == kKeyGroupBytes) fill_group(p, a.size, kGroup * kPanelRows, kPanelRows);
    if (a.size == kValueGroupBytes) fill_group(p, a.size, 0, 1);
    if (a.size != sizeof(QxGroup)) continue;
    std::array<float, kGroup> x{};
    for (size_t i = 0; i < kGroup; ++i) x[i] = value(k + i);
    kern_table(Path::ref).qx_vec(x.data(), reinterpret_cast<QxGroup*>(p), kGroup);
  }
}

// The arrays of a set by number.
class At {
 public:
  At(const std::vector<Array>& arrays, std::byte* set) : arrays_(arrays), set_(set) {}
  template <class T = float>
  T* operator[](size_t i) const {
    std::byte* p = set_;
    for (size_t k = 0; k < i; ++k) p += up(arrays_[k].n * arrays_[k].size);
    return reinterpret_cast<T*>(p);
  }
  template <class T>
  T* as(size_t i) const {
    return reinterpret_cast<T*>((*this)[i]);
  }

 private:
  const std::vector<Array>& arrays_;
  std::byte* set_;
};

// f(table, At): the call
template <class F>
KernelCall call_of(const std::vector<Array>& arrays, double elements, F f) {
  KernelCall c;
  for (const Array& a : arrays) {
    c.set_bytes += up(a.n * a.size);
    c.bytes += static_cast<double>(a.n * a.size);
  }
  c.elements = elements;
  c.fill = [arrays](std::byte* set) {
    const At at(arrays, set);
    for (size_t i = 0; i < arrays.size(); ++i) fill_array(arrays[i], at.as<std::byte>(i));
  };
  c.run = [arrays, f](const KernTable& k, std::byte* set) { f(k, At(arrays, set)); };
  return c;
}

// Mixtures are added to what is there, so each call begins with nothing.
template <class F>
auto from_zero(size_t values, F f) {
  return [=](const KernTable& k, const At& x) {
    std::fill_n(x[2], values, 0.0f);
    f(k, x);
  };
}

template <class F>
KernelCall attention(const std::vector<Array>& arrays, Size s, size_t queries, F f) {
  const double elements = static_cast<double>(s.a * s.b);
  KernelCall c = call_of(arrays, elements, f);
  c.macs = elements * static_cast<double>(queries);
  return c;
}

// By the vectors of so many tokens: mat_panels takes gemv for one, gemm for more.
KernelCall product(TType t, Size s, size_t tokens) {
  KernelCall c;
  if (s.b % block_cols(t) != 0) return c;  // this type has no such columns
  c.set_bytes = weight_bytes(t, s.a, s.b);
  c.bytes = static_cast<double>(tensor_bytes(t, s.a, s.b));
  c.macs = c.elements = static_cast<double>(s.a * s.b * tokens);
  if (tokens > 1) c.shape = fmt::format("x{}", tokens);
  c.fill = [=](std::byte* set) { random_matrix(t, s.a, s.b, set, 1); };
  Tensor w;
  w.type = t;
  w.rows = s.a;
  w.cols = s.b;
  c.run = [=, vectors = std::make_shared<Vectors>(s.b, s.a, tokens)](const KernTable& k, std::byte* set) mutable {
    w.data = reinterpret_cast<const uint8_t*>(set);
    mat_panels(k, w, 0, panels_of(w.rows), vectors->in(), tokens, vectors->y.data(), vectors->y_stride);
  };
  return c;
}

template <TType T>
KernelCall product_of(Size s) {
  return product(T, s, 1);
}

template <TType T, Order O>
KernelCall ordered(Size s) {
  KernelCall c = product(T, s, 1);
  c.run = [run = c.run](const KernTable& k, std::byte* set) { run(with_order(k, O), set); };
  return c;
}

template <TType T>
KernelCall prompt_of(Size s) {
  return product(T, s, kTokens);
}

constexpr size_t kF = sizeof(float), kH = sizeof(uint16_t);

struct Entry {
  std::string_view kernel;
  Sizes sizes;
  Size small;
  KernelCall (*make)(Size);
};

const Entry kEntries[] = {
    {"gemv_q8", kMatrices, kSmallMatrix, product_of<TType::q8>},
    {"gemv_q4", kMatrices, kSmallMatrix, product_of<TType::q4>},
    {"gemv_q80", kMatrices, kSmallMatrix, product_of<TType::q80>},
    {"gemv_q4k", kMatrices, kSmallMatrix, product_of<TType::q4k>},
    {"gemv_q6k", kMatrices, kSmallMatrix, product_of<TType::q6k>},
    {"gemv_f32", kMatrices, kSmallMatrix, product_of<TType::f32>},
    {"gemv_q8_pages", kMatrices, kSmallMatrix, ordered<TType::q8, Order::pages>},
    {"gemv_q4_pages", kMatrices, kSmallMatrix, ordered<TType::q4, Order::pages>},
    {"gemv_q80_pages", kMatrices, kSmallMatrix, ordered<TType::q80, Order::pages>},
    {"gemv_q4k_pages", kMatrices, kSmallMatrix, ordered<TType::q4k, Order::pages>},
    {"gemv_q6k_pages", kMatrices, kSmallMatrix, ordered<TType::q6k, Order::pages>},
    {"gemv_q8_streams", kMatrices, kSmallMatrix, ordered<TType::q8, Order::streams>},
    {"gemv_q4_streams", kMatrices, kSmallMatrix, ordered<TType::q4, Order::streams>},
    {"gemv_q80_streams", kMatrices, kSmallMatrix, ordered<TType::q80, Order::streams>},
    {"gemv_q4k_streams", kMatrices, kSmallMatrix, ordered<TType::q4k, Order::streams>},
    {"gemv_q6k_streams", kMatrices, kSmallMatrix, ordered<TType::q6k, Order::streams>},
    {"gemm_q8", kTallMatrices, kSmallMatrix, prompt_of<TType::q8>},
    {"gemm_q4", kTallMatrices, kSmallMatrix, prompt_of<TType::q4>},
    {"gemm_q80", kTallMatrices, kSmallMatrix, prompt_of<TType::q80>},
    {"gemm_q4k", kTallMatrices, kSmallMatrix, prompt_of<TType::q4k>},
    {"gemm_q6k", kTallMatrices, kSmallMatrix, prompt_of<TType::q6k>},
    {"gemm_f32", kTallMatrices, kSmallMatrix, prompt_of<TType::f32>},
    {"qx_vec", kVectors, kSmallVector,
     [](Size s) {
       return call_of({{s.a, kF}, {groups_of(s.a), sizeof(QxGroup)}}, static_cast<double>(s.a),
                      [=](const KernTable& k, const At& x) { k.qx_vec(x[0], x.as<QxGroup>(1), s.a); });
     }},
    {"exp8_vec", kVectors, kSmallVector,
     [](Size s) {
       return call_of({{s.a, kF}, {s.a, kF}}, static_cast<double>(s.a),
                      [=](const KernTable& k, const At& x) { k.exp8_vec(x[0], x[1], s.a); });
     }},
    {"vec_max", kVectors, kSmallVector,
     [](Size s) {
       return call_of({{s.a, kF}}, static_cast<double>(s.a), [=](const KernTable& k, const At& x) {
         float max;
         k.vec_max(x[0], &max, s.a);
       });
     }},
    {"vec_above", kVectors, kSmallVector,
     [](Size s) {
       return call_of({{s.a, kF}}, static_cast<double>(s.a),
                      [=](const KernTable& k, const At& x) { k.vec_above(x[0], s.a, value(96)); });
     }},
    {"softmax_num", kVectors, kSmallVector,
     [](Size s) {
       return call_of({{s.a, kF}, {s.a, kF}}, static_cast<double>(s.a),
                      [=](const KernTable& k, const At& x) { k.softmax_num(x[0], x[1], s.a, value(96), 1); });
     }},
    {"swiglu", kVectors, kSmallVector,
     [](Size s) {
       return call_of({{s.a, kF}, {s.a, kF}, {s.a, kF}}, static_cast<double>(s.a),
                      [=](const KernTable& k, const At& x) { k.swiglu(x[0], x[1], x[2], s.a); });
     }},
    {"vec_add", kVectors, kSmallVector,
     [](Size s) {
       return call_of({{s.a, kF}, {s.a, kF}, {s.a, kF}}, static_cast<double>(s.a),
                      [=](const KernTable& k, const At& x) { k.vec_add(x[0], x[1], x[2], s.a); });
     }},
    {"rmsnorm", kVectors, kSmallVector,
     [](Size s) {
       return call_of({{s.a, kF}, {s.a, kF}, {s.a, kF}}, static_cast<double>(s.a),
                      [=](const KernTable& k, const At& x) { k.rmsnorm(x[0], x[1], x[2], s.a, kEps); });
     }},
    // turned by 0 degrees, so that the values stay what they are: cosines of 1, sines of 0
    {"rope", kHeads, kSmallHeads,
     [](Size s) {
       KernelCall c = call_of({{s.a * s.b, kF}, {s.b / 2, kF}, {s.b / 2, kF}}, static_cast<double>(s.a * s.b),
                              [=](const KernTable& k, const At& x) { k.rope(x[0], x[1], x[2], s.b / 2, s.b, s.a); });
       c.fill = [=, fill = c.fill](std::byte* set) {
         fill(set);
         const std::vector<Array> arrays = {{s.a * s.b, kF}, {s.b / 2, kF}};
         const At x(arrays, set);
         std::fill_n(x[1], s.b / 2, 1.0f);
         std::fill_n(x[2], s.b / 2, 0.0f);
       };
       return c;
     }},
    {"f32_to_f16", kVectors, kSmallVector,
     [](Size s) {
       return call_of({{s.a, kF}, {s.a, kH}}, static_cast<double>(s.a),
                      [=](const KernTable& k, const At& x) { k.f32_to_f16(x[0], x.as<uint16_t>(1), s.a); });
     }},
    // keys first, then the queries, then the scores
    {"attn_score_f32", kPositions, kSmallPositions,
     [](Size s) {
       return attention(
           {{s.a * s.b, kF}, {s.b * kQueries, kF}, {kSegment * kQueries, kF}}, s, kQueries,
           [=](const KernTable& k, const At& x) { k.attn_score_f32(x[1], x[0], x[2], s.b, s.a / kKeyBlock, kQueries, 1); });
     }},
    {"attn_score_f32_pages", kPositions, kSmallPositions,
     [](Size s) {
       return attention(
           {{s.a * s.b, kF}, {s.b * kQueries, kF}, {kSegment * kQueries, kF}}, s, kQueries,
           [=](const KernTable& k, const At& x) { k.attn_score_f32_pages(x[1], x[0], x[2], s.b, s.a / kKeyBlock, kQueries, 1); });
     }},
    {"attn_score_f16", kPositions, kSmallPositions,
     [](Size s) {
       return attention({{s.a * s.b, kH}, {s.b * kQueries, kF}, {kSegment * kQueries, kF}}, s, kQueries,
                        [=](const KernTable& k, const At& x) {
                          k.attn_score_f16(x[1], x.as<uint16_t>(0), x[2], s.b, s.a / kKeyBlock, kQueries, 1);
                        });
     }},
    {"attn_score_f16_pages", kPositions, kSmallPositions,
     [](Size s) {
       return attention({{s.a * s.b, kH}, {s.b * kQueries, kF}, {kSegment * kQueries, kF}}, s, kQueries,
                        [=](const KernTable& k, const At& x) {
                          k.attn_score_f16_pages(x[1], x.as<uint16_t>(0), x[2], s.b, s.a / kKeyBlock, kQueries, 1);
                        });
     }},
    {"attn_score_q8", kPositions, kSmallPositions,
     [](Size s) {
       const size_t groups = groups_of(s.b);
       return attention(
           {{s.a / kKeyBlock * groups, kKeyGroupBytes}, {groups * kQueries, sizeof(QxGroup)}, {kSegment * kQueries, kF}}, s,
           kQueries, [=](const KernTable& k, const At& x) {
             k.attn_score_q8(x.as<QxGroup>(1), x[0], x[2], groups, s.a / kKeyBlock, kQueries, 1);
           });
     }},
    // values first, then their weights, then the mixture
    {"attn_mix_f32", kPositions, kSmallPositions,
     [](Size s) {
       return attention({{s.a * s.b, kF}, {kSegment * kQueries, kF}, {s.b * kQueries, kF}}, s, kQueries,
                        from_zero(s.b * kQueries,
                                  [=](const KernTable& k, const At& x) { k.attn_mix_f32(x[1], x[0], x[2], s.a, s.b, kQueries); }));
     }},
    {"attn_mix_f32_pages", kPositions, kSmallPositions,
     [](Size s) {
       return attention({{s.a * s.b, kF}, {kSegment * kQueries, kF}, {s.b * kQueries, kF}}, s, kQueries,
                        from_zero(s.b * kQueries, [=](const KernTable& k, const At& x) {
                          k.attn_mix_f32_pages(x[1], x[0], x[2], s.a, s.b, kQueries);
                        }));
     }},
    {"attn_mix_f16", kPositions, kSmallPositions,
     [](Size s) {
       return attention({{s.a * s.b, kH}, {kSegment * kQueries, kF}, {s.b * kQueries, kF}}, s, kQueries,
                        from_zero(s.b * kQueries, [=](const KernTable& k, const At& x) {
                          k.attn_mix_f16(x[1], x.as<uint16_t>(0), x[2], s.a, s.b, kQueries);
                        }));
     }},
    {"attn_mix_f16_pages", kPositions, kSmallPositions,
     [](Size s) {
       return attention({{s.a * s.b, kH}, {kSegment * kQueries, kF}, {s.b * kQueries, kF}}, s, kQueries,
                        from_zero(s.b * kQueries, [=](const KernTable& k, const At& x) {
                          k.attn_mix_f16_pages(x[1], x.as<uint16_t>(0), x[2], s.a, s.b, kQueries);
                        }));
     }},
    {"attn_mix_q8", kPositions, kSmallPositions,
     [](Size s) {
       return attention({{s.a * groups_of(s.b), kValueGroupBytes}, {kSegment * kQueries, kF}, {s.b * kQueries, kF}}, s, kQueries,
                        from_zero(s.b * kQueries,
                                  [=](const KernTable& k, const At& x) { k.attn_mix_q8(x[1], x[0], x[2], s.a, s.b, kQueries); }));
     }},
    {"attn_merge", kSegments, kSmallSegments,
     [](Size s) {
       return attention({{2 * s.a, kF}, {s.a * s.b, kF}, {s.b, kF}}, s, 1,
                        [=](const KernTable& k, const At& x) { k.attn_merge(x[0], x[1], x[2], s.a, s.b, s.b); });
     }},
};

const Entry* entry_of(std::string_view kernel) {
  const auto* const e = std::find_if(std::begin(kEntries), std::end(kEntries), [&](const Entry& x) { return x.kernel == kernel; });
  return e == std::end(kEntries) ? nullptr : e;
}

KernelCall made(const Entry& e, Size s) {
  KernelCall c = e.make(s);
  c.kernel = e.kernel;
  c.shape = (s.b == 1 ? fmt::format("{}", s.a) : fmt::format("{}x{}", s.a, s.b)) + c.shape;
  return c;
}

}  // namespace

KernelSizes usual_sizes() {
  return {{{768, 768}, {2048, 768}, {4096, 4096}},
          {{2048, 768}, {1536, 1536}},
          {{768, 1}, {4096, 1}},
          {{12, 64}, {32, 128}},
          {{kSegment, 64}, {kSegment, 128}},
          {{kSomeSegments, 64}, {kSomeSegments, 128}}};
}

KernelSizes shape_sizes(const std::vector<const NamedShape*>& shapes) {
  KernelSizes all;
  const auto add = [](std::vector<Size>& sizes, Size s) {
    if (std::find(sizes.begin(), sizes.end(), s) == sizes.end()) sizes.push_back(s);
  };
  for (const NamedShape* shape : shapes) {
    const ModelShape s = shape->shape();
    for (const TensorSlot& t : model_slots(s, shape->tied))
      if (t.matrix) {
        const Size size{panels_of(t.rows) * kPanelRows, t.cols};
        add(all.matrices, size);
        if (t.name.starts_with("layers.")) add(all.of_prompts, size);  // the last token alone goes through the head
      }
    for (const size_t n : {s.dim, s.heads * s.head_dim, s.ffn}) add(all.vectors, {n, 1});
    add(all.heads, {s.heads, s.head_dim});
    add(all.positions, {kSegment, s.head_dim});
    add(all.segments, {kSomeSegments, s.head_dim});
  }
  return all;
}

std::vector<KernelCall> kernel_calls(std::string_view kernel, const KernelSizes& sizes) {
  std::vector<KernelCall> calls;
  if (const Entry* e = entry_of(kernel))
    for (const Size s : sizes.*e->sizes)
      if (KernelCall c = made(*e, s); c.set_bytes) calls.push_back(std::move(c));
  return calls;
}

KernelCall small_call(std::string_view kernel) {
  const Entry& e = *entry_of(kernel);
  return made(e, e.small);
}

const void* kernel_code(const KernTable& k, std::string_view kernel) {
#define KERNEL(family, name, ...) \
  if (kernel == #name) return reinterpret_cast<const void*>(k.name);
#include "kern/kernels.def"
#undef KERNEL
  return nullptr;
}

CheckShapes kernel_shapes(const KernelSizes& sizes) {
  CheckShapes s;
  for (const Size m : sizes.matrices) s.matrices.push_back({TType::q8, m.a, m.b});
  for (const Size v : sizes.vectors) s.lengths.push_back(v.a);
  s.heads = sizes.heads.back().a;
  s.head_dim = sizes.heads.back().b;
  s.rope_half = s.head_dim / 2;
  return s;
}

}  // namespace nyb
