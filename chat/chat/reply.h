// reply.h - from a prompt's ids to a reply: reading the prompt, sampling, streaming.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "chat/npy.h"
#include "chat/runtime.h"
#include "engine/draft.h"
#include "engine/logprob.h"
#include "text/conversation.h"
#include "text/stop_match.h"

namespace nyb {

enum class Stop { end, text, max, context, interrupted };
std::string_view stop_name(Stop s);

struct Reply {
  std::vector<int32_t> ids;  // as sampled, the end id included
  std::string text;          // whole UTF-8, without the stop text that ended it; of a model without a tokenizer: the ids
  Stop stop = Stop::max;
  std::string stop_text;                    // the setting's text, where it ended the reply
  std::vector<std::vector<LogProb>> probs;  // with --logprobs N, for each id: its own, then the N likeliest
  std::vector<uint64_t> rows;               // for each id: the hash of the logits that it was sampled from
  std::vector<uint32_t> rereads;            // after how many ids old turns went, and the rest was run again
  uint32_t prompt_tokens = 0;               // all of the prompt
  uint32_t cached_tokens = 0;               // of them, kept from before
  uint32_t steps = 0;                       // passes over the weights after the prompt
  uint32_t guessed = 0, guessed_right = 0;  // guesses that the reply decided on, and those that spared a pass of their own
  uint32_t reread_tokens = 0;               // run again after old turns went in the middle of the reply
  uint32_t context = 0;                     // positions filled at the end
  double prompt_seconds = 0, reread_seconds = 0, reply_seconds = 0;  // apart from each other
  uint64_t fingerprint = 0;
  std::string fingerprint_hex;
};

// Runs ids (at least one) from position pos on; each position's logits go to `row`. For work that wants all of them without
// holding all of them.
void step_rows(Engine& e, std::span<const int32_t> ids, uint32_t pos, uint32_t chunk,
               const std::function<void(std::span<const float>)>& row);

class Replier {
 public:
  // runtime and options must outlive it; the options may change between two replies.
  Replier(Runtime& r, const ChatOptions& o, uint64_t seed);

  Rng rng() const { return sampler_.rng; }
  void set_rng(const Rng& rng) { sampler_.rng = rng; }

  // Text as it comes, in whole characters.
  std::function<void(std::string_view)> on_text;
  // The context filled up and old turns may go: returns the ids to run instead. May be empty (none may go).
  std::function<std::optional<Prompt>(std::span<const int32_t> so_far)> on_full;
  std::optional<size_t> stop_after;  // ends a reply of so many ids as an interruption would
  NpyOut* logits = nullptr;          // every position's logits go there, and into the fingerprint

  // Ctrl+C ends it early with Stop::interrupted; the flag stays set. Throws Error, and what was shown by then stays shown.
  Reply run(const std::vector<int32_t>& prompt);

  // Some logits were NaN or infinite so far, and were left out.
  bool odd_logits() const { return sampler_.warned_not_finite; }

 private:
  struct Run;
  uint32_t keep_shared(const std::vector<int32_t>& ids);
  void read_prompt(Run& run, const std::vector<int32_t>& ids);
  void read_again(Run& run, const std::vector<int32_t>& ids);
  void sample(Run& run);
  void advance(Run& run, int32_t id);
  void settle(Run& run, size_t tried);
  void step_ahead(Run& run, int32_t id);
  void record(Run& run, int32_t id) const;
  bool show(Run& run, int32_t id);

  Runtime& r_;
  const ChatOptions& o_;
  Sampler sampler_;
  Drafter drafter_;              // what passes took, and how often it was right, in the replies before as well
  std::vector<int32_t> cached_;  // ids whose keys and values the cache holds
  std::vector<float> rows_;      // logits of the last pass's positions
  std::span<float> row_;         // and of the last position, one of them
};

}  // namespace nyb
