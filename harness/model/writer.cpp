// writer.cpp - the layout from a plan, the hashes as the bytes pass, and the checked end.
#include "model/writer.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <stdexcept>
#include <utility>

#include "kern/error.h"
#include "model/format.h"
#include "model/meta_io.h"
#include "model/out_file.h"

namespace nyb {

struct MnmWriter::Impl {
  struct FreeState {
    void operator()(XXH3_state_t* s) const { XXH3_freeState(s); }
  };

  std::string path;
  Meta meta;
  std::vector<Tensor> tensors;
  Header header;
  OutFile out;
  std::unique_ptr<XXH3_state_t, FreeState> hash{XXH3_createState()};
  size_t current = 0;  // the tensor at hand
  uint64_t done = 0;   // its bytes so far

  Impl(std::string p, const Meta& m) : path(std::move(p)), meta(m), out(path) {}

  void begin() { XXH3_64bits_reset(hash.get()); }
  void end_tensor();
  std::string table() const;
  void check() const;
};

MnmWriter::MnmWriter(std::string path, const ModelShape& shape, const Meta& meta, std::vector<TensorPlan> plan)
    : impl_(std::make_unique<Impl>(std::move(path), meta)) {
  Impl& w = *impl_;
  Header& h = w.header;
  h.shape = shape_fields(shape);
  h.table_count = plan.size();
  h.table_bytes = plan.size() * kEntryBytes;
  h.meta_offset = h.table_offset + h.table_bytes;
  h.meta_count = meta.entries().size();
  h.meta_bytes = meta_encode(meta).size();
  h.data_offset = align64(h.meta_offset + h.meta_bytes);
  uint64_t next = h.data_offset;
  for (TensorPlan& p : plan) {
    if (p.name.empty() || p.name.size() >= kNameBytes) throw Error("a model file cannot hold a tensor named " + shown(p.name));
    Tensor t;
    t.name = std::move(p.name);
    t.type = p.type;
    t.rows = p.rows;
    t.cols = p.cols;
    t.offset = next;
    t.bytes = tensor_bytes(p.type, p.rows, p.cols);
    if (t.bytes > (uint64_t{1} << 62) - next) throw Error(w.path + ": the model does not fit in a file");
    next = align64(next + t.bytes);
    h.params += t.rows * t.cols;
    w.tensors.push_back(std::move(t));
  }
  h.file_bytes = next;
  h.data_bytes = next - h.data_offset;
  w.out.reserve(h.file_bytes);
  w.begin();
}

MnmWriter::~MnmWriter() = default;

uint64_t MnmWriter::file_bytes() const { return impl_->header.file_bytes; }

void MnmWriter::Impl::end_tensor() {
  static constexpr uint8_t zeros[64] = {};
  Tensor& t = tensors[current];
  t.hash = XXH3_64bits_digest(hash.get());
  out.write(t.offset + t.bytes, zeros, align64(t.bytes) - t.bytes);
  current++;
  done = 0;
  begin();
}

void MnmWriter::tensor(const void* bytes, uint64_t n) {
  Impl& w = *impl_;
  if (w.current == w.tensors.size() || n > w.tensors[w.current].bytes - w.done)
    throw std::logic_error("more tensor bytes than planned");
  XXH3_64bits_update(w.hash.get(), bytes, n);
  w.out.write(w.tensors[w.current].offset + w.done, bytes, n);
  w.done += n;
  if (w.done == w.tensors[w.current].bytes) w.end_tensor();
}

void MnmWriter::set(std::string_view key, uint64_t v) {
  const auto it = impl_->meta.entries().find(key);
  if (it == impl_->meta.entries().end() || !std::holds_alternative<uint64_t>(it->second.value))
    throw std::logic_error("a key was not planned as a u64");
  impl_->meta.set(std::string(key), v, it->second.required);
}

std::string MnmWriter::Impl::table() const {
  std::string s;
  for (const Tensor& t : tensors) {
    s += t.name;
    s.append(kNameBytes - t.name.size(), '\0');
    put_le(s, static_cast<uint32_t>(t.type));
    put_le(s, 0u);
    for (const uint64_t v : {t.rows, t.cols, t.offset, t.bytes, t.hash}) put_le(s, v);
    s.append(kEntryBytes - at::tail, '\0');
  }
  return s;
}

// Read back as a user would: a file that this program would refuse never gets its name.
void MnmWriter::Impl::check() const {
  std::string wrong;
  try {
    const auto model = eng_load(out.temporary());
    if (const auto bad = model_verify(*model); !bad.empty()) wrong = bad.front();
  } catch (const Error& e) {
    wrong = e.what();
    // the person knows the file by the name it was to have
    if (wrong.starts_with(out.temporary() + ": ")) wrong.erase(0, out.temporary().size() + 2);
  }
  if (!wrong.empty()) throw Error(fmt::format("{}: the finished file does not read back: {}", path, wrong));
}

void MnmWriter::finish() {
  Impl& w = *impl_;
  if (w.current != w.tensors.size()) throw std::logic_error("fewer tensors than planned");
  std::string front = w.table() + meta_encode(w.meta);
  w.header.content_hash = XXH3_64bits(front.data(), front.size());
  front.resize(w.header.data_offset - w.header.table_offset, '\0');
  w.out.write(w.header.table_offset, front.data(), front.size());
  const auto head = w.header.encode();
  w.out.write(0, head.data(), head.size());
  w.out.sync();
  w.check();
  w.out.commit();
}

}  // namespace nyb
