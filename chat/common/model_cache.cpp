#include "common/model_cache.h"
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include "common/folders.h"
#include "common/import_model.h"
#include "kern/error.h"
#include "model/file_kind.h"
#include "model/format.h"
#include "model/look.h"
#include "model/mapped_file.h"
#include "model/out_file.h"
#include "model/outline.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

// Goes up whenever the same source would give another file: what older programs left is then converted anew.
constexpr int kRevision = 2;
constexpr const char* kFolder = "models";
// What is younger may still be written to by somebody.
constexpr std::chrono::hours kUnfinishedFor{1};

bool part_of_model(const fs::path& p) {
  const std::string ext = p.extension().string();
  return ext == ".json" || ext == ".safetensors" || ext == ".jinja";
}

// The files that make up a source: those of a folder, all parts of a GGUF in parts, or the file itself.
std::vector<fs::path> files_of(const fs::path& source) {
  std::vector<fs::path> files;
  if (fs::is_directory(source)) {
    for (const fs::directory_entry& e : fs::directory_iterator(source))
      if (part_of_model(e.path())) files.push_back(e.path());
  } else {
    const std::string name = source.filename().string();
    static const std::regex part("(.*)-[0-9]{5}(-of-[0-9]{5}\\.gguf)");
    if (std::smatch m; std::regex_match(name, m, part)) {
      for (const fs::directory_entry& e : fs::directory_iterator(source.parent_path()))
        if (const std::string n = e.path().filename().string();
            n.size() == name.size() && n.starts_with(m[1].str() + "-") && n.ends_with(m[2].str()))
          files.push_back(e.path());
    } else {
      files.push_back(source);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// nullopt: it is not there, or cannot be looked at.
std::optional<std::string> identity(const fs::path& source) {
  std::string all = fmt::format("{}.{}\n{}\n", kFormatVersion, kRevision, source.string());
  try {
    for (const fs::path& f : files_of(source)) {
      struct stat st {};
      if (stat(f.c_str(), &st) != 0) return std::nullopt;
      all += fmt::format("{} {} {}.{} {}.{}\n", f.filename().string(), st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                         st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
    }
  } catch (const fs::filesystem_error&) { return std::nullopt; }
  return fmt::format("{:016x}", XXH3_64bits(all.data(), all.size()));
}

// Where the source of a file in the cache is stands in a file beside it, not in it: the same model has the same checksum wherever
// it came from.
fs::path note_of(fs::path kept) { return kept += ".source"; }

std::string source_of(const fs::path& kept) {
  std::ifstream in(note_of(kept), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void note_source(const fs::path& kept, const std::string& source) {
  if (source_of(kept) != source) write_whole(note_of(kept).string(), source);
}

std::string name_in_cache(const fs::path& source, const std::string& id) {
  return fmt::format("{}-{}.mnm", source.stem().string(), id);
}

// What can be converted and says so: a folder of Hugging Face's, a GGUF, a version 1 model file, a llama2.c model with a magic.
bool is_convertible(const std::string& path) {
  const fs::file_type type = file_look(path);
  if (type == fs::file_type::directory) return file_there((fs::path(path) / "config.json").string());
  if (type != fs::file_type::regular) return false;
  const FileKind kind = file_kind(MappedFile(path).bytes());
  return kind == FileKind::gguf || kind == FileKind::mnm1 || kind == FileKind::llama2c;
}

// In full, with no link in it but one that the file itself is: parts of a model lie beside the name, not beside what it leads to.
fs::path where(const std::string& named) {
  std::error_code ec;
  const fs::path path = fs::absolute(named, ec), parent = fs::canonical(path.parent_path(), ec);
  fs::path all = !ec && fs::is_directory(path, ec) ? fs::canonical(path, ec) : parent / path.filename();
  if (ec) throw Error(fmt::format("{}: {}", named, ec.message()));
  return all;
}

void remove_entry(const fs::path& kept) {
  std::error_code ec;
  fs::remove(kept, ec);
  if (ec) throw Error(fmt::format("{}: {}", kept.string(), ec.message()));
  fs::remove(note_of(kept), ec);
}

// By its headers: its length, its version, its metadata.
bool is_whole(const std::string& path) {
  try {
    model_outline(path);
    return true;
  } catch (const Error&) { return false; }
}

CacheEntry entry_of(const fs::path& path) {
  CacheEntry e;
  e.path = path.string();
  std::error_code ec;
  e.bytes = fs::file_size(path, ec);
  if (path.extension() != ".mnm") {
    e.state = CacheEntry::State::unfinished;
    return e;
  }
  e.source = source_of(path);
  if (!is_whole(e.path)) {
    e.state = CacheEntry::State::damaged;
    return e;
  }
  const auto id = e.source.empty() || !fs::exists(e.source, ec) ? std::nullopt : identity(e.source);
  if (!id)
    e.state = CacheEntry::State::gone;
  else if (name_in_cache(e.source, *id) != path.filename())
    e.state = CacheEntry::State::changed;
  return e;
}

}  // namespace

CachedModel cached_model(const std::string& named, const std::function<void(uint64_t, uint64_t)>& progress) {
  if (!is_convertible(named)) return {named, {}, false, {}};
  const fs::path source = where(named);
  const auto id = identity(source);
  if (!id) throw Error(fmt::format("{}: the files of this model cannot be looked at", named));
  const fs::path kept = fs::path(cache_folder(kFolder)) / name_in_cache(source, *id);
  CachedModel c{kept.string(), source.string(), false, {}};
  if (file_there(c.path) && is_whole(c.path)) {
    note_source(kept, c.source);
    return c;
  }
  ModelSource src = import_model(named);
  ConvertOptions o;
  o.type = o.head = usual_type(src);
  o.progress = progress;
  const ConvertReport report = convert(src, c.path, o);
  if (identity(source) != id) {
    remove_entry(c.path);
    throw Error(fmt::format("{}: its files changed while they were read; try again when they are whole", named));
  }
  note_source(kept, c.source);
  c.made = true;
  c.notes = report.notes;
  const auto most = std::max_element(report.kinds.begin(), report.kinds.end(), [](const ConvertKind& a, const ConvertKind& b) {
    return a.weights.relative() < b.weights.relative();
  });
  c.notes.push_back(most == report.kinds.end() || most->weights.relative() == 0
                        ? "no weight was changed"
                        : fmt::format("the weights lost {:.2g} % at most, in {} ({}); quantize shows all",
                                      100 * most->weights.relative(), most->kind, most->types));
  return c;
}

std::string_view cache_state_text(CacheEntry::State s) {
  switch (s) {
    case CacheEntry::State::current: return "current";
    case CacheEntry::State::changed: return "its source has changed since";
    case CacheEntry::State::gone: return "its source is gone";
    case CacheEntry::State::damaged: return "damaged, or of another version of this program";
    default: return "never finished";
  }
}

std::vector<CacheEntry> model_cache() {
  std::vector<CacheEntry> all;
  std::vector<fs::path> files;
  for (const fs::directory_entry& e : fs::directory_iterator(cache_folder(kFolder))) {
    std::error_code ec;
    // what somebody else put here is none of ours
    static const std::regex ours("(.*-[0-9a-f]{16}\\.mnm)|(\\.nybble-.*\\.tmp)");
    if (!std::regex_match(e.path().filename().string(), ours)) continue;
    const bool young = fs::file_time_type::clock::now() - e.last_write_time(ec) < kUnfinishedFor;
    if (e.is_regular_file(ec) && (e.path().extension() == ".mnm" || !young)) files.push_back(e.path());
  }
  std::sort(files.begin(), files.end());
  all.reserve(files.size());
  for (const fs::path& f : files) all.push_back(entry_of(f));
  return all;
}

std::vector<CacheEntry> model_cache_prune(bool all) {
  std::vector<CacheEntry> gone;
  for (CacheEntry& e : model_cache()) {
    if (!all && e.state == CacheEntry::State::current) continue;
    remove_entry(e.path);
    gone.push_back(std::move(e));
  }
  return gone;
}

}  // namespace nyb
