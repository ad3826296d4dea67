// gguf_vocab.h - a tokenizer's GGUF file with the strings and ids beside it, from ../shared/data/vocab.
#pragma once
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/data.h"
#include "text_support.h"

namespace nyb::test {

// The strings of a GGUF file's metadata: just enough of a reader for files that are known to be good.
class Gguf {
 public:
  explicit Gguf(const std::filesystem::path& file) : data_(read_file(file)) {
    at_ = 16;
    for (auto n = number<uint64_t>(); n > 0; --n) {
      const std::string key = string();
      const auto type = number<uint32_t>();
      if (type == 9) {
        const auto element = number<uint32_t>();
        auto& list = lists[key];
        for (auto count = number<uint64_t>(); count > 0; --count) list.push_back(value(element));
      } else {
        (void)value(type);
      }
    }
  }
  std::map<std::string, std::vector<std::string>> lists;  // of strings; numbers as their bytes

 private:
  template <class T>
  T number() {
    T v{};
    std::memcpy(&v, data_.data() + at_, sizeof v);
    at_ += sizeof v;
    return v;
  }
  std::string string() {
    const auto n = number<uint64_t>();
    at_ += n;
    return data_.substr(at_ - n, n);
  }
  std::string value(uint32_t type) {
    if (type == 8) return string();
    static constexpr size_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    at_ += bytes[type];
    return data_.substr(at_ - bytes[type], bytes[type]);
  }
  std::string data_;
  size_t at_ = 0;
};

std::vector<std::string> vocab_texts(const std::filesystem::path& gguf);  // of the .inp beside it
std::vector<Ids> vocab_ids(const std::filesystem::path& gguf);            // of the .out

}  // namespace nyb::test
