// huge.cpp - what the system says of pages.
#include "huge.h"
#include <fmt/format.h>
#include "common/app.h"
#include "engine/memory.h"

namespace nyb {
namespace {

constexpr double kMostHuge = 0.9;  // of memory in huge pages; less is said

}  // namespace

void huge_pages_needed(const std::string& option) {
  if (const std::string off = huge_pages_off(); !off.empty()) throw Error(fmt::format("{} is not to be had here: {}", option, off));
}

void note_huge(const std::string& what, std::span<const std::byte> memory, std::vector<std::string>& notes) {
  const double share = static_cast<double>(range_use(memory.data(), memory.size()).huge) / static_cast<double>(memory.size());
  if (share < kMostHuge) notes.push_back(fmt::format("{}: only {:.0f} % of it is in 2 MiB pages", human_words(what), 100 * share));
}

}  // namespace nyb
