#include "gguf/ollama.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/app.h"
#include "common/child.h"
#include "engine/sampler.h"
#include "model/out_file.h"
#include "text/go_template.h"
#include "text/tokenizer.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

constexpr uint32_t kMostCtx = 8192;  // asked of Ollama: its cache takes memory for all of it
constexpr std::chrono::hours kCreateLimit{24};

// A value of a Modelfile: in three quotes, within which all stands as it is but three quotes.
std::string quoted(const std::string& text) {
  if (text.find("\"\"\"") != text.npos || text.ends_with('"'))
    throw Error("a Modelfile has no way to say a text with three quotes, or with one at its end");
  return "\"\"\"" + text + "\"\"\"";
}

std::string template_line(const ModelSource& src, const Tokenizer& tok, std::string& note) {
  const auto* jinja = src.meta.find<std::string>(key::chat_template);
  if (!jinja) return "TEMPLATE \"\"\"{{ .Prompt }}\"\"\"\n";  // the model continues texts
  try {
    const GoTemplate t = go_template(*jinja, tok);
    note = t.notes;
    return "TEMPLATE " + quoted(t.text) + "\n";
  } catch (const Error& e) {
    note = fmt::format("the Modelfile has no TEMPLATE, which is yours to add: {}", e.what());
    return {};
  }
}

}  // namespace

void ollama_name_check(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' ||
           c == '/';
  };
  const bool part = name.find("//") == name.npos && !name.starts_with('/') && !name.ends_with('/') && !name.starts_with('-');
  if (name.empty() || !part || !std::all_of(name.begin(), name.end(), fits))
    throw Error(
        fmt::format("--ollama: \"{}\" is no name that Ollama takes: letters, digits and . _ - in parts between slashes; the tag "
                    "is the type",
                    name));
}

std::string modelfile(const ModelSource& src, const std::string& gguf_file, std::string& note) {
  std::string out = "FROM ./" + gguf_file + "\n";
  if (const auto tok = Tokenizer::from_meta(src.meta)) {
    out += template_line(src, *tok, note);
    for (const int32_t id : tok->ends()) out += "PARAMETER stop " + quoted(std::string(tok->name(id))) + "\n";
  }
  const SampParams p;
  const auto plain = [](float x) { return fmt::format("{:g}", x); };
  out += fmt::format("PARAMETER temperature {}\nPARAMETER top_p {}\nPARAMETER top_k {}\nPARAMETER min_p {}\n", plain(p.temp),
                     plain(p.top_p), p.top_k, plain(p.min_p));
  out += fmt::format("PARAMETER repeat_penalty {}\nPARAMETER num_ctx {}\n", plain(p.repeat_penalty),
                     std::min(kMostCtx, gguf_context(src.shape)));
  return out;
}

void ollama_write(const ModelSource& src, const std::string& name, const std::vector<std::string>& types, const std::string& folder,
                  GgufWrite how) {
  const std::string last = name.substr(name.rfind('/') + 1);
  const bool there = child_found("ollama");
  for (const std::string& type : types) {
    const std::string file = fmt::format("{}-{}.gguf", last, type),
                      said = (fs::path(folder) / fmt::format("{}-{}.Modelfile", last, type)).string();
    std::string note;
    const std::string text = modelfile(src, file, note);
    how.out = (fs::path(folder) / file).string();
    how.type = type;
    gguf_write_model(src, how);
    write_whole(said, text);
    if (!note.empty() && type == types.front()) say(note);
    const std::vector<std::string> command{"ollama", "create", fmt::format("{}:{}", name, type), "-f", said};
    if (!there) {
      out_write(fmt::format("{}\n", fmt::join(command, " ")));
      continue;
    }
    const ChildResult r = run_child(command, {}, kCreateLimit);
    if (!r.good()) {
      err_write(child_said(r));
      throw Error(
          fmt::format("ollama create {}:{} {}; {} and {} are there", name, type, child_fault(r, kCreateLimit), how.out, said));
    }
    if (!how.quiet) out_write(fmt::format("ollama has {}:{}\n", name, type));
  }
}

}  // namespace nyb
