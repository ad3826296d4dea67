// npy_ids.cpp - numpy's header, a Python dictionary of three keys, read strictly; then the ids.
#include "chat/npy_ids.h"
#include <fmt/format.h>
#include <optional>
#include "chat/npy.h"
#include "common/app.h"
#include "common/options.h"
#include "model/bytes.h"

namespace nyb {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& what) { throw Error(fmt::format("{}: {}", name, what)); }

struct NpyHeader {
  std::string descr;
  bool fortran = false;
  std::vector<uint64_t> shape;
};

// {'descr': '<i4', 'fortran_order': False, 'shape': (3,), }
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  NpyHeader read() {
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !descr_) {
        descr_ = value_of_descr();
      } else if (key == "fortran_order" && !fortran_) {
        fortran_ = truth();
      } else if (key == "shape" && !shape_) {
        shape_ = tuple();
      } else {
        malformed(fmt::format("the key '{}', unknown or there twice", human_words(key)));
      }
      if (take('}')) break;
      expect(',');
    }
    skip_space();
    if (!rest_.empty()) malformed(seen());
    if (!descr_ || !fortran_ || !shape_) malformed("no 'descr', no 'fortran_order' or no 'shape'");
    return {*descr_, *fortran_, *shape_};
  }

 private:
  [[noreturn]] void malformed(const std::string& what) const {
    fail(name_, fmt::format("the header of this .npy file is malformed: it has {}", what));
  }
  std::string seen() const {
    return rest_.empty() ? "no end" : fmt::format("'{}' where that does not belong", human_words(rest_.substr(0, 16)));
  }
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_space();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) malformed(seen());
  }
  std::string quoted() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    if (quote != '\'' && quote != '"') malformed(seen());
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) malformed("a text without an end");
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string value_of_descr() {
    skip_space();
    if (rest_.starts_with('[')) fail(name_, "this .npy file holds records of several fields; one token id an element is wanted");
    return quoted();
  }
  bool truth() {
    skip_space();
    for (const std::string_view word : {"True", "False"})
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    malformed(seen());
  }
  std::vector<uint64_t> tuple() {
    std::vector<uint64_t> all;
    expect('(');
    while (!take(')')) {
      skip_space();
      const size_t n = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      const std::optional<uint64_t> v = parse_whole(rest_.substr(0, n));
      if (!v) malformed(seen());
      all.push_back(*v);
      rest_.remove_prefix(n);
      if (take(')')) break;
      expect(',');
    }
    return all;
  }

  std::string_view rest_;
  const std::string& name_;
  std::optional<std::string> descr_;
  std::optional<bool> fortran_;
  std::optional<std::vector<uint64_t>> shape_;
};

// Splits the header's text off `file`, which keeps the data.
std::string_view header_text(std::string_view& file, const std::string& name) {
  const auto* b = reinterpret_cast<const uint8_t*>(file.data());
  if (!file.starts_with(kNpyMagic)) fail(name, "this is not a .npy file, since it does not begin with numpy's \\x93NUMPY");
  if (file.size() < 12) fail(name, fmt::format("this .npy file ends after {} bytes, within its header", file.size()));
  const unsigned version = b[6];
  if (version < 1 || version > 3 || b[7] != 0)
    fail(name, fmt::format("this .npy file is of version {}.{}; 1.0, 2.0 and 3.0 are read", version, b[7]));
  const size_t at = version == 1 ? 10 : 12;
  const size_t size = version == 1 ? get_le<uint16_t>(b + 8) : get_le<uint32_t>(b + 8);
  if (size > file.size() - at)
    fail(name, fmt::format("this .npy file has {} bytes, but its header alone would take {}", file.size(), at + size));
  const std::string_view text = file.substr(at, size);
  file.remove_prefix(at + size);
  return text;
}

template <class T>
std::vector<int32_t> ids_as(std::string_view data, uint64_t count, const std::string& name, uint32_t vocab) {
  if (data.size() / sizeof(T) != count || data.size() % sizeof(T) != 0)
    fail(name, fmt::format("this .npy file holds {} bytes of data, but {} ids of {} bytes each are announced", data.size(), count,
                           sizeof(T)));
  std::vector<int32_t> ids;
  ids.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const auto v = static_cast<int64_t>(get_le<T>(reinterpret_cast<const uint8_t*>(data.data()) + i * sizeof(T)));
    if (v < 0 || v >= static_cast<int64_t>(vocab))
      fail(name, fmt::format("the id at position {} is {}, outside the vocabulary of {}", i, v, vocab));
    ids.push_back(static_cast<int32_t>(v));
  }
  return ids;
}

}  // namespace

std::vector<int32_t> npy_ids(std::string_view file, const std::string& name, uint32_t vocab) {
  const std::string_view text = header_text(file, name);
  const NpyHeader h = HeaderReader(text, name).read();
  if (h.shape.size() != 1) fail(name, fmt::format("this .npy file has {} dimensions; token ids have one", h.shape.size()));
  if (h.fortran) fail(name, "this .npy file is in Fortran order; C order is wanted ('fortran_order': False)");
  if (h.descr == "<i4") return ids_as<int32_t>(file, h.shape[0], name, vocab);
  if (h.descr == "<i8") return ids_as<int64_t>(file, h.shape[0], name, vocab);
  if (h.descr == "<u2") return ids_as<uint16_t>(file, h.shape[0], name, vocab);
  if (h.descr == "<u4") return ids_as<uint32_t>(file, h.shape[0], name, vocab);
  fail(name, fmt::format("the elements of this .npy file are of type '{}'; token ids are '<i4', '<i8', '<u2' or '<u4'",
                         human_words(h.descr)));
}

}  // namespace nyb
