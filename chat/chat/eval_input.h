// eval_input.h - what is to be scored: a file as runs of token ids.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>
#include "chat/runtime.h"

namespace nyb {

// Ids that run together, no more than the context holds, and which of them are scored (never the first).
struct Piece {
  std::vector<int32_t> ids;
  std::vector<bool> scored;
  void add(std::span<const int32_t> more, bool score);
};

// The pieces of a file of conversations (.jsonl), of token ids (.npy, or what begins like one), else of text; eval.h says what is
// scored of each. Throws Error naming file and line, or position; Interrupted.
std::vector<Piece> eval_pieces(const Runtime& r, const std::string& path);

}  // namespace nyb
