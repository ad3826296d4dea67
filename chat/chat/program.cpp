// program.cpp - what chat does, from its options to its exit code.
#include "chat/program.h"
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <optional>
#include "chat/eval.h"
#include "chat/memory.h"
#include "chat/options.h"
#include "chat/replay.h"
#include "chat/report.h"
#include "chat/runtime.h"
#include "chat/session.h"
#include "chat/verify.h"
#include "common/app.h"
#include "common/input.h"

namespace nyb {
namespace {

// -p, then -f, then what is piped in, with a blank line between. Nothing is cut off a text that the model continues.
std::string message_of(const ChatOptions& o, bool raw) {
  std::string all;
  bool first = true;
  const auto add = [&](std::string_view text) {
    if (!raw) text = without_newline(text);
    if (!first) all += "\n\n";
    all += text;
    first = false;
  };
  if (o.message) add(*o.message);
  if (o.file) add(*o.file == "-" ? read_whole_stdin() : read_whole(*o.file));
  if (o.message && !(o.file && *o.file == "-") && !stdin_is_terminal())
    if (const std::string piped = read_whole_stdin(); !piped.empty()) add(piped);
  return all;
}

int run(ChatOptions& o, const CpuFeatures& cpu) {
  o.check();
  if (o.verify || !o.logits.empty() || o.fingerprint || !o.replay.empty() || !o.save.empty()) out_optional();
  // Read before the model is loaded: a file that is not there is said at once.
  const std::string text = o.message || o.file ? message_of(o, o.raw) : std::string();
  std::optional<Record> rec;
  if (!o.replay.empty()) replay_options(rec.emplace(record_read(o.replay)), o);
  Runtime r = runtime_open(o, cpu);
  if (!o.quiet) err_write(banner(r));
  const auto with_stats = [&](int code) {
    if (o.stats) note(usage_lines(r));
    return code;
  };
  if (o.verify) return with_stats(verify_run(r, cpu));
  if (r.tok && !o.quiet)
    if (const std::string n = r.tok->unicode_note(); !n.empty()) note(fmt::format("({})", n));
  if (rec) return with_stats(replay_run(r, o, *rec));
  if (!o.eval.empty()) return with_stats(eval_run(r, o));
  Session session(r, o);
  // A template that does not work is said in any case: the answers are not what the model's maker meant.
  if ((!o.quiet || !r.tmpl_fault.empty()) && !o.raw && !o.ids && r.tok && !r.tmpl)
    note(r.tmpl_fault.empty() ? "The model has no chat template: it continues each text (completion mode)."
                              : fmt::format("The model continues each text (completion mode), since {}.", r.tmpl_fault));
  if (o.ids) return session.ask_ids(*o.ids) ? 0 : 130;
  if (o.single()) return session.ask(text) ? 0 : 130;
  return session.loop();
}

}  // namespace

int chat_main(int argc, char** argv, const CpuFeatures& cpu) {
  ChatOptions o;
  CLI::App app{"Talk to a language model.", "chat"};
  chat_options(app, o);
  return app_run(app, argc, argv, [&] { return run(o, cpu); });
}

}  // namespace nyb
