#include "model/gguf_names.h"

#include <map>

namespace nyb {

std::string gguf_name(const std::string& slot) {
  if (slot == "embed") return "token_embd.weight";
  if (slot == "out_norm") return "output_norm.weight";
  if (slot == "head") return "output.weight";
  static const std::map<std::string, std::string, std::less<>> parts = {{"attn_norm", "attn_norm.weight"},
                                                                        {"q", "attn_q.weight"},
                                                                        {"k", "attn_k.weight"},
                                                                        {"v", "attn_v.weight"},
                                                                        {"q_bias", "attn_q.bias"},
                                                                        {"k_bias", "attn_k.bias"},
                                                                        {"v_bias", "attn_v.bias"},
                                                                        {"q_norm", "attn_q_norm.weight"},
                                                                        {"k_norm", "attn_k_norm.weight"},
                                                                        {"o", "attn_output.weight"},
                                                                        {"o_bias", "attn_output.bias"},
                                                                        {"ffn_norm", "ffn_norm.weight"},
                                                                        {"gate", "ffn_gate.weight"},
                                                                        {"up", "ffn_up.weight"},
                                                                        {"down", "ffn_down.weight"}};
  const size_t from = std::string_view("layers.").size(), dot = slot.rfind('.');
  return "blk." + slot.substr(from, dot + 1 - from) + parts.at(slot.substr(dot + 1));
}

bool gguf_turned(std::string_view slot) {
  return slot.ends_with(".q") || slot.ends_with(".k") || slot.ends_with(".q_bias") || slot.ends_with(".k_bias");
}

uint64_t pairs_from_halves(uint64_t row, uint64_t head_dim) {
  const uint64_t in_head = row % head_dim, half = head_dim / 2;
  return row - in_head + (in_head < half ? 2 * in_head : 2 * (in_head - half) + 1);
}

uint64_t halves_from_pairs(uint64_t row, uint64_t head_dim) {
  const uint64_t in_head = row % head_dim;
  return row - in_head + in_head / 2 + (in_head % 2 == 0 ? 0 : head_dim / 2);
}

}  // namespace nyb
