#include "gguf_vocab.h"

#include <sstream>

namespace nyb::test {
namespace fs = std::filesystem;

std::vector<std::string> vocab_texts(const fs::path& gguf) {
  const std::string in = read_file(gguf.string() + ".inp");
  const std::string mark = "\n__ggml_vocab_test__\n";
  std::vector<std::string> texts;
  for (size_t from = 0; from <= in.size();) {
    const size_t to = std::min(in.find(mark, from), in.size());
    texts.push_back(in.substr(from, to - from));
    from = to + mark.size();
  }
  return texts;
}

std::vector<Ids> vocab_ids(const fs::path& gguf) {
  std::vector<Ids> ids;
  std::istringstream out(read_file(gguf.string() + ".out"));
  for (std::string line; std::getline(out, line);) {
    std::istringstream numbers(line);
    ids.emplace_back();
    for (int32_t id = 0; numbers >> id;) ids.back().push_back(id);
  }
  return ids;
}

}  // namespace nyb::test
