// model.h - a loaded model: a mapped file, checked, with pointers into it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "model/meta.h"
#include "model/tensor.h"

namespace nyb {

struct ModelShape {
  uint32_t layers = 0, dim = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0, ctx = 0;
  uint64_t params = 0;  // true weights, the tied head counted once
  float norm_eps = 0, attn_scale = 0, rope_factor = 1;
  std::vector<double> rope_freqs{};                        // head_dim / 2 at most
  bool qkv_bias = false, o_bias = false, qk_norm = false;  // tensors that not all families have
  std::vector<uint32_t> no_rope{};                         // layers whose queries and keys are not turned, ascending
  std::vector<uint32_t> windows{};  // one a layer: how many positions it sees, its own among them, 0: all; empty: all see all

  bool turns(size_t layer) const;
  // The first position that `layer` sees from `pos` on back.
  uint64_t first_seen(size_t layer, uint64_t pos) const;
};

// Shapes: q [heads*head_dim][dim], k and v [kv_heads*head_dim][dim], o [dim][heads*head_dim], gate and up [ffn][dim], down
// [dim][ffn]; a bias as many as its matrix has rows; q_norm and k_norm [head_dim].
struct LayerTensors {
  const Tensor *attn_norm = nullptr, *q = nullptr, *k = nullptr, *v = nullptr, *o = nullptr, *ffn_norm = nullptr, *gate = nullptr,
               *up = nullptr, *down = nullptr;
  // nullptr where the model has none
  const Tensor *q_bias = nullptr, *k_bias = nullptr, *v_bias = nullptr, *q_norm = nullptr, *k_norm = nullptr, *o_bias = nullptr;
};

enum class LoadMode {
  map,   // the file is mapped and never copied
  huge,  // read once into memory of the program's own, in pages of 2 MiB where the system has them
};
std::string_view load_name(LoadMode m);

struct LoadOptions {
  LoadMode mode = LoadMode::map;
  // of LoadMode::huge: called now and then with the bytes read and the bytes there are; what it throws ends the loading
  std::function<void(uint64_t done, uint64_t total)> progress{};
};

class Model {
 public:
  ~Model();
  ModelShape shape;
  Meta meta;
  std::vector<Tensor> tensors;  // in file order
  std::vector<LayerTensors> layers;
  const Tensor *embed = nullptr, *out_norm = nullptr;
  const Tensor* head = nullptr;  // == embed when tied
  std::string path, name;
  uint64_t file_bytes = 0;
  uint64_t checksum = 0;      // XXH3-64 of the header, which holds the hash of table and metadata
  uint64_t weight_bytes = 0;  // of all tensors
  LoadMode load = LoadMode::map;
  double read_seconds = 0;  // of LoadMode::huge: for reading the file
  std::string type_name;    // "q8", or "q4 (head q8)" where they differ

  std::span<const uint8_t> bytes() const;  // the whole file, where the tensors' pointers lead

  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

 private:
  friend std::unique_ptr<Model> eng_load(const std::string&, const LoadOptions&);
  Model() = default;
  struct File;
  std::unique_ptr<File> file_;
};

// Maps `path` (or reads it, as the options say) and checks every field of header, table and metadata against each other and the
// file's length, and that norms and the scales of int8 and int4 are finite (int4's lie among the weights: some 0.1 s for a gigabyte
// that is in memory, else the time to read it). A file that shrinks while it is mapped ends the process with one sentence and exit
// code 1 (map_guard.h). Throws Error: one sentence that names the file, the field or tensor, and the numbers.
std::unique_ptr<Model> eng_load(const std::string& path, const LoadOptions& options = {});

// Reads every tensor and compares its XXH3-64. Returns what is wrong, each beginning with the tensor's name (empty: the file is
// whole).
std::vector<std::string> model_verify(const Model& m);

// Tensor names in a file: "embed", "out_norm", "head" (absent when tied), and "layers.N." with what layer_slots (format.h) has.

}  // namespace nyb
