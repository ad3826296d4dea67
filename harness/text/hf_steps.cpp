#include "text/hf_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "text/regex_import.h"

namespace nyb {
namespace {

// Words that begin with their blank, as Metaspace cuts them.
constexpr const char* kBlankThenWord = " ?[^ ]+| ";

using Steps = std::vector<JsonView>;

const std::string& type_of(const JsonView& v) { return v.get("type").string(); }

// A Sequence's members, and theirs; of anything else, itself. The depth of the file is bounded.
void flatten(const JsonView& v, const char* members, Steps& out) {
  if (type_of(v) != "Sequence") return out.push_back(v);
  const JsonView list = v.get(members);
  list.need_array();
  for (size_t i = 0; i < list.size(); ++i) flatten(list.at(i), members, out);
}

Steps flattened(const std::optional<JsonView>& v, const char* members) {
  Steps out;
  if (v) flatten(*v, members, out);
  return out;
}

bool flag(const JsonView& v, const char* name, bool otherwise) {
  const auto f = v.find(name);
  return f ? f->boolean() : otherwise;
}

void need_blank_mark(const JsonView& v) {
  if (v.string() != kBlankMark) v.fail(fmt::format("is \"{}\"; \"{}\" is needed", v.string(), kBlankMark));
}

// A Replace or Split of the string " ".
bool of_blank(const JsonView& step) {
  const auto s = step.get("pattern").find("String");
  return s && s->string() == " ";
}

class Import {
 public:
  Import(const JsonView& tok, TokParts& parts) : tok_(tok), parts_(parts) {}

  void run() {
    const auto n = tok_.find("normalizer");
    for (const JsonView& step : flattened(n, "normalizers")) normalizer(step);
    const auto pre = blanks_ ? tok_.find("pre_tokenizer") : tok_.get("pre_tokenizer");
    const Steps steps = flattened(pre, "pretokenizers");
    parts_.byte_level = std::any_of(steps.begin(), steps.end(), [](const JsonView& s) { return type_of(s) == "ByteLevel"; });
    const bool metaspace = std::any_of(steps.begin(), steps.end(), [](const JsonView& s) { return type_of(s) == "Metaspace"; });
    if (parts_.byte_level) {
      if (blanks_ || parts_.add_prefix != BlankBefore::none) n->fail("rewrites blanks, which a byte-level BPE does not do");
      byte_level(*pre, steps);
    } else if (blanks_ || metaspace) {
      for (const JsonView& step : steps) piece_step(step);
    } else {
      pre->fail(fmt::format("is \"{}\" and has neither ByteLevel, as a byte-level BPE does, nor Metaspace", type_of(*pre)));
    }
    for (const JsonView& step : flattened(tok_.find("decoder"), "decoders")) decoder(step);
  }

 private:
  void normalizer(const JsonView& step) {
    const std::string& type = type_of(step);
    if (type == "NFC") {
      parts_.nfc = true;
    } else if (type == "Prepend") {
      need_blank_mark(step.get("prepend"));
      parts_.add_prefix = BlankBefore::each;
    } else if (type == "Replace" && of_blank(step)) {
      need_blank_mark(step.get("content"));
      blanks_ = true;
    } else {
      step.fail(fmt::format("is \"{}\", which is not understood; NFC, Prepend, and a Replace of \" \" are", type));
    }
  }

  // The patterns, and GPT-2's where ByteLevel has use_regex.
  void byte_level(const JsonView& pre, const Steps& steps) {
    const JsonView& level = steps.back();
    if (type_of(level) != "ByteLevel") pre.fail("does not end in ByteLevel, as a byte-level BPE does");
    for (size_t i = 0; i + 1 < steps.size(); ++i) parts_.patterns.push_back(cut(steps[i]));
    // Both default to true in the format.
    if (flag(level, "add_prefix_space", true)) level.fail("has add_prefix_space, with which a text would not come back as it was");
    if (flag(level, "use_regex", true)) parts_.patterns.push_back(regex_import(kGpt2Pattern, level.name()));
    if (parts_.patterns.empty()) level.fail("has no use_regex and no Split before it: there is no pattern to cut text by");
  }

  static std::string cut(const JsonView& step) {
    const std::string& type = type_of(step);
    if (type == "Digits") return flag(step, "individual_digits", false) ? "\\p{N}" : "\\p{N}+";
    if (type != "Split") step.fail(fmt::format("is \"{}\"; a Split or Digits is needed", type));
    const JsonView behavior = step.get("behavior");
    if (behavior.string() != "Isolated") behavior.fail(fmt::format("is \"{}\"; Isolated is needed", behavior.string()));
    if (const auto v = step.find("invert"); v && v->boolean()) v->fail("is true; false is needed");
    const JsonView pattern = step.get("pattern");
    if (const auto regex = pattern.find("Regex")) return regex_import(regex->string(), regex->name());
    return regex_quote(pattern.get("String").string());
  }

  void piece_step(const JsonView& step) {
    const std::string& type = type_of(step);
    if (type == "Split" && blanks_ && of_blank(step)) return;  // there is none by now
    if (type != "Metaspace") step.fail(fmt::format("is \"{}\"; a tokenizer of SentencePiece has a Metaspace at most", type));
    if (const auto v = step.find("replacement")) need_blank_mark(*v);
    uint64_t prefix = BlankBefore::each_bare;
    if (const auto v = step.find("prepend_scheme")) {
      const std::string& scheme = v->string();
      if (scheme == "first") {
        prefix = BlankBefore::first_bare;
      } else if (scheme == "never") {
        prefix = BlankBefore::none;
      } else if (scheme != "always") {
        v->fail(fmt::format("is \"{}\"; always, first and never are known", scheme));
      }
    } else if (!flag(step, "add_prefix_space", true)) {
      prefix = BlankBefore::none;
    }
    if (parts_.add_prefix == BlankBefore::none) parts_.add_prefix = prefix;  // else there is a blank already
    if (flag(step, "split", true)) parts_.patterns = {kBlankThenWord};
  }

  void decoder(const JsonView& step) const {
    const std::string& type = type_of(step);
    const auto one_of = [&type](std::initializer_list<const char*> known) {
      return std::any_of(known.begin(), known.end(), [&type](const char* k) { return type == k; });
    };
    if (parts_.byte_level && type != "ByteLevel") step.fail(fmt::format("is \"{}\"; ByteLevel is needed", type));
    if (!parts_.byte_level && !one_of({"Replace", "ByteFallback", "Fuse", "Strip", "Metaspace"}))
      step.fail(fmt::format("is \"{}\"; Replace, ByteFallback, Fuse, Strip and Metaspace are known", type));
  }

  const JsonView& tok_;
  TokParts& parts_;
  bool blanks_ = false;  // the normalizer writes the mark for each blank
};

}  // namespace

void hf_steps(const JsonView& tok, TokParts& parts) { Import(tok, parts).run(); }

}  // namespace nyb
