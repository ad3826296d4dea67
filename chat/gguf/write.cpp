#include "gguf/write.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/apart.h"
#include "common/app.h"
#include "common/import_model.h"
#include "model/file_kind.h"
#include "model/look.h"
#include "text/export_gguf.h"

namespace nyb {
namespace fs = std::filesystem;

ModelSource gguf_source(const std::string& in, const std::string& name, const std::string& tokenizer) {
  if (file_look(in) != fs::file_type::regular || file_kind(MappedFile(in).bytes()) != FileKind::mnm)
    return import_model(in, name, tokenizer);
  if (!tokenizer.empty()) throw Error(in + ": a model file has its tokenizer in it; leave out --tokenizer");
  return mnm_open(in, name);
}

const std::vector<std::string>& gguf_type_names() {
  static const std::vector<std::string> names = {"keep", "f32", "f16", "bf16", "q8_0", "q4_0"};
  return names;
}

std::optional<GgmlType> gguf_type_of(std::string_view name) {
  for (const GgmlType t : {GgmlType::f32, GgmlType::f16, GgmlType::bf16, GgmlType::q8_0, GgmlType::q4_0})
    if (ggml_block(t).name == name) return t;
  return std::nullopt;
}

void gguf_write_model(const ModelSource& src, const GgufWrite& what) {
  output_apart(src, what.out);
  GgufKeys keys;
  std::vector<std::string> notes;
  tok_export_gguf(src.meta, keys, notes);
  ExportOptions o;
  o.type = gguf_type_of(what.type);
  o.head = what.head.empty() ? o.type : gguf_type_of(what.head);
  o.fit = what.fit;
  o.progress = progress_reporter("writing", !what.quiet);
  const ExportReport report = gguf_export(src, keys, what.out, o);
  o.progress = nullptr;  // takes the bar away
  notes.insert(notes.begin(), report.notes.begin(), report.notes.end());
  for (const std::string& n : notes) say(n);
  if (!what.quiet)
    out_write(fmt::format("{}: {} weights in {}, {}\n", human_words(what.out), human_count(report.params),
                          what.type == "keep" ? "the types that they had" : what.type, human_bytes(report.file_bytes)));
}

}  // namespace nyb
