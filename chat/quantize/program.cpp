#include "quantize/program.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <optional>

#include "common/apart.h"
#include "common/app.h"
#include "common/import_model.h"
#include "common/model_cache.h"
#include "common/options.h"
#include "model/convert.h"
#include "model/writer.h"
#include "quantize/report.h"
#include "text/template.h"
#include "text/tokenizer.h"

namespace nyb {
namespace {

struct Options {
  std::string in, out, type, head, name, tokenizer;
  bool fit = true, quiet = false, list = false;
  std::string prune;
};

// Nothing for "keep".
std::optional<TType> type_of(const std::string& s) {
  if (s == "keep") return std::nullopt;
  return s == "f32" ? TType::f32 : s == "q4" ? TType::q4 : TType::q8;
}

// What chat will meet in the template that is kept. The import made sure that the tokenizer loads.
std::string template_note(const Meta& meta) {
  const std::string* jinja = meta.find<std::string>(key::chat_template);
  const auto tok = jinja ? Tokenizer::from_meta(meta) : nullptr;
  if (!tok) return {};
  try {
    ChatTemplate::parse(*jinja, *tok);
  } catch (const Error& e) {
    return fmt::format("the chat template is kept, but chat will run the model in completion mode, since {}", e.what());
  }
  return {};
}

void show(const CacheEntry& e, std::string_view state) {
  out_write(fmt::format("{}  {}  {}{}\n", human_words(e.path), human_bytes(e.bytes), state,
                        e.source.empty() ? "" : fmt::format(" (of {})", human_words(e.source))));
}

int show_cache(const Options& o) {
  if (!o.prune.empty()) {
    const auto gone = model_cache_prune(o.prune == "all");
    for (const CacheEntry& e : gone) show(e, "removed");
    if (gone.empty()) say("nothing to remove from the cache of converted models");
  }
  if (!o.list) return 0;
  const auto all = model_cache();
  for (const CacheEntry& e : all) show(e, cache_state_text(e.state));
  if (all.empty()) say("no converted model is in the cache");
  return 0;
}

int run(const Options& o) {
  if (o.list || !o.prune.empty()) {
    if (!o.in.empty()) throw UsageError("--list and --prune are about the cache of converted models and take no IN and OUT");
    return show_cache(o);
  }
  if (o.in.empty() || o.out.empty()) throw UsageError("what to read and what to write are wanted: quantize IN OUT.mnm");
  output_check(o.out);
  output_apart_from_folder(o.in, o.out, ".mnm");
  if (!o.tokenizer.empty()) output_apart(o.tokenizer, o.out);
  const ModelSource src = import_model(o.in, o.name, o.tokenizer);
  output_apart(src, o.out);

  ConvertOptions c;
  c.type = o.type.empty() ? usual_type(src) : type_of(o.type);
  c.head = o.head.empty() ? c.type : type_of(o.head);
  c.fit = o.fit;
  c.progress = progress_reporter("converting", !o.quiet);
  ConvertReport report = convert(src, o.out, c);
  c.progress = nullptr;  // takes the bar away
  if (const std::string n = template_note(src.meta); !n.empty()) report.notes.push_back(n);
  for (const std::string& n : report.notes) say(n);
  if (!o.quiet) out_write(report_table(report, human_words(o.out)));
  return 0;
}

}  // namespace

int quantize_main(int argc, char** argv) {
  CLI::App app(
      "Makes a model file of a Hugging Face folder (Llama, Mistral, Qwen2, Qwen3 or SmolLM3; safetensors in f32, f16 or bf16), a "
      "GGUF, a version 1 model file or a llama2.c model.",
      "quantize");
  Options o;
  const CLI::Validator named(
      [](const std::string& s) { return s.empty() ? std::string("a name is wanted, not nothing") : s.substr(0, 0); }, "");
  const CLI::IsMember types({"keep", "f32", "q8", "q4"});
  app.add_option("IN", o.in,
                 "Folder with config.json, safetensors and, if the model has one, tokenizer.json; a .gguf; a version 1 "
                 ".mnm; or a llama2.c .bin")
      ->check(named);
  app.add_option("OUT", o.out, "Model file to write (.mnm)")->check(named);
  app.add_option(
         "--type", o.type,
         "Type of the matrices: f32, q8, q4, or keep: each as the source has it, or nearly (default: keep of a GGUF, else q8)")
      ->check(types);
  app.add_option("--head", o.head, "Type of the head, or of the embedding where it is the head too (default: as --type)")
      ->check(types);
  app.add_flag("--fit,!--no-fit", o.fit, "Search the scales of q4 for the least error (default), or take max/7");
  opt_text(
      app, "--tokenizer",
      [&o](const std::string& s) {
        if (s.empty()) throw Error("--tokenizer takes the name of a file, not nothing");
        o.tokenizer = s;
      },
      "Tokenizer of a model that comes without one, of llama2.c (.bin) or of a version 1 model (MNTOKZR1); without it such a model "
      "takes ids only")
      ->type_name("FILE");
  app.add_option("--name", o.name, "What to call the model (default: the name of the folder or file)");
  app.add_flag("--list", o.list, "Show the models that chat converted and keeps in the cache folder, and whether they are current");
  app.add_option("--prune", o.prune, "Remove those of them whose source has changed or is gone (stale), or all")
      ->check(CLI::IsMember({"stale", "all"}))
      ->type_name("WHICH");
  app.add_flag("--quiet", o.quiet, "No progress bar and no table");
  return app_run(app, argc, argv, [&o] { return run(o); });
}

}  // namespace nyb
