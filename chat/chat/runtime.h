// runtime.h - a loaded model with all that runs it.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include "chat/options.h"
#include "engine/engine.h"
#include "engine/pool.h"
#include "engine/threads.h"
#include "kern/cpu.h"
#include "text/template.h"
#include "text/tokenizer.h"

namespace nyb {

// Seconds, apart from each other.
struct LoadTimes {
  double model = 0, text = 0, engine = 0;
  double total() const { return model + text + engine; }
};

struct Runtime {
  std::string named;  // what was asked for: the model file, or what it was converted from
  std::unique_ptr<Model> model;
  std::unique_ptr<Tokenizer> tok;    // nullptr: the model has none
  std::optional<ChatTemplate> tmpl;  // none: the model has none, or one that is not understood, or --raw
  std::string tmpl_fault;            // what of the model's template is not understood; empty: nothing
  KernChoice kern{};
  ThreadChoice threads;
  LoadTimes load;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<Engine> engine;
  double read_gbs = 0;  // what a pass that only reads the weights gives (weights_read_speed); 0: not measured yet
};

// Loads the model that the options name and starts an engine on it. Throws Error.
Runtime runtime_open(const ChatOptions& o, const CpuFeatures& cpu);

// The file to load: the options', else NYBBLE_MODEL, else ../share/nybble/pocket.mnm as the program's folder sees it.
std::string model_path(const ChatOptions& o);
bool is_built_in(const ChatOptions& o);  // it is the last of these

// "'model.mnm' has no chat template", or that it has one that is not understood, and why: the beginning of a sentence about a model
// that runs without.
std::string no_template(const Runtime& r);

// The line that says what runs and why.
std::string banner(const Runtime& r);

}  // namespace nyb
