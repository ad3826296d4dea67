// load_check.h - the checks of eng_load, part by part. Each throws Error: one sentence that begins with the path.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>
#include "model/format.h"
#include "model/model.h"

namespace nyb {

// The header's own fields against each other and the file's length; the hashes of the header and of table and metadata.
Header header_check(std::span<const uint8_t> file, const std::string& path);

// The metadata that running needs, against the header's integers in `shape`, which receives the rest of what a shape has.
void meta_check(const Meta& meta, ModelShape& shape, const std::string& path);

// The table against the shape: exactly the tensors of such a model, in order, each where the one before ended. Fills `out`;
// returns whether the head is tied to the embedding.
bool table_check(std::span<const uint8_t> file, const Header& h, const ModelShape& shape, const std::string& path,
                 std::vector<Tensor>& out);

// What is in front of the tensors: all of the above, in an order in which nothing is used before it is checked.
struct Front {
  ModelShape shape;  // whole, with params
  Meta meta;
  std::vector<Tensor> tensors;
  bool tied = false;
};
Front front_check(std::span<const uint8_t> file, const std::string& path);

// The numbers beside the weights: norms, biases, the row scales of q8 and the f16 scales and minima of the other types must be
// finite.
void values_check(const Model& m);

}  // namespace nyb
