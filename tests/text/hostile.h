// hostile.h - time and stack for the tests of hostile texts.
#pragma once
#include <functional>
#include <string>

#include "support/build.h"
#include "text/tokenizer.h"

namespace nyb::test {

// What a text of a megabyte may take of one core, whatever else runs. The work is linear: 0.2 s; sanitizers are allowed more.
constexpr double kMostSeconds = 1.0 * kPatience;

double spent();  // seconds of processor time of this thread

// Encodes `text`, which must take less than kMostSeconds and give at most `most_ids`, and come back by decode: as itself, or as
// `back`.
void expect_fast(const Tokenizer& tok, const std::string& text, size_t most_ids, const char* what,
                 const std::string* back = nullptr);

// Runs `body` on a stack of so many bytes; 256 KiB are a fraction of what texts of a megabyte would take if they were kept there.
void on_small_stack(const std::function<void()>& body, size_t bytes = size_t{256} << 10);

}  // namespace nyb::test
