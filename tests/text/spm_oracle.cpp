#include "spm_oracle.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "model/gguf.h"
#include "support/data.h"

namespace nyb::test {
namespace {

const std::string kSpace = "\xe2\x96\x81";

std::string replaced(std::string_view s, std::string_view what, std::string_view by) {
  std::string out;
  for (size_t i = 0; i < s.size();) {
    const bool here = s.substr(i, what.size()) == what;
    out += here ? by : s.substr(i, 1);
    i += here ? what.size() : 1;
  }
  return out;
}

// The length of the UTF-8 character at s[i] where it is a whole one, 1 for any other byte.
size_t char_length(std::string_view s, size_t i) {
  const auto c = static_cast<unsigned char>(s[i]);
  const size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 1;
  if (i + n > s.size()) return 1;
  for (size_t k = 1; k < n; ++k)
    if ((s[i + k] & 0xc0) != 0x80) return 1;
  const auto second = n > 1 ? static_cast<unsigned char>(s[i + 1]) : 0u;
  const bool wrong = (c == 0xe0 && second < 0xa0) || (c == 0xed && second >= 0xa0) || (c == 0xf0 && second < 0x90) ||
                     (c == 0xf4 && second >= 0x90);
  return wrong ? 1 : n;
}

}  // namespace

RawVocab llama2c_vocab(const std::filesystem::path& bin) {
  const std::string b = read_file(bin);
  RawVocab v;
  for (size_t at = 4; at < b.size();) {
    float score = 0;
    int32_t n = 0;
    std::memcpy(&score, b.data() + at, 4);
    std::memcpy(&n, b.data() + at + 4, 4);
    v.scores.push_back(score);
    v.pieces.push_back(b.substr(at + 8, static_cast<size_t>(n)));
    at += 8 + static_cast<size_t>(n);
  }
  v.types.assign(v.pieces.size(), 1);
  return v;
}

RawVocab gguf_vocab(const std::filesystem::path& file) {
  const Gguf gguf(file.string());
  RawVocab v;
  for (const std::string_view piece : gguf.strs("tokenizer.ggml.tokens")) v.pieces.emplace_back(piece);
  for (const double score : gguf.floats("tokenizer.ggml.scores")) v.scores.push_back(static_cast<float>(score));
  for (const int64_t type : gguf.ints("tokenizer.ggml.token_type")) v.types.push_back(static_cast<int>(type));
  return v;
}

SpmOracle::SpmOracle(RawVocab v) : v_(std::move(v)) {
  for (size_t i = 0; i < v_.pieces.size(); ++i) {
    const std::string& p = v_.pieces[i];
    if (v_.types[i] == 6) bytes_.at(std::stoul(p.substr(3, 2), nullptr, 16)) = static_cast<int32_t>(i);
    if (v_.types[i] == 1) normal_.emplace(p, static_cast<int32_t>(i));
    all_.emplace(p, static_cast<int32_t>(i));
  }
}

Ids SpmOracle::sentencepiece(std::string_view text) const {
  if (text.empty()) return {};
  const std::string s = replaced(" " + std::string(text), " ", kSpace);
  struct Symbol {
    size_t from, bytes;
    float score;  // of it and the next one; -inf: they make nothing
  };
  std::vector<Symbol> symbols;
  for (size_t i = 0; i < s.size(); i += symbols.back().bytes) symbols.push_back({i, char_length(s, i), 0});
  constexpr float none = -HUGE_VALF;
  const auto look = [&](size_t i) {
    if (i + 1 >= symbols.size()) return none;
    const auto it = normal_.find(s.substr(symbols[i].from, symbols[i].bytes + symbols[i + 1].bytes));
    return it == normal_.end() ? none : v_.scores[static_cast<size_t>(it->second)];
  };
  for (size_t i = 0; i < symbols.size(); ++i) symbols[i].score = look(i);
  for (;;) {
    size_t best = 0;
    for (size_t i = 1; i < symbols.size(); ++i)
      if (symbols[i].score > symbols[best].score) best = i;
    if (symbols[best].score == none) break;
    symbols[best].bytes += symbols[best + 1].bytes;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    symbols[best].score = look(best);
    if (best > 0) symbols[best - 1].score = look(best - 1);
  }
  Ids out;
  for (const Symbol& y : symbols) {
    const std::string piece = s.substr(y.from, y.bytes);
    if (const auto it = normal_.find(piece); it != normal_.end()) {
      out.push_back(it->second);
    } else {
      for (const char c : piece) out.push_back(bytes_[static_cast<unsigned char>(c)]);
    }
  }
  return out;
}

Ids SpmOracle::llama2c(const std::string& text) const {
  const auto find = [&](const std::string& s) {
    const auto it = all_.find(s);
    return it == all_.end() ? -1 : it->second;
  };
  Ids tokens;
  if (!text.empty()) tokens.push_back(find(" "));
  std::string buffer;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0xc0) != 0x80) buffer.clear();
    buffer += text[i];
    if (i + 1 < text.size() && (text[i + 1] & 0xc0) == 0x80 && buffer.size() < 4) continue;
    if (const int32_t id = find(buffer); id != -1) {
      tokens.push_back(id);
    } else {
      for (const char c : buffer) tokens.push_back(static_cast<unsigned char>(c) + 3);
    }
    buffer.clear();
  }
  for (;;) {
    float best_score = -1e10F;
    int32_t best_id = -1;
    size_t best = 0;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      const auto piece = [&](size_t k) { return v_.pieces[static_cast<size_t>(tokens[k])]; };
      const int32_t id = find(piece(i) + piece(i + 1));
      if (id == -1 || v_.scores[static_cast<size_t>(id)] <= best_score) continue;
      best_score = v_.scores[static_cast<size_t>(id)];
      best_id = id;
      best = i;
    }
    if (best_id == -1) return tokens;
    tokens[best] = best_id;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

}  // namespace nyb::test
