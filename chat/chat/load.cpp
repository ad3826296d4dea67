// load.cpp - the check before a model is copied, and the words after it.
#include "chat/load.h"
#include <fmt/format.h>
#include <filesystem>
#include "chat/report.h"
#include "common/app.h"
#include "engine/memory.h"

namespace nyb {
namespace {

// Refused before the first byte is read: a machine that has run out of memory ends whatever it likes.
void check_room(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return;  // loading says what it is instead
  const uint64_t wanted = std::filesystem::file_size(path, ec);
  const MemoryLeft left = memory_left();
  if (ec || wanted <= left.bytes) return;
  const std::string by =
      left.group_limit ? fmt::format("the control group's limit of {} leaves", human_bytes(left.group_limit)) : "this machine has";
  throw Error(fmt::format("--load huge would copy the {} of '{}' into memory, but {} only {} free; --load map needs no copy",
                          human_bytes(wanted), path, by, human_bytes(left.bytes)));
}

std::string huge_note(const Model& m) {
  const RangeUse use = range_use(m.bytes().data(), m.bytes().size());
  std::string s = fmt::format("(read into memory in {:.2f} s: {} of {} in huge pages", m.read_seconds, human_bytes(use.huge),
                              human_bytes(use.resident));
  if (const std::string off = huge_pages_off(); !off.empty()) s += fmt::format("; {}", off);
  return s + ")";
}

}  // namespace

std::unique_ptr<Model> load_model(const ChatOptions& o, const std::string& path) {
  if (o.load_mode == LoadMode::map) return eng_load(path);
  check_room(path);
  std::unique_ptr<Model> m = eng_load(path, {.mode = o.load_mode, .progress = progress_reporter("reading the model", !o.quiet)});
  if (!o.quiet) note(huge_note(*m));
  return m;
}

}  // namespace nyb
