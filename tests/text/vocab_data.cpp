#include "vocab_data.h"

#include <sstream>

#include "model/gguf.h"

namespace nyb::test {

std::filesystem::path vocab_file(const std::string& name) { return data_dir() / "vocab" / ("ggml-vocab-" + name + ".gguf"); }

std::vector<std::string> vocab_texts(const std::string& name) {
  const std::string in = read_file(vocab_file(name).string() + ".inp");
  const std::string mark = "\n__ggml_vocab_test__\n";
  std::vector<std::string> texts;
  for (size_t from = 0; from <= in.size();) {
    const size_t to = std::min(in.find(mark, from), in.size());
    texts.push_back(in.substr(from, to - from));
    from = to + mark.size();
  }
  return texts;
}

std::vector<Ids> vocab_ids(const std::string& name) {
  std::vector<Ids> ids;
  std::istringstream out(read_file(vocab_file(name).string() + ".out"));
  for (std::string line; std::getline(out, line);) {
    std::istringstream numbers(line);
    ids.emplace_back();
    for (int32_t id = 0; numbers >> id;) ids.back().push_back(id);
  }
  return ids;
}

Meta vocab_meta(const std::string& name) {
  const Gguf file(vocab_file(name).string());
  Meta meta;
  tok_import_gguf(file, static_cast<uint32_t>(file.strs("tokenizer.ggml.tokens").size()), meta);
  return meta;
}

}  // namespace nyb::test
