// import_hf.cpp - what the three files of a Hugging Face folder say about text, as keys of a model file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "kern/error.h"
#include "model/look.h"
#include "text/byte_map.h"
#include "text/json_file.h"
#include "text/regex_import.h"
#include "text/splitter.h"
#include "text/template.h"
#include "text/tokenizer.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

// Specials that close a turn in the templates of known families; where one stands in the template it ends a reply.
constexpr std::array kTurnEnds = {"<|eot_id|>",      "<|im_end|>", "<|end|>",      "<end_of_turn>",
                                  "<|end_of_turn|>", "<|eot|>",    "<|endofturn|>"};

constexpr uint32_t kMaxVocab = 1u << 24;

struct Added {
  uint32_t id = 0;
  bool strips = false;  // takes white space beside it along
};

class HfImport {
 public:
  HfImport(std::string folder, uint32_t vocab, Meta& out) : folder_(std::move(folder)), vocab_(vocab), out_(out) {}

  void run() {
    const auto root = json_file(path("tokenizer.json"));
    if (!root) {
      if (file_there(path("tokenizer.model"))) {
        throw Error(
            path("tokenizer.model") +
            " is a SentencePiece tokenizer, which cannot be read; give a byte-level BPE in tokenizer.json, or llama2.c's export of "
            "this one with --tokenizer");
      }
      return;
    }
    if (vocab_ > kMaxVocab)
      throw Error(fmt::format("{} belongs to a vocabulary of {}, {} is the most", path("tokenizer.json"), vocab_, kMaxVocab));
    const JsonView tok(*root, path("tokenizer.json") + ":");
    tokens_.assign(vocab_, std::string());
    model(tok.get("model"));
    added(tok);
    surroundings(tok);
    const std::string pattern = pre_tokenizer(tok.get("pre_tokenizer"));
    config(tok);
    write(pattern);
  }

 private:
  std::string path(const char* file) const { return (fs::path(folder_) / file).string(); }

  void name_token(uint32_t id, std::string bytes, const JsonView& where) {
    if (named_[id]) where.fail(fmt::format("has the id {}, which another token has already", id));
    named_[id] = true;
    tokens_[id] = std::move(bytes);
  }

  // The vocabulary and the merges.
  void model(const JsonView& m) {
    if (const auto type = m.find("type"); type && type->string() != "BPE") {
      type->fail(fmt::format("is \"{}\"; a byte-level BPE is needed", type->string()));
    }
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (const auto v = m.find(affix); v && !v->string().empty()) v->fail("is not empty, which a byte-level BPE does not have");
    }
    if (const auto v = m.find("byte_fallback"); v && v->boolean()) v->fail("is true, which a byte-level BPE does not have");
    if (const auto v = m.find("dropout"); v && v->value() != 0)
      v->fail("is set, which would make the ids of a text a matter of chance");
    if (const auto v = m.find("ignore_merges")) whole_words_ = v->boolean();

