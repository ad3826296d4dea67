// import_mnm1.cpp - the tokenizer file that goes with version 1 of the model file (MNTOKZR1): a byte-level BPE by its merges alone
// (docs/model-file.md, "Version 1").
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "kern/error.h"
#include "model/bytes.h"
#include "model/mapped_file.h"
#include "text/regex_import.h"
#include "text/tok_parts.h"
#include "text/tokenizer.h"

namespace nyb {
namespace {

constexpr std::string_view kMagic1 = "MNTOKZR1";
constexpr uint64_t kHeaderBytes = 32;
constexpr uint32_t kBytes = 256;
constexpr uint64_t kMostText = uint64_t{64} << 20;  // of all tokens: a doubling with each merge would end in 2^32000 bytes
constexpr std::array<std::string_view, 5> kSpecials = {"<|bos|>", "<|user|>", "<|assistant|>", "<|system|>", "<|end|>"};
enum : uint32_t { kBos = 0, kEnd = 4 };

// GPT-4's pattern with one or two digits at a time.
constexpr std::string_view kPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kTemplate =
    "{{ bos_token }}{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

class TokenFile1 {
 public:
  explicit TokenFile1(const std::string& path) : file_(path) {}

  TokParts read(uint32_t vocab, uint64_t hash) {
    header(vocab, hash);
    parts_.tokens.resize(vocab);
    for (uint32_t b = 0; b < kBytes; ++b) parts_.tokens[b].assign(1, static_cast<char>(b));
    for (uint32_t i = 0; i < merges_; ++i) merge(i);
    for (uint32_t i = 0; i < specials_; ++i) {
      const uint32_t id = first_special_ + i;
      parts_.tokens[id] = i < kSpecials.size() ? std::string(kSpecials[i]) : fmt::format("<|reserved_{}|>", i - kSpecials.size());
      parts_.specials.insert(id);
    }
    parts_.patterns.push_back(regex_import(kPattern, file_.path()));
    parts_.bos = first_special_ + kBos;
    parts_.add_bos = true;
    parts_.ends.insert(first_special_ + kEnd);
    parts_.chat_template = kTemplate;
    return std::move(parts_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(fmt::format("{}: {}", file_.path(), what)); }
  uint32_t u32(uint64_t at) const { return get_le<uint32_t>(file_.data() + at); }

  void header(uint32_t vocab, uint64_t hash) {
    if (file_.size() < kHeaderBytes || std::string_view(reinterpret_cast<const char*>(file_.data()), kMagic1.size()) != kMagic1)
      fail("this is no MNTOKZR1 tokenizer file");
    if (const uint32_t own = u32(8); own != vocab)
      fail(fmt::format("it has {} tokens where the model's vocabulary is {}; this is the tokenizer of another model", own, vocab));
    merges_ = u32(12);
    first_special_ = u32(16);
    specials_ = u32(20);
    if (const auto own = get_le<uint64_t>(file_.data() + 24); hash != 0 && own != hash)
      fail(fmt::format("its hash is {:016x} where the model asks for {:016x}; this is the tokenizer of another model", own, hash));
    if (file_.size() != kHeaderBytes + uint64_t{merges_} * 4)
      fail(fmt::format("the file has {} bytes where {} merges take {}; it was cut off or added to", file_.size(), merges_,
                       kHeaderBytes + uint64_t{merges_} * 4));
    if (specials_ < kSpecials.size() || first_special_ > vocab || specials_ > vocab - first_special_ ||
        uint64_t{kBytes} + merges_ > first_special_)
      fail(fmt::format("{} special tokens from {} on do not fit behind {} bytes and {} merges in a vocabulary of {}", specials_,
                       first_special_, kBytes, merges_, vocab));
  }

  // Merge i makes token 256 + i of two that are there before it.
  void merge(uint32_t i) {
    const uint32_t pair = u32(kHeaderBytes + uint64_t{i} * 4), a = pair & 0xffff, b = pair >> 16, id = kBytes + i;
    if (a >= id || b >= id) fail(fmt::format("merge {} makes token {} of {} and {}, which are not before it", i, id, a, b));
    std::string& made = parts_.tokens[id];
    made = parts_.tokens[a] + parts_.tokens[b];
    text_ += made.size();
    if (text_ > kMostText) fail(fmt::format("the tokens up to {} have {} bytes; {} are the most", id, text_, kMostText));
    parts_.merges.insert(parts_.merges.end(), {a, b, id});
  }

  MappedFile file_;
  uint32_t merges_ = 0, first_special_ = 0, specials_ = 0;
  uint64_t text_ = 0;  // bytes of the tokens so far
  TokParts parts_;
};

}  // namespace

void tok_import_mnm1(const std::string& path, uint32_t vocab, uint64_t hash, Meta& out) {
  tok_write(TokenFile1(path).read(vocab, hash), path, out);
}

}  // namespace nyb
