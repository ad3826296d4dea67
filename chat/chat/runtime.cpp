// runtime.cpp - loading, and the banner.
#include "chat/runtime.h"
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include "chat/load.h"
#include "chat/report.h"
#include "common/app.h"
#include "common/model_cache.h"
#include "engine/kern_measure.h"
#include "engine/read_order.h"
#include "kern/signal_mask.h"
#include "model/look.h"

namespace nyb {
namespace {

constexpr uint32_t kUsualContext = 4096;  // a cache for the longest context of large models would take gigabytes

const char* env_of(const char* name) {
  const char* v = std::getenv(name);
  return v && *v ? v : nullptr;
}

// Seconds since it was asked last.
class Watch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Signals are for the main thread, which may be waiting at the prompt: the threads started under this never take one. Faults are
// not sent but met, by any thread: blocked, they would end the process past its handlers (a model file that shrinks is a SIGBUS).
sigset_t all_but_faults() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&all, fault);
  return all;
}

}  // namespace

bool is_built_in(const ChatOptions& o) { return o.model.empty() && !env_of("NYBBLE_MODEL"); }

std::string model_path(const ChatOptions& o) {
  if (!o.model.empty()) return o.model;
  if (const char* env = env_of("NYBBLE_MODEL")) return env;
  const auto path = (std::filesystem::path(self_folder()) / "../share/nybble/pocket.mnm").lexically_normal();
  if (!file_there(path.string()))
    throw Error(fmt::format("the built-in model is not at '{}'; name a model file, or set NYBBLE_MODEL", path.string()));
  return path.string();
}

Runtime runtime_open(const ChatOptions& o, const CpuFeatures& cpu) {
  Runtime r;
  const char* const asked = env_of("NYBBLE_KERNEL");
  r.kern = kern_pick(cpu, o.kernel, asked);
  r.threads = threads_pick(static_cast<long>(o.threads), env_of("NYBBLE_THREADS"));
  Watch watch;
  r.named = model_path(o);
  const CachedModel file = cached_model(r.named, progress_reporter("converting the model", !o.quiet));
  if (!file.source.empty() && !o.quiet)
    note(fmt::format("({} '{}' {}, to '{}')", file.made ? "converted" : "found", human_words(file.source),
                     file.made ? "once" : "converted already", human_words(file.path)));
  if (!o.quiet)
    for (const std::string& n : file.notes) note("(" + human_words(n) + ")");
  r.model = load_model(o, file.path);
  r.load.model = watch.lap();
  try {
    r.tok = Tokenizer::from_meta(r.model->meta);
  } catch (const Error& e) { throw Error(fmt::format("'{}': {}", human_words(r.named), e.what())); }
  const std::string* jinja = r.model->meta.find<std::string>(key::chat_template);
  if (r.tok && jinja && !o.raw) {
    try {
      r.tmpl = ChatTemplate::parse(*jinja, *r.tok, o.tmpl);
    } catch (const Error& e) { r.tmpl_fault = human_words(e.what()); }  // the model can do all else
  }
  r.load.text = watch.lap();
  if (o.kernel.empty() && !asked) r.kern = kern_measure(cpu, *r.model);
  const ReadOrder order = read_order(r.kern.table, *r.model);
  r.kern.table = order.table;
  if (order.time[0] > 0) r.kern.reason += "; " + read_order_told(order);
  EngOptions e;
  e.ctx = o.ctx ? o.ctx : std::min(r.model->shape.ctx, kUsualContext);
  e.kv = o.kv;
  e.chunk = std::min(o.chunk, e.ctx);
  e.cancel = &interrupt_flag();
  const SignalsBlocked blocked(all_but_faults());
  r.pool = std::make_unique<Pool>(r.threads.count);
  r.engine = std::make_unique<Engine>(*r.model, r.kern.table, *r.pool, e);
  r.load.engine = watch.lap();
  return r;
}

std::string no_template(const Runtime& r) {
  const std::string name = human_words(r.named);
  if (r.tmpl_fault.empty()) return fmt::format("'{}' has no chat template", name);
  return fmt::format("'{}' has a chat template that is not understood ({})", name, r.tmpl_fault);
}

std::string banner(const Runtime& r) {
  const Model& m = *r.model;
  return fmt::format("{}: {} parameters, {}, {}; kernel {} ({}); {} thread{} ({}){}\n", human_words(m.name),
                     human_count(m.shape.params), m.type_name, human_bytes(m.file_bytes), path_name(r.kern.table.path),
                     r.kern.reason, r.threads.count, r.threads.count == 1 ? "" : "s", r.threads.reason,
                     r.engine->kv() == KvType::f32 ? "" : fmt::format("; cache {}", kv_name(r.engine->kv())));
}

}  // namespace nyb
