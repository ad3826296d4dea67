// program.cpp - what gguf does, from its options to its exit code.
#include "gguf/program.h"

#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>

#include "common/apart.h"
#include "common/app.h"
#include "common/options.h"
#include "gguf/ollama.h"
#include "gguf/show.h"
#include "gguf/write.h"
#include "model/look.h"
#include "model/writer.h"

namespace nyb {
namespace {

struct Options {
  std::string in, out, name, tokenizer;
  std::string type = "keep", head;
  bool fit = true, quiet = false;
  std::string ollama, types = "q8_0";
  std::string info;
  std::vector<std::string> diff;
};

// "q8_0,q4_0": each one of the types that a GGUF of its own is written in.
std::vector<std::string> types_of(const std::string& list) {
  std::vector<std::string> out;
  for (size_t from = 0; from <= list.size();) {
    const size_t end = std::min(list.find(',', from), list.size());
    const std::string type = list.substr(from, end - from);
    const auto& known = gguf_type_names();
    if (std::find(known.begin(), known.end(), type) == known.end())
      throw Error(fmt::format("--types: \"{}\" is none of {}", type, fmt::join(known, ", ")));
    if (std::find(out.begin(), out.end(), type) != out.end()) throw Error(fmt::format("--types names {} twice", type));
    out.push_back(type);
    from = end + 1;
  }
  return out;
}

// Where the files for Ollama go: OUT, or here.
int run_ollama(const Options& o) {
  ollama_name_check(o.ollama);
  const std::string folder = o.out.empty() ? "." : o.out;
  if (file_look(folder) != std::filesystem::file_type::directory)
    throw Error(folder + ": with --ollama, OUT is a folder for the files, and this is none");
  ollama_write(gguf_source(o.in, o.name, o.tokenizer), o.ollama, types_of(o.types), folder, {"", "", o.head, o.fit, o.quiet});
  return 0;
}

int run(const Options& o) {
  if (!o.info.empty() || !o.diff.empty()) {
    if (!o.in.empty()) throw UsageError("--info and --diff name the files that they show, and take no IN and OUT");
    out_write(o.info.empty() ? gguf_diff(Gguf(o.diff[0]), Gguf(o.diff[1])) : gguf_info(Gguf(o.info)));
    return 0;
  }
  if (!o.in.empty() && !o.ollama.empty()) return run_ollama(o);
  if (o.in.empty() || o.out.empty()) throw UsageError("what to read and what to write are wanted: gguf IN OUT.gguf");
  output_check(o.out);
  output_apart_from_folder(o.in, o.out, ".gguf");
  gguf_write_model(gguf_source(o.in, o.name, o.tokenizer), {o.out, o.type, o.head, o.fit, o.quiet});
  return 0;
}

}  // namespace

int gguf_main(int argc, char** argv) {
  CLI::App app("Writes a model as GGUF, for llama.cpp and Ollama.", "gguf");
  Options o;
  const CLI::Validator named(
      [](const std::string& s) { return s.empty() ? std::string("a name is wanted, not nothing") : s.substr(0, 0); }, "");
  const CLI::IsMember types(gguf_type_names());
  app.add_option("IN", o.in, "Model file (.mnm), or a folder or file that quantize reads")->check(named);
  app.add_option("OUT", o.out, "File to write (.gguf)")->check(named);
  app.add_option("--type", o.type, "Type of the matrices, or keep: each as the source has it, or nearly (default)")->check(types);
  app.add_option("--head", o.head, "Type of the head, or of the embedding where it is the head too (default: as --type)")
      ->check(types);
  app.add_flag("--fit,!--no-fit", o.fit, "Search the scales of q4_0 for the least error (default), or take max/7");
  opt_text(
      app, "--tokenizer",
      [&o](const std::string& s) {
        if (s.empty()) throw Error("--tokenizer takes the name of a file, not nothing");
        o.tokenizer = s;
      },
      "Tokenizer of a model that comes without one, of llama2.c (.bin) or of a version 1 model (MNTOKZR1)")
      ->type_name("FILE");
  app.add_option("--name", o.name, "What to call the model (default: as it is called)");
  CLI::Option* ollama = opt_text(
                            app, "--ollama",
                            [&o](const std::string& s) {
                              ollama_name_check(s);
                              o.ollama = s;
                            },
                            "Write files for Ollama's model NAME, a GGUF and a Modelfile for each of --types, into OUT (a folder; "
                            "default: here), and "
                            "call "
                            "ollama create where there is one")
                            ->type_name("NAME");
  opt_text(
      app, "--types",
      [&o](const std::string& s) {
        types_of(s);
        o.types = s;
      },
      "With --ollama: the types, which are the tags too")
      ->type_name("LIST")
      ->default_str("q8_0")
      ->needs(ollama);
  app.add_option("--info", o.info, "Show the keys and tensors of a GGUF")->check(named)->type_name("FILE");
  app.add_option("--diff", o.diff, "Show how two of them differ: keys, types, and the greatest difference of values")
      ->expected(2)
      ->type_name("A B");
  app.add_flag("--quiet", o.quiet, "No progress bar, and nothing on stdout");
  return app_run(app, argc, argv, [&o] { return run(o); });
}

}  // namespace nyb
