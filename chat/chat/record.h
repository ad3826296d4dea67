// record.h - a conversation kept in a file: what was said, and all that another machine needs to give the same answer again.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>
#include "chat/reply.h"
#include "chat/settings.h"
#include "engine/kv_cache.h"
#include "engine/sampler.h"

namespace nyb {

// What happened, in order. An event is all that the state of the conversation after it depends on, given the one before.
struct Event {
  enum class Kind {
    system,   // the system message became `text`
    message,  // `text`, or the ids of `prompt`, was answered by `reply`
    given,    // the same from elsewhere: the reply was not computed here, and is not compared
    undo      // the newest message went, with its reply
  };
  Kind kind = Kind::message;
  std::string text;
  std::vector<int32_t> prompt;  // of a message that came as ids; else empty
  // the rest: of message and given
  std::string reply;
  std::vector<int32_t> ids;
  // the rest: of message
  Settings settings;
  Rng::State rng{};  // before the reply
  Stop stop = Stop::max;
  std::vector<uint64_t> rows;
  std::vector<uint32_t> rereads;
  std::string fingerprint;
};

Event event_of(const Reply& reply, const Settings& settings, const Rng::State& before);

struct Record {
  std::string model;  // the file as it was named; empty: the built-in one
  std::string name;   // what the model calls itself
  uint64_t checksum = 0;
  KvType kv = KvType::f32;
  uint32_t ctx = 0;
  bool raw = false;
  std::string date;                                            // where the chat template tells one; else empty
  std::vector<std::pair<std::string, std::string>> variables;  // of the chat template
  std::string kernel;                                          // kernel and threads are told, not compared: they decide no bit
  uint32_t threads = 0;
  std::vector<Event> events;
  bool changed = false;  // when read: some byte is not as it was written
};

// The file's text: JSON whose last member is the XXH3-64 of all bytes before it.
std::string record_text(const Record& r);

// Throws Error naming the file and what in it is no record.
Record record_read(const std::string& path);

// Writes it whole or not at all. record_check tells beforehand what would be in the way: throws Error where `path` is a file
// that is no record, or cannot be written.
void record_write(const std::string& path, const Record& r);
void record_check(const std::string& path);

}  // namespace nyb
