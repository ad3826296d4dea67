// model_cache.h - models that were converted for direct use, kept in the cache folder ($XDG_CACHE_HOME/nybble/models).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

struct CachedModel {
  std::string path;                // the model file to run
  std::string source;              // what it was made of; empty: it is what the user named
  bool made = false;               // just now
  std::vector<std::string> notes;  // of the conversion: what the weights lost, what was kept otherwise
};

// The model file to run for what the user named: that itself where it is one, or what does not say that it is one of those that are
// converted (loading says what it is), else the file made of it, which is converted where the cache has none of it. The name in the
// cache holds the source's identity (path, and name, size and time of each of its files) and the version of what is written, so
// that a changed source is converted anew. Written whole or not at all; memory stays near the largest tensor. Throws Error;
// Interrupted by way of `progress`.
CachedModel cached_model(const std::string& named, const std::function<void(uint64_t, uint64_t)>& progress);

struct CacheEntry {
  std::string path, source;  // source: empty where the file does not say
  uint64_t bytes = 0;
  enum class State : uint8_t { current, changed, gone, damaged, unfinished } state = State::current;
};
std::string_view cache_state_text(CacheEntry::State s);

// What is in the cache, by name, without what somebody may still be writing. Nothing where there is no cache yet.
std::vector<CacheEntry> model_cache();

// Removes those that are not current, or all. Returns what was removed.
std::vector<CacheEntry> model_cache_prune(bool all);

}  // namespace nyb
