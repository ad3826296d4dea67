// llama.h - real llama.cpp, asked through the C interface of its library (libllama of @node-llama-cpp/linux-x64, which
// scripts/npm.sh installs): token ids, logits, its own quantizer.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nyb::test {

class Llama {
 public:
  // Loads a GGUF; with one thread, a cache in f32, plain attention, and weights where they are. Null, and the test has failed with
  // what llama.cpp said, where it does not load.
  static std::unique_ptr<Llama> open(const std::string& gguf);
  ~Llama();

  // Ids of a text; `specials`: names of special tokens become them. `bos`: as the file says.
  std::vector<int32_t> tokenize(const std::string& text, bool bos, bool specials) const;
  std::string piece(int32_t id) const;  // what it adds to a text, a special nothing
  bool is_end(int32_t id) const;
  std::string chat_template() const;
  uint32_t vocab() const;

  // All logits of all positions, from an empty cache. [ids][vocab]
  std::vector<float> logits(const std::vector<int32_t>& ids) const;
  // What is most likely after `ids`, `n` times, each decoded by itself; the lowest id of equals.
  std::vector<int32_t> greedy(const std::vector<int32_t>& ids, size_t n) const;

  // A GGUF in floats as one of llama.h's llama_ftype, by llama.cpp itself. False, and the test has failed, where it cannot.
  static bool quantize(const std::string& in, const std::string& out, int ftype);
  static constexpr int kQ4KM = 15;

 private:
  Llama() = default;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nyb::test
