// import_hf.cpp - what the files of a Hugging Face folder say about text, as keys of a model file.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "kern/error.h"
#include "model/look.h"
#include "text/hf_steps.h"
#include "text/hf_vocab.h"
#include "text/json_file.h"
#include "text/tok_parts.h"
#include "text/tokenizer.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

class HfImport {
 public:
  HfImport(std::string folder, uint32_t vocab) : folder_(std::move(folder)), vocab_(vocab) {}

  void run(Meta& out) {
    const std::string file = path("tokenizer.json");
    const auto root = json_file(file);
    if (!root) {
      if (file_there(path("tokenizer.model"))) {
        throw Error(
            path("tokenizer.model") +
            " is a SentencePiece tokenizer, which cannot be read; give the tokenizer.json that goes with it, or llama2.c's export "
            "of this one with --tokenizer");
      }
      return;
    }
    if (vocab_ > kMaxTokens) throw Error(fmt::format("{} belongs to a vocabulary of {}, {} is the most", file, vocab_, kMaxTokens));
    const JsonView tok(*root, file + ":");
    hf_steps(tok, parts_);
    const HfVocab vocab(tok, vocab_, parts_);
    config(tok, vocab);
    tok_write(std::move(parts_), file, out);
  }

 private:
  std::string path(const char* file) const { return (fs::path(folder_) / file).string(); }

  // Beginnings, ends and the template. Where there is a tokenizer_config.json, it alone decides on BOS.
  void config(const JsonView& tok, const HfVocab& vocab) {
    std::optional<bool> add_bos;
    auto& jinja = parts_.chat_template;
    const auto tc = json_file(path("tokenizer_config.json"));
    if (tc) {
      const JsonView v(*tc, path("tokenizer_config.json") + ":");
      if (const auto t = v.find("bos_token")) parts_.bos = vocab.named(*t);
      if (const auto t = v.find("eos_token")) parts_.ends.insert(*(parts_.eos = vocab.named(*t)));
      jinja = chat_template(v);
      if (const auto t = v.find("add_bos_token")) add_bos = t->boolean();
    }
    for (const char* file : {"generation_config.json", "config.json"}) {
      const auto root = json_file(path(file));
      if (!root) continue;
      const JsonView v(*root, path(file) + ":");
      if (const auto t = v.find("eos_token_id")) add_ends(*t);
      if (const auto t = v.find("bos_token_id"); t && !tc && !parts_.bos) parts_.bos = t->id(vocab_);
    }
    // A file of its own for the template is the newer form, and wins.
    if (auto t = text_file(path("chat_template.jinja"))) jinja = std::move(t);
    for (const char* name : kTurnEnds) {
      const auto id = vocab.added(name);
      if (id && jinja && jinja->find(name) != std::string::npos) parts_.ends.insert(*id);
    }
    if (parts_.bos) parts_.add_bos = add_bos ? *add_bos : adds_bos(tok, vocab);
  }

  void add_ends(const JsonView& v) {
    if (!v.value().is_array()) {
      parts_.ends.insert(v.id(vocab_));
    } else {
      for (size_t i = 0; i < v.size(); ++i) parts_.ends.insert(v.at(i).id(vocab_));
    }
  }

  // No word in tokenizer_config.json: the post-processor decides; a model whose template begins with BOS never saw a text without.
  bool adds_bos(const JsonView& tok, const HfVocab& vocab) const {
    const auto post = tok.find("post_processor");
    if (post && writes_bos(*post, vocab)) return true;
    return parts_.chat_template && parts_.chat_template->find("bos_token") != std::string::npos;
  }

  bool writes_bos(const JsonView& post, const HfVocab& vocab) const {
    const std::string& type = post.get("type").string();
    if (type == "Sequence") {
      const JsonView list = post.get("processors");
      list.need_array();
      for (size_t i = 0; i < list.size(); ++i) {
        if (list.at(i).get("type").string() == "TemplateProcessing" && writes_bos(list.at(i), vocab)) return true;
      }
    }
    if (type != "TemplateProcessing") return false;
    const JsonView single = post.get("single");
    single.need_array();
    if (single.size() == 0) return false;
    const auto first = single.at(0).find("SpecialToken");
    return first && vocab.named(first->get("id")) == *parts_.bos;
  }

  static std::optional<std::string> chat_template(const JsonView& config) {
    const auto v = config.find("chat_template");
    if (!v) return std::nullopt;
    if (!v->value().is_array()) return v->string();
    for (size_t i = 0; i < v->size(); ++i) {
      if (v->at(i).get("name").string() == "default") return v->at(i).get("template").string();
    }
    v->fail("lists no template of the name \"default\"");
  }

  std::string folder_;
  uint32_t vocab_;
  TokParts parts_;
};

}  // namespace

void tok_import_hf(const std::string& folder, uint32_t vocab, Meta& out) { HfImport(folder, vocab).run(out); }

}  // namespace nyb
