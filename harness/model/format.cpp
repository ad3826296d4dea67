// format.cpp - the offsets of header and table, and the tensors that a model has.
#include "model/format.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "kern/error.h"
#include "model/model.h"

namespace nyb {
namespace {

template <class T>
void store(std::array<uint8_t, kHeaderBytes>& b, size_t where, T v) {
  std::memcpy(b.data() + where, &v, sizeof v);
}

}  // namespace

std::array<uint8_t, kHeaderBytes> Header::encode() const {
  std::array<uint8_t, kHeaderBytes> b{};
  std::memcpy(b.data() + at::magic, kMagic, 8);
  store(b, at::version, kFormatVersion);
  store(b, at::byte_order, kByteOrder);
  store(b, at::file_bytes, file_bytes);
  store(b, at::table_offset, table_offset);
  store(b, at::table_count, table_count);
  store(b, at::table_bytes, table_bytes);
  store(b, at::meta_offset, meta_offset);
  store(b, at::meta_count, meta_count);
  store(b, at::meta_bytes, meta_bytes);
  store(b, at::data_offset, data_offset);
  store(b, at::data_bytes, data_bytes);
  store(b, at::content_hash, content_hash);
  for (size_t i = 0; i < shape.size(); i++) store(b, at::shape + 4 * i, shape[i]);
  store(b, at::params, params);
  store(b, at::header_hash, uint64_t{XXH3_64bits(b.data(), at::header_hash)});
  return b;
}

Header Header::decode(const uint8_t* b) {
  Header h;
  h.file_bytes = get_le<uint64_t>(b + at::file_bytes);
  h.table_offset = get_le<uint64_t>(b + at::table_offset);
  h.table_count = get_le<uint64_t>(b + at::table_count);
  h.table_bytes = get_le<uint64_t>(b + at::table_bytes);
  h.meta_offset = get_le<uint64_t>(b + at::meta_offset);
  h.meta_count = get_le<uint64_t>(b + at::meta_count);
  h.meta_bytes = get_le<uint64_t>(b + at::meta_bytes);
  h.data_offset = get_le<uint64_t>(b + at::data_offset);
  h.data_bytes = get_le<uint64_t>(b + at::data_bytes);
  h.content_hash = get_le<uint64_t>(b + at::content_hash);
  for (size_t i = 0; i < h.shape.size(); i++) h.shape[i] = get_le<uint32_t>(b + at::shape + 4 * i);
  h.params = get_le<uint64_t>(b + at::params);
  return h;
}

std::array<uint32_t, 8> shape_fields(const ModelShape& s) {
  return {s.layers, s.dim, s.heads, s.kv_heads, s.head_dim, s.ffn, s.vocab, s.ctx};
}

void shape_from_fields(ModelShape& s, const std::array<uint32_t, 8>& f) {
  s.layers = f[0];
  s.dim = f[1];
  s.heads = f[2];
  s.kv_heads = f[3];
  s.head_dim = f[4];
  s.ffn = f[5];
  s.vocab = f[6];
  s.ctx = f[7];
}

std::vector<LayerSlot> layer_slots(const ModelShape& s) {
  using L = LayerTensors;
  const uint64_t d = s.dim, q = uint64_t{s.heads} * s.head_dim, kv = uint64_t{s.kv_heads} * s.head_dim;
  std::vector<LayerSlot> out{
      {"attn_norm", 1, d, false, &L::attn_norm}, {"q", q, d, true, &L::q}, {"k", kv, d, true, &L::k}, {"v", kv, d, true, &L::v}};
  if (s.qkv_bias)
    out.insert(out.end(),
               {{"q_bias", 1, q, false, &L::q_bias}, {"k_bias", 1, kv, false, &L::k_bias}, {"v_bias", 1, kv, false, &L::v_bias}});
  if (s.qk_norm)
    out.insert(out.end(), {{"q_norm", 1, s.head_dim, false, &L::q_norm}, {"k_norm", 1, s.head_dim, false, &L::k_norm}});
  out.push_back({"o", d, q, true, &L::o});
  if (s.o_bias) out.push_back({"o_bias", 1, d, false, &L::o_bias});
  out.insert(out.end(), {{"ffn_norm", 1, d, false, &L::ffn_norm},
                         {"gate", s.ffn, d, true, &L::gate},
                         {"up", s.ffn, d, true, &L::up},
                         {"down", d, s.ffn, true, &L::down}});
  return out;
}

std::vector<TensorSlot> model_slots(const ModelShape& s, bool tied) {
  const std::vector<LayerSlot> layer = layer_slots(s);
  std::vector<TensorSlot> out;
  out.reserve(s.layers * layer.size() + 3);
  out.push_back({"embed", s.vocab, s.dim, true});
  for (uint32_t l = 0; l < s.layers; l++)
    for (const LayerSlot& t : layer) out.push_back({"layers." + std::to_string(l) + "." + t.name, t.rows, t.cols, t.matrix});
  out.push_back({"out_norm", 1, s.dim, false});
  if (!tied) out.push_back({"head", s.vocab, s.dim, true});
  return out;
}

void shape_check(const ModelShape& s, const std::string& where) {
  struct Bound {
    const char* name;
    uint32_t value;
    uint32_t most;
  };
  // RMSNorm takes n below 2^24; ids are int32 and so are positions, whose product with a frequency must stay within det_sincos
  const Bound bounds[] = {{"layers", s.layers, 1u << 16},     {"dim", s.dim, (1u << 24) - 1},
                          {"heads", s.heads, 1u << 20},       {"kv_heads", s.kv_heads, 1u << 20},
                          {"head_dim", s.head_dim, 1u << 16}, {"ffn", s.ffn, (1u << 24) - 1},
                          {"vocab", s.vocab, (1u << 31) - 1}, {"ctx", s.ctx, 1u << 30}};
  for (const Bound& b : bounds) {
    if (b.value == 0 || b.value > b.most)
      throw Error(fmt::format("{}: {} is {}, which is not within 1 to {}", where, b.name, b.value, b.most));
  }
  if (s.head_dim % 2 != 0) throw Error(fmt::format("{}: head_dim is {}, which is not even", where, s.head_dim));
  if (s.heads % s.kv_heads != 0)
    throw Error(fmt::format("{}: {} heads are not a multiple of {} key/value heads", where, s.heads, s.kv_heads));
  if (uint64_t{s.heads} * s.head_dim >= 1u << 24)
    throw Error(fmt::format("{}: {} heads of {} are more than 16,777,215 values", where, s.heads, s.head_dim));
}

}  // namespace nyb
