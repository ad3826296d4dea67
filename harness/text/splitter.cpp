// splitter.cpp - PCRE2 compiled and run.
#include "text/splitter.h"

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>

#include "kern/error.h"
#include "text/utf8.h"

namespace nyb {
namespace {

struct Free {
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
  void operator()(pcre2_compile_context* p) const { pcre2_compile_context_free(p); }
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
  void operator()(pcre2_jit_stack* p) const { pcre2_jit_stack_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

constexpr size_t kJitStackFirst = size_t{32} << 10, kJitStackMost = size_t{4} << 20;
constexpr uint32_t kHeapKib = 64 << 10;      // what backtracking may remember
constexpr uint64_t kStepsBase = 10'000'000;  // and how often it may step back: PCRE2's own figure, and more for long texts
constexpr uint64_t kStepsPerByte = 64;

std::string error_text(int code) {
  std::array<unsigned char, 160> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

std::string splitter_unicode() {
  std::array<char, 32> text{};
  pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, text.data());
  return text.data();
}

struct Splitter::Code {
  explicit Code(const std::string& text);
  Owned<pcre2_code> pattern;
  bool jit = false;
};

Splitter::Code::Code(const std::string& text) {
  const Owned<pcre2_compile_context> context(pcre2_compile_context_create(nullptr));
  if (!context) throw std::bad_alloc();
  // What "." leaves out must not depend on how the library was built.
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int code = 0;
  size_t offset = 0;
  pattern.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &code, &offset, context.get()));
  if (!pattern) throw Error(fmt::format("the pre-tokenizer's pattern is wrong at character {}: {}", offset, error_text(code)));
  // Only speed: where code cannot be made at run time, the library interprets.
  jit = pcre2_jit_compile(pattern.get(), PCRE2_JIT_COMPLETE) == 0;
}

Splitter::Splitter(const std::vector<std::string>& patterns) {
  if (patterns.empty() || patterns.size() > max_patterns)
    throw Error(fmt::format("the pre-tokenizer has {} patterns, 1 to {} are possible", patterns.size(), max_patterns));
  codes_.reserve(patterns.size());
  for (const std::string& p : patterns) codes_.emplace_back(p);
}

Splitter::~Splitter() = default;

// What one call of split needs; a Splitter itself is constant, so that threads may share it.
class Splitter::Matcher {
 public:
  Matcher(const Code& code, size_t text_bytes)
      : code_(code), context_(pcre2_match_context_create(nullptr)), data_(pcre2_match_data_create(1, nullptr)) {
    if (!context_ || !data_) throw std::bad_alloc();
    const uint64_t steps = kStepsBase + kStepsPerByte * text_bytes;
    pcre2_set_match_limit(context_.get(), static_cast<uint32_t>(std::min<uint64_t>(steps, UINT32_MAX)));
    pcre2_set_heap_limit(context_.get(), kHeapKib);
    if (code_.jit) {
      jit_stack_.reset(pcre2_jit_stack_create(kJitStackFirst, kJitStackMost, nullptr));
      if (jit_stack_) pcre2_jit_stack_assign(context_.get(), nullptr, jit_stack_.get());
    }
  }

  // The next match from `from` on, never an empty one; false when there is none.
  bool next(std::string_view valid, size_t from, size_t& begin, size_t& end) {
    // The whole text was checked to be UTF-8: checking it again at each match would take quadratic time.
    constexpr uint32_t options = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY;
    const auto run = [&](uint32_t extra) {
      return pcre2_match(code_.pattern.get(), reinterpret_cast<PCRE2_SPTR>(valid.data()), valid.size(), from, options | extra,
                         data_.get(), context_.get());
    };
    int rc = run(0);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) rc = run(PCRE2_NO_JIT);  // the interpreter keeps its state on the heap
    if (rc == PCRE2_ERROR_NOMATCH) return false;
    if (rc < 0) throw Error(fmt::format("the pre-tokenizer's pattern does not get through the text: {}", error_text(rc)));
    const size_t* const place = pcre2_get_ovector_pointer(data_.get());
    begin = place[0];
    end = place[1];
    // Before 10.38 \K in a lookaround could set a match's start anywhere; then words would not be the text any more.
    if (begin < from || end <= begin) throw Error("the pre-tokenizer's pattern moves the start of its matches");
    return true;
  }

 private:
  const Code& code_;
  Owned<pcre2_match_context> context_;
  Owned<pcre2_match_data> data_;
  Owned<pcre2_jit_stack> jit_stack_;
};

void Splitter::split(std::string_view text, const std::function<void(std::string_view)>& word) const {
  std::vector<Matcher> matchers;
  matchers.reserve(codes_.size());
  for (const Code& code : codes_) matchers.emplace_back(code, text.size());
  // Valid UTF-8, cut by the patterns from `stage` on.
  const std::function<void(size_t, std::string_view)> cut = [&](size_t stage, std::string_view valid) {
    if (stage == matchers.size()) return word(valid);
    size_t begin = 0, end = 0;
    for (size_t at = 0; at < valid.size(); at = end) {
      if (!matchers[stage].next(valid, at, begin, end)) begin = end = valid.size();
      if (begin > at) cut(stage + 1, valid.substr(at, begin - at));
      if (end > begin) cut(stage + 1, valid.substr(begin, end - begin));
    }
  };
  while (!text.empty()) {
    const size_t run = utf8_valid_prefix(text);
    cut(0, text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) break;
    const size_t bad = utf8_ill_formed(text);
    word(text.substr(0, bad));
    text.remove_prefix(bad);
  }
}

}  // namespace nyb
