// tokenizer.cpp - the tables from the metadata, and both directions.
#include "text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "kern/error.h"
#include "text/nfc.h"
#include "text/splitter.h"
#include "text/text_model.h"
#include "text/utf8.h"

namespace nyb {

void key_fails(const char* key, const std::string& what) { throw Error(fmt::format("the model's key \"{}\" {}", key, what)); }

int32_t key_id(const char* key, uint64_t id, size_t vocab) {
  if (id >= vocab) key_fails(key, fmt::format("names token {}, beyond the vocabulary of {}", id, vocab));
  return static_cast<int32_t>(id);
}

bool key_flag(const Meta& meta, const char* key, bool otherwise) {
  const auto* flag = meta.find<uint64_t>(key);
  if (flag && *flag > 1) key_fails(key, fmt::format("is {}, not 0 or 1", *flag));
  return flag ? *flag == 1 : otherwise;
}

std::vector<bool> key_set(const Meta& meta, const char* key, size_t vocab) {
  std::vector<bool> set(vocab, false);
  if (const auto* ids = meta.find<std::vector<uint32_t>>(key)) {
    for (const uint32_t id : *ids) set[static_cast<size_t>(key_id(key, id, vocab))] = true;
  }
  return set;
}

struct Tokenizer::Impl {
  Vocab vocab;
  std::vector<bool> strips_before, strips_after;  // white space beside the id goes with it
  bool nfc = false;
  std::optional<int32_t> bos;
  bool add_bos = false;
  std::vector<int32_t> ends;
  std::optional<int32_t> eos;
  std::string unicode;  // of the conversion
  std::unique_ptr<TextModel> model;

  void read_ids(const Meta& meta);
  void append_plain(std::string_view text, std::vector<int32_t>& out) const;
};

// Which ids are special, and what for.
void Tokenizer::Impl::read_ids(const Meta& meta) {
  const size_t size = vocab.tokens.size();
  (void)meta.get<std::vector<uint32_t>>(key::tok_specials);  // must be there
  vocab.special = key_set(meta, key::tok_specials, size);
  vocab.closed = key_set(meta, key::tok_named, size);
  for (size_t id = 0; id < size; ++id) {  // in their order: of two with one name the lower id stands
    const bool named = vocab.closed[id];
    if (!named && !vocab.special[id]) continue;
    if (vocab.tokens[id].empty())
      key_fails(named ? key::tok_named : key::tok_specials, fmt::format("names token {}, which has no text", id));
    vocab.closed[id] = true;
    vocab.named.add(vocab.tokens[id], static_cast<int32_t>(id));
  }
  strips_before = key_set(meta, key::tok_strips_before, size);
  strips_after = key_set(meta, key::tok_strips_after, size);
  if (const auto* id = meta.find<uint64_t>(key::tok_bos)) bos = key_id(key::tok_bos, *id, size);
  add_bos = key_flag(meta, key::tok_add_bos, false) && bos;
  if (const auto* list = meta.find<std::vector<uint32_t>>(key::tok_ends)) {
    for (const uint32_t id : *list) ends.push_back(key_id(key::tok_ends, id, size));
  }
  if (const auto* form = meta.find<std::string>(key::tok_normal)) {
    if (*form != "nfc") key_fails(key::tok_normal, fmt::format("is \"{}\"; nfc is known", *form));
    nfc = true;
  }
  if (const auto* id = meta.find<uint64_t>(key::tok_eos)) {
    eos = key_id(key::tok_eos, *id, size);
  } else if (ends.size() == 1) {
    eos = ends[0];
  }
}

void Tokenizer::Impl::append_plain(std::string_view text, std::vector<int32_t>& out) const {
  std::string normal;
  if (nfc) text = normal = nyb::nfc(text);
  model->append(text, out.empty(), out);
}

// A text of plain parts and parts that may name specials, put together from the left. Plain text is kept until a special comes or
// the end does, so that it may meet what comes before and after.
class Tokenizer::Frame {
 public:
  Frame(const Impl& impl, std::vector<int32_t>& out) : impl_(impl), out_(out) {}
  void named(std::string_view text) {
    impl_.vocab.named.cut(
        text, [this](std::string_view rest) { plain(rest); }, [this](int32_t id) { special(id); });
  }
  void plain(std::string_view text) {
    if (stripping_) text.remove_prefix(white_space_prefix(text));
    stripping_ = stripping_ && text.empty();
    plain_ += text;
  }
  void given(std::span<const int32_t> ids) {
    end();
    out_.insert(out_.end(), ids.begin(), ids.end());
    if (!ids.empty()) stripping_ = impl_.strips_after[static_cast<size_t>(ids.back())];
  }
  void end() {
    impl_.append_plain(plain_, out_);
    plain_.clear();
  }

