// import_llama2c.cpp - llama2.c's tokenizer file as keys of a model file: a score and the bytes of each token, nothing else.
#include <fmt/format.h>

#include <utility>

#include "kern/error.h"
#include "model/bytes.h"
#include "model/mapped_file.h"
#include "text/tok_parts.h"
#include "text/tokenizer.h"

namespace nyb {
namespace {

// What llama2.c takes for granted: the file does not say it.
constexpr uint32_t kUnknown = 0, kBos = 1, kEos = 2;

class TokenFile {
 public:
  explicit TokenFile(const std::string& path) : file_(path) {}

  // llama2.c puts the control tokens on lines of their own.
  static std::string control_name(std::string name) {
    if (name.size() > 2 && name.front() == '\n' && name.back() == '\n') return name.substr(1, name.size() - 2);
    return name;
  }

  void read(uint32_t vocab) {
    const auto longest = field<uint32_t>("the length of the longest token");
    while (at_ < file_.size()) {
      const size_t id = tokens.size();
      const auto score = field<float>("a score");
      const auto length = field<int32_t>("a length");
      if (length < 0 || static_cast<uint32_t>(length) > longest)
        fail(fmt::format("token {} has {} bytes where the longest has {}; this is no tokenizer file of llama2.c", id, length,
                         longest));
      if (static_cast<uint64_t>(length) > file_.size() - at_)
        fail(fmt::format("the file ends within token {}, which has {} bytes from byte {} on", id, length, at_));
      tokens.emplace_back(reinterpret_cast<const char*>(file_.data()) + at_, static_cast<size_t>(length));
      scores.push_back(static_cast<double>(score));
      at_ += static_cast<uint64_t>(length);
    }
    if (tokens.size() != vocab)
      fail(fmt::format("it has {} tokens where the model's vocabulary is {}; this is the tokenizer of another model", tokens.size(),
                       vocab));
    types.assign(tokens.size(), TokenType::normal);
    for (size_t id = 0; id < tokens.size(); ++id) {
      if (id <= kEos) {
        tokens[id] = control_name(std::move(tokens[id]));
        types[id] = id == kUnknown ? TokenType::unknown : TokenType::control;
      } else if (const auto byte = byte_token(tokens[id])) {
        tokens[id].assign(1, *byte);
        types[id] = TokenType::byte;
      }
    }
  }

  std::vector<std::string> tokens;
  std::vector<double> scores;
  std::vector<uint32_t> types;

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(fmt::format("{}: {}", file_.path(), what)); }

  template <class T>
  T field(const char* what) {
    if (file_.size() - at_ < sizeof(T))
      fail(fmt::format("the file ends within {}, at byte {} (token {})", what, at_, tokens.size()));
    at_ += sizeof(T);
    return get_le<T>(file_.data() + at_ - sizeof(T));
  }

  MappedFile file_;
  uint64_t at_ = 0;
};

}  // namespace

void tok_import_llama2c(const std::string& path, uint32_t vocab, Meta& out) {
  if (vocab <= kEos)
    throw Error(fmt::format("{}: a vocabulary of {} has no room for this tokenizer's special tokens", path, vocab));
  TokenFile file(path);
  file.read(vocab);
  TokParts parts;
  parts.byte_level = false;
  parts.tokens = std::move(file.tokens);
  parts.scores = std::move(file.scores);
  parts.types = std::move(file.types);
  parts.add_prefix = BlankBefore::each;
  parts.byte_fallback = true;
  parts.unknown = kUnknown;
  parts.specials = {kUnknown, kBos, kEos};
  parts.bos = kBos;
  parts.add_bos = true;
  // its training texts follow each other with nothing but BOS between them: a reply that comes to one is at its end
  parts.ends = {kBos, kEos};
  tok_write(std::move(parts), path, out);
}

}  // namespace nyb