    const JsonView vocab = m.get("vocab");
    vocab.need_object();
    named_.assign(vocab_, false);
    ids_.reserve(vocab.size());
    for (const auto& [spelled, id] : vocab.value().items()) {
      const JsonView where(id, fmt::format("{}[\"{}\"]", vocab.name(), spelled));
      const uint32_t n = where.id(vocab_);
      // A token that no bytes make ("<|endoftext|>" with a blank in it) is of use as an added token only.
      name_token(n, byte_map_decode(spelled).value_or(spelled), where);
      ids_.emplace(spelled, n);
    }
    for (unsigned b = 0; b < 256; ++b) {
      const std::string spelled = byte_map_encode(std::string(1, static_cast<char>(b)));
      if (!ids_.contains(spelled)) vocab.fail(fmt::format("has no token \"{}\" for the byte 0x{:02x}", spelled, b));
    }
    merges(m.get("merges"));
  }

  void merges(const JsonView& list) {
    list.need_array();
    merges_.reserve(3 * list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      const JsonView entry = list.at(i);
      const auto [left, right] = merge_parts(entry);
      for (const std::string& part : {left, right, left + right}) {
        const auto it = ids_.find(part);
        if (it == ids_.end()) entry.fail(fmt::format("names the token \"{}\", which model.vocab does not have", part));
        merges_.push_back(it->second);
      }
    }
  }

  // "a b" or ["a", "b"].
  static std::pair<std::string, std::string> merge_parts(const JsonView& entry) {
    std::pair<std::string, std::string> parts;
    if (entry.value().is_array()) {
      if (entry.size() != 2) entry.fail(fmt::format("has {} parts where two belong", entry.size()));
      parts = {entry.at(0).string(), entry.at(1).string()};
    } else {
      const std::string& both = entry.string();
      const size_t blank = both.find(' ');
      if (blank == std::string::npos || both.find(' ', blank + 1) != std::string::npos) {
        entry.fail(fmt::format("is \"{}\", not two tokens with a blank between", both));
      }
      parts = {both.substr(0, blank), both.substr(blank + 1)};
    }
    if (parts.first.empty() || parts.second.empty()) entry.fail("has an empty part");
    return parts;
  }

  void added(const JsonView& tok) {
    const auto list = tok.find("added_tokens");
    if (!list) return;
    list->need_array();
    for (size_t i = 0; i < list->size(); ++i) {
      const JsonView entry = list->at(i);
      const std::string& content = entry.get("content").string();
      if (content.empty()) entry.fail("has an empty content");
      const uint32_t id = entry.get("id").id(vocab_);
      if (added_.contains(content)) entry.fail(fmt::format("names \"{}\" a second time", content));
      if (const auto it = ids_.find(content); it != ids_.end()) {
        if (it->second != id) entry.fail(fmt::format("gives \"{}\" the id {}, model.vocab gives it {}", content, id, it->second));
        tokens_[id] = content;
      } else {
        name_token(id, content, entry);
      }
      Added& a = added_[content];
      a.id = id;
      for (const char* side : {"lstrip", "rstrip"}) {
        if (const auto v = entry.find(side); v && v->boolean()) a.strips = true;
      }
      if (const auto v = entry.find("special"); v && v->boolean()) specials_.insert(id);
    }
  }

  // What stands around the model and must be absent or without effect.
  void surroundings(const JsonView& tok) const {
    if (const auto n = tok.find("normalizer")) {
      const std::string& type = n->get("type").string();
      const auto parts = n->find("normalizers");
      if (type != "Sequence" || !parts || parts->size() != 0)
        n->fail(fmt::format("is \"{}\"; only a tokenizer without one can be read", type));
    }
    if (const auto d = tok.find("decoder"); d && d->get("type").string() != "ByteLevel") {
      d->fail(fmt::format("is \"{}\"; ByteLevel is needed", d->get("type").string()));
    }
  }

  // The pattern of a ByteLevel alone, or of one Split before it.
  static std::string pre_tokenizer(const JsonView& pre) {
    std::vector<JsonView> steps;
    if (pre.get("type").string() == "Sequence") {
      const JsonView list = pre.get("pretokenizers");
      list.need_array();
      for (size_t i = 0; i < list.size(); ++i) steps.push_back(list.at(i));
    } else {
      steps.push_back(pre);
    }
    if (steps.empty() || steps.back().get("type").string() != "ByteLevel")
      pre.fail("does not end in ByteLevel, as a byte-level BPE does");
    const JsonView& level = steps.back();
    // Both default to true in the format.
    const auto flag = [&level](const char* name) {
      const auto v = level.find(name);
      return !v || v->boolean();
    };
    if (flag("add_prefix_space")) level.fail("has add_prefix_space, with which a text would not come back as it was");
    if (steps.size() == 1) {
      if (!flag("use_regex")) level.fail("has no use_regex and no Split before it: there is no pattern to cut text by");
      return regex_import(kGpt2Pattern, level.name());
    }
    if (steps.size() != 2 || flag("use_regex"))
      pre.fail(fmt::format("cuts text {} times over; one pattern is understood", steps.size()));
    return split(steps.front());
  }

  static std::string split(const JsonView& step) {
    const std::string& type = step.get("type").string();
    if (type != "Split") step.fail(fmt::format("is \"{}\"; a Split is needed", type));
    const JsonView behavior = step.get("behavior");
    if (behavior.string() != "Isolated") behavior.fail(fmt::format("is \"{}\"; Isolated is needed", behavior.string()));
    if (const auto v = step.find("invert"); v && v->boolean()) v->fail("is true; false is needed");
    const JsonView pattern = step.get("pattern");
    if (const auto regex = pattern.find("Regex")) return regex_import(regex->string(), regex->name());
    return regex_quote(pattern.get("String").string());
  }

  // The id of a token that another file names, as a string or an object with its content.
  uint32_t named(const JsonView& v) const {
    const std::string& text = v.value().is_object() ? v.get("content").string() : v.string();
    if (const auto it = added_.find(text); it != added_.end()) return it->second.id;
    if (const auto it = ids_.find(text); it != ids_.end()) return it->second;
    v.fail(fmt::format("is \"{}\", which tokenizer.json does not have", text));
  }

  void add_ends(const JsonView& v) {
    if (!v.value().is_array()) {
      ends_.push_back(v.id(vocab_));
    } else {
      for (size_t i = 0; i < v.size(); ++i) ends_.push_back(v.at(i).id(vocab_));
    }
  }

  // Beginnings, ends and the template. Where there is a tokenizer_config.json, it alone decides on BOS.
  void config(const JsonView& tok) {
    const auto tc = json_file(path("tokenizer_config.json"));
    if (tc) {
      const JsonView v(*tc, path("tokenizer_config.json") + ":");
      if (const auto t = v.find("bos_token")) bos_ = named(*t);
      if (const auto t = v.find("eos_token")) ends_.push_back(named(*t));
      template_ = chat_template(v);
      if (const auto t = v.find("add_bos_token")) add_bos_ = t->boolean();
    }
    for (const char* file : {"generation_config.json", "config.json"}) {
      const auto root = json_file(path(file));
      if (!root) continue;
      const JsonView v(*root, path(file) + ":");
      if (const auto t = v.find("eos_token_id")) add_ends(*t);
      if (const auto t = v.find("bos_token_id"); t && !tc && !bos_) bos_ = t->id(vocab_);
    }
    // A file of its own for the template is the newer form, and wins.
    if (auto t = text_file(path("chat_template.jinja"))) template_ = std::move(t);
    if (template_) {
      for (const char* name : kTurnEnds) {
        const auto it = added_.find(name);
        if (it != added_.end() && template_->find(name) != std::string::npos) ends_.push_back(it->second.id);
      }
      for (const auto& [content, a] : added_) {
        if (a.strips && template_->find(content) != std::string::npos) {
          throw Error(fmt::format("{}: the added token \"{}\" of the chat template has lstrip or rstrip, which is not understood",
                                  path("tokenizer.json"), content));
        }
      }
    }
    if (bos_ && !add_bos_) add_bos_ = adds_bos(tok);
  }

  // No word in tokenizer_config.json: the post-processor decides; a model whose template begins with BOS never saw a text without.
  bool adds_bos(const JsonView& tok) const {
    const auto post = tok.find("post_processor");
    if (post && writes_bos(*post)) return true;
    return template_ && template_->find("bos_token") != std::string::npos;
  }

  bool writes_bos(const JsonView& post) const {
    const std::string& type = post.get("type").string();
    if (type == "Sequence") {
      const JsonView list = post.get("processors");
      list.need_array();
      for (size_t i = 0; i < list.size(); ++i) {
        if (list.at(i).get("type").string() == "TemplateProcessing" && writes_bos(list.at(i))) return true;
      }
    }
    if (type != "TemplateProcessing") return false;
    const JsonView single = post.get("single");
    single.need_array();
    if (single.size() == 0) return false;
    const auto first = single.at(0).find("SpecialToken");
    return first && named(first->get("id")) == *bos_;
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

  void write(const std::string& pattern) {
    std::sort(ends_.begin(), ends_.end());
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
    specials_.insert(ends_.begin(), ends_.end());
    if (bos_) specials_.insert(*bos_);
    out_.set(key::tok_kind, std::string(whole_words_ ? "bpe-words" : "bpe"), true);
    out_.set(key::tok_tokens, tokens_, true);
    out_.set(key::tok_merges, merges_, true);
    out_.set(key::tok_pattern, pattern, true);
    out_.set(key::tok_unicode, splitter_unicode());
    out_.set(key::tok_specials, std::vector<uint32_t>(specials_.begin(), specials_.end()), true);
    if (bos_) out_.set(key::tok_bos, uint64_t{*bos_}, true);
    out_.set(key::tok_add_bos, uint64_t{bos_ && add_bos_.value_or(false)}, true);
    out_.set(key::tok_ends, ends_, true);
    if (template_) out_.set(key::chat_template, *template_);
    close_ends();
  }

  // The end id of the template's own closing ends a reply too. What cannot be read as a template changes nothing here:
  // the model still runs in completion mode, and the chat says why.
  void close_ends() {
    const auto tok = loaded();
    if (!template_) return;
    try {
      for (const int32_t id : ChatTemplate::parse(*template_, *tok).reply_end()) {
        const auto end = static_cast<uint32_t>(id);
        if (!tok->is_special(id) || std::binary_search(ends_.begin(), ends_.end(), end)) continue;
        ends_.insert(std::lower_bound(ends_.begin(), ends_.end(), end), end);
        break;
      }
    } catch (const Error&) { return; }
    out_.set(key::tok_ends, ends_, true);
  }

  // What was written must load; what is wrong with it came from this folder.
  std::unique_ptr<Tokenizer> loaded() const {
    try {
      return Tokenizer::from_meta(out_);
    } catch (const Error& e) { throw Error(fmt::format("{}: {}", path("tokenizer.json"), e.what())); }
  }

  std::string folder_;
  uint32_t vocab_;
  Meta& out_;
  std::vector<std::string> tokens_;
  std::vector<bool> named_;
  std::unordered_map<std::string, uint32_t> ids_;  // as tokenizer.json spells them
  std::vector<uint32_t> merges_;
  std::unordered_map<std::string, Added> added_;
  std::set<uint32_t> specials_;
  bool whole_words_ = false;
  std::optional<uint32_t> bos_;
  std::optional<bool> add_bos_;
  std::vector<uint32_t> ends_;
  std::optional<std::string> template_;
};

}  // namespace

void tok_import_hf(const std::string& folder, uint32_t vocab, Meta& out) { HfImport(folder, vocab, out).run(); }

}  // namespace nyb