 private:
  void special(int32_t id) {
    if (impl_.strips_before[static_cast<size_t>(id)]) plain_.resize(plain_.size() - white_space_suffix(plain_));
    end();
    out_.push_back(id);
    stripping_ = impl_.strips_after[static_cast<size_t>(id)];
  }

  const Impl& impl_;
  std::vector<int32_t>& out_;
  std::string plain_;
  bool stripping_ = false;  // white space goes with the special before it
};

Tokenizer::Tokenizer() : impl_(std::make_unique<Impl>()) {}
Tokenizer::~Tokenizer() = default;

std::unique_ptr<Tokenizer> Tokenizer::from_meta(const Meta& meta) {
  const auto* kind = meta.find<std::string>(key::tok_kind);
  if (!kind) return nullptr;
  const bool spm = *kind == "spm";
  if (!spm && *kind != "bpe" && *kind != "bpe-words")
    key_fails(key::tok_kind, fmt::format("is \"{}\"; bpe, bpe-words and spm are known", *kind));
  std::unique_ptr<Tokenizer> tok(new Tokenizer);
  Impl& impl = *tok->impl_;
  auto& tokens = impl.vocab.tokens = meta.get<std::vector<std::string>>(key::tok_tokens);
  if (tokens.size() > size_t{INT32_MAX}) key_fails(key::tok_tokens, fmt::format("has {} entries, too many", tokens.size()));
  impl.read_ids(meta);
  impl.model = spm ? spm_model(meta, impl.vocab) : bpe_model(meta, impl.vocab);
  if (const auto* version = meta.find<std::string>(key::tok_unicode)) impl.unicode = *version;
  return tok;
}

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> out;
  impl_->append_plain(text, out);
  return out;
}

std::vector<int32_t> Tokenizer::encode_with_specials(std::string_view text) const {
  std::vector<int32_t> ids;
  std::vector<bool> given;
  const TextPart all{text, false, {}};
  encode_parts({&all, 1}, ids, given);
  return ids;
}

void Tokenizer::encode_parts(std::span<const TextPart> parts, std::vector<int32_t>& ids, std::vector<bool>& given) const {
  Frame frame(*impl_, ids);
  for (const TextPart& part : parts) {
    if (part.plain)
      frame.plain(part.text);
    else
      frame.named(part.text);
    if (part.ids.empty()) continue;
    frame.end();
    given.resize(ids.size(), false);
    frame.given(part.ids);
    given.resize(ids.size(), true);
  }
  frame.end();
  given.resize(ids.size(), false);
}

std::string_view Tokenizer::name(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= impl_->vocab.tokens.size()) return {};
  return impl_->vocab.tokens[static_cast<size_t>(id)];
}

std::string_view Tokenizer::bytes(int32_t id) const { return is_special(id) ? std::string_view() : name(id); }

std::string_view Tokenizer::bytes_after(int32_t before, int32_t id) const {
  std::string_view text = bytes(id);
  const bool begins = before < 0 || (static_cast<size_t>(before) < size() && impl_->model->parts_text(before));
  const bool first = before < 0 || before == impl_->bos;
  if (begins && !text.empty() && impl_->model->has_prefix(id, first)) text.remove_prefix(1);
  return text;
}

std::string Tokenizer::decode(const std::vector<int32_t>& ids) const {
  std::string out;
  int32_t before = -1;
  for (const int32_t id : ids) {
    out += bytes_after(before, id);
    before = id;
  }
  return out;
}

bool Tokenizer::is_special(int32_t id) const {
  return id >= 0 && static_cast<size_t>(id) < impl_->vocab.special.size() && impl_->vocab.special[static_cast<size_t>(id)];
}

bool Tokenizer::is_end(int32_t id) const { return std::find(impl_->ends.begin(), impl_->ends.end(), id) != impl_->ends.end(); }

std::optional<int32_t> Tokenizer::bos() const { return impl_->bos; }
std::optional<int32_t> Tokenizer::eos() const { return impl_->eos; }
bool Tokenizer::add_bos() const { return impl_->add_bos; }
const std::vector<int32_t>& Tokenizer::ends() const { return impl_->ends; }
size_t Tokenizer::size() const { return impl_->vocab.tokens.size(); }

std::string Tokenizer::unicode_note() const {
  const std::string here = splitter_unicode();
  if (impl_->unicode.empty() || impl_->unicode == here) return {};
  return fmt::format(
      "the model's file was converted with the letters of Unicode {}, this program has those of Unicode {}: texts with characters "
      "new in between may give other tokens",
      impl_->unicode, here);
}

}  // namespace nyb
