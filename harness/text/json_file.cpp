// json_file.cpp - reading and parsing, and where in the file a value is.
#include "text/json_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "kern/error.h"
#include "model/json.h"
#include "model/look.h"

namespace nyb {
namespace {
using nlohmann::json;

constexpr uintmax_t kMaxBytes = uintmax_t{256} << 20;
constexpr int kMaxDepth = 64;

}  // namespace

std::optional<std::string> text_file(const std::string& path) {
  const auto kind = file_look(path);
  if (kind == std::filesystem::file_type::not_found) return std::nullopt;
  // Asked first: opening a FIFO would wait for ever.
  if (kind != std::filesystem::file_type::regular) throw Error(fmt::format("{} is not a regular file", path));
  std::error_code ec;
  const uintmax_t size = std::filesystem::file_size(path, ec);
  if (ec) throw Error(fmt::format("{} cannot be read: {}", path, ec.message()));
  if (size > kMaxBytes)
    throw Error(fmt::format("{} has {} bytes, more than the {} that such a file may have", path, size, kMaxBytes));
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(fmt::format("{} cannot be opened: {}", path, std::strerror(errno)));
  std::string text(static_cast<size_t>(size), '\0');
  in.read(text.data(), static_cast<std::streamsize>(size));
  if (static_cast<uintmax_t>(in.gcount()) != size)
    throw Error(fmt::format("{} ended after {} of {} bytes", path, in.gcount(), size));
  return text;
}

std::optional<json> json_file(const std::string& path) {
  const auto text = text_file(path);
  if (!text) return std::nullopt;
  return json_strict({reinterpret_cast<const uint8_t*>(text->data()), text->size()}, path, kMaxDepth);
}

void JsonView::fail(std::string_view what) const { throw Error(fmt::format("{} {}", name_, what)); }

void JsonView::need_array() const {
  if (!value_->is_array()) fail(fmt::format("is of type {}, a list is needed", value_->type_name()));
}

void JsonView::need_object() const {
  if (!value_->is_object()) fail(fmt::format("is of type {}, an object is needed", value_->type_name()));
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  need_object();
  const auto it = value_->find(std::string(key));
  if (it == value_->end() || it->is_null()) return std::nullopt;
  return JsonView(*it, fmt::format("{}{}{}", name_, name_.ends_with(':') ? " " : ".", key));
}

JsonView JsonView::get(std::string_view key) const {
  if (const auto found = find(key)) return *found;
  throw Error(fmt::format("{}{}{} is missing", name_, name_.ends_with(':') ? " " : ".", key));
}

JsonView JsonView::at(size_t index) const { return {value_->at(index), fmt::format("{}[{}]", name_, index)}; }

const std::string& JsonView::string() const {
  if (!value_->is_string()) fail(fmt::format("is of type {}, a string is needed", value_->type_name()));
  return value_->get_ref<const std::string&>();
}

bool JsonView::boolean() const {
  if (!value_->is_boolean()) fail(fmt::format("is of type {}, true or false is needed", value_->type_name()));
  return value_->get<bool>();
}

uint32_t JsonView::id(uint32_t below) const {
  // A negative whole number is of another type inside the library than one that is not.
  if (!value_->is_number_unsigned()) {
    const bool plain = value_->is_number();
    fail(fmt::format("is {}, a token id is needed", plain ? value_->dump() : fmt::format("of type {}", value_->type_name())));
  }
  const auto n = value_->get<uint64_t>();
  if (n >= below) fail(fmt::format("is {}, beyond the vocabulary of {}", n, below));
  return static_cast<uint32_t>(n);
}

}  // namespace nyb
