// meta.cpp - typed access to the keys.
#include "model/meta.h"

#include "kern/error.h"
#include "model/meta_io.h"

namespace nyb {
const char* meta_type_name(uint32_t type) {
  static constexpr const char* names[] = {"u64", "f64", "string", "list of u32", "list of f64", "list of strings"};
  return type >= 1 && type <= std::size(names) ? names[type - 1] : "unknown type";
}

uint32_t meta_type(const MetaValue& v) { return static_cast<uint32_t>(v.index()) + 1; }

void Meta::set(std::string key, MetaValue value, bool required) {
  entries_.insert_or_assign(std::move(key), Entry{std::move(value), required});
}

bool Meta::has(std::string_view key) const { return entries_.find(key) != entries_.end(); }

template <class T>
const T* Meta::find(std::string_view key) const {
  const auto it = entries_.find(key);
  if (it == entries_.end()) return nullptr;
  const T* v = std::get_if<T>(&it->second.value);
  if (!v) {
    throw Error("the model's key \"" + std::string(key) + "\" is a " + meta_type_name(meta_type(it->second.value)) + " where a " +
                meta_type_name(meta_type(MetaValue(T{}))) + " belongs");
  }
  return v;
}

template <class T>
const T& Meta::get(std::string_view key) const {
  const T* v = find<T>(key);
  if (!v) throw Error("the model has no key \"" + std::string(key) + "\"; convert it again with quantize");
  return *v;
}

template const uint64_t* Meta::find(std::string_view) const;
template const double* Meta::find(std::string_view) const;
template const std::string* Meta::find(std::string_view) const;
template const std::vector<uint32_t>* Meta::find(std::string_view) const;
template const std::vector<double>* Meta::find(std::string_view) const;
template const std::vector<std::string>* Meta::find(std::string_view) const;
template const uint64_t& Meta::get(std::string_view) const;
template const double& Meta::get(std::string_view) const;
template const std::string& Meta::get(std::string_view) const;
template const std::vector<uint32_t>& Meta::get(std::string_view) const;
template const std::vector<double>& Meta::get(std::string_view) const;
template const std::vector<std::string>& Meta::get(std::string_view) const;

}  // namespace nyb
