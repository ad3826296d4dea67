// What happens when a file cannot be written, and when it is not finished: nothing is left, and one sentence is said.
#include "model/writer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "hf_folder.h"
#include "mnm_edit.h"
#include "model/convert.h"
#include "model/format.h"
#include "model/meta_io.h"
#include "model/out_file.h"
#include "support/data.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;
using test::message_of;
using test::says;

fs::path fresh_folder(const std::string& name) {
  fs::path p = test::tmp_dir() / name;
  fs::remove_all(p);
  fs::create_directories(p);
  return p;
}

ModelSource tiny_source() { return hf_open(test::tiny_model().write("writer-hf").string()); }

std::vector<TensorPlan> plan_of(const ModelSource& s) {
  std::vector<TensorPlan> plan;
  for (const TensorSlot& t : model_slots(s.shape, s.tied))
    plan.push_back({t.name, t.matrix ? TType::f32 : TType::vec, t.rows, t.cols});
  return plan;
}

void write_zeros(MnmWriter& w, const std::vector<TensorPlan>& plan) {
  for (const TensorPlan& p : plan) {
    const std::vector<uint8_t> zeros(tensor_bytes(p.type, p.rows, p.cols));
    w.tensor(zeros.data(), zeros.size());
  }
}

TEST(Writer, NothingUntilFinished) {
  const fs::path dir = fresh_folder("unfinished"), out = dir / "m.mnm";
  const ModelSource s = tiny_source();
  const auto plan = plan_of(s);
  {
    MnmWriter w(out.string(), s.shape, s.meta, plan);
    write_zeros(w, plan);
    EXPECT_FALSE(fs::exists(out));
    EXPECT_FALSE(fs::is_empty(dir));
  }
  EXPECT_TRUE(fs::is_empty(dir));
  test::write_file(out, "old");
  { MnmWriter w(out.string(), s.shape, s.meta, plan); }
  EXPECT_EQ(test::read_file(out), "old");
  {
    MnmWriter w(out.string(), s.shape, s.meta, plan);
    write_zeros(w, plan);
    w.finish();
    EXPECT_EQ(w.file_bytes(), fs::file_size(out));
  }
  EXPECT_TRUE(model_verify(*eng_load(out.string())).empty());
  EXPECT_EQ(std::distance(fs::directory_iterator(dir), {}), 1);
}

// In any parts: the same file.
TEST(Writer, PartsDoNotMatter) {
  const fs::path dir = fresh_folder("parts");
  const ModelSource s = tiny_source();
  const auto plan = plan_of(s);
  std::vector<std::string> files;
  for (const size_t part : {size_t{1000000}, size_t{64}, size_t{7}}) {
    MnmWriter w((dir / "m.mnm").string(), s.shape, s.meta, plan);
    uint8_t x = 0;
    for (const TensorPlan& p : plan) {
      std::vector<uint8_t> b(tensor_bytes(p.type, p.rows, p.cols));
      for (uint8_t& v : b) v = static_cast<uint8_t>(x++ & 0x3f);
      for (size_t at = 0; at < b.size(); at += part) w.tensor(b.data() + at, std::min(part, b.size() - at));
    }
    w.finish();
    files.push_back(test::read_file(dir / "m.mnm"));
  }
  EXPECT_EQ(files[0], files[1]);
  EXPECT_EQ(files[0], files[2]);
}

TEST(Writer, WhatWouldNotLoadIsNotKept) {
  const fs::path dir = fresh_folder("bad"), out = dir / "m.mnm";
  const ModelSource s = tiny_source();
  const auto plan = plan_of(s);
  Meta meta = s.meta;
  meta.set(key::act, std::string("gelu"), true);
  EXPECT_TRUE(says(message_of([&] {
                     MnmWriter w(out.string(), s.shape, meta, plan);
                     write_zeros(w, plan);
                     w.finish();
                   }),
                   out.string() + ": the finished file does not read back: act is \"gelu\""));
  EXPECT_TRUE(fs::is_empty(dir));
  EXPECT_THROW(
      {
        MnmWriter w(out.string(), s.shape, s.meta, plan);
        w.finish();
      },
      std::logic_error);
  EXPECT_TRUE(fs::is_empty(dir));
}

TEST(Writer, PlacesThatCannotBeWritten) {
  const fs::path dir = fresh_folder("places");
  const auto message = [](const fs::path& p) { return message_of([&] { const OutFile f(p.string()); }); };
  EXPECT_TRUE(says(message(dir), "this is a folder; give the name of a file"));
  EXPECT_TRUE(says(message(dir / "x" / "m.mnm"), "the folder " + (dir / "x").string() + " to write it in is not there"));
  EXPECT_TRUE(says(message(dir / "m.mnm/"), "names a folder"));
  EXPECT_TRUE(says(message(""), "the name of the output file is empty"));
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  EXPECT_TRUE(says(message(dir / "fifo"), "not a regular file"));
  EXPECT_TRUE(says(message("/dev/null"), "not a regular file"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_TRUE(says(message("/proc/m.mnm"), "/proc/m.mnm: cannot write in its folder"));
  fs::create_symlink(dir / "nowhere", dir / "dangling");
  EXPECT_TRUE(says(message(dir / "dangling"), "leads nowhere"));
  fs::permissions(test::tmp_dir(), fs::perms::all);
  fs::permissions(dir, static_cast<fs::perms>(0555));  // to be looked into, by any user of any group
  EXPECT_EXIT(
      {
        if (geteuid() == 0 && seteuid(65534) != 0) _exit(9);
        _exit(says(message(dir / "m.mnm"), "cannot write in its folder: Permission denied") ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(Writer, PlansThatAFileCannotHold) {
  const fs::path dir = fresh_folder("plans");
  const ModelSource s = tiny_source();
  const auto message = [&](const std::vector<TensorPlan>& plan) {
    return message_of([&] { const MnmWriter w((dir / "m.mnm").string(), s.shape, s.meta, plan); });
  };
  EXPECT_TRUE(says(message({{"", TType::f32, 1, 1}}), "cannot hold a tensor named \"\""));
  EXPECT_TRUE(says(message({{std::string(64, 'n'), TType::f32, 1, 1}}), "cannot hold a tensor named \"nnn"));
  EXPECT_EQ(message({{std::string(63, 'n'), TType::f32, 1, 1}}), "");
  const TensorPlan half{"a", TType::f32, 1u << 30, uint64_t{1} << 29};
  EXPECT_TRUE(says(message({half, half, half, half}), "m.mnm: the model does not fit in a file"));
  const ModelSource none = tiny_source();
  MnmWriter w((dir / "m.mnm").string(), none.shape, none.meta, {{"a", TType::vec, 1, 4}});
  const float x[5] = {};
  EXPECT_THROW(w.tensor(x, sizeof x), std::logic_error);
  EXPECT_THROW(w.set("source.hash", 1), std::logic_error);  // never planned
  EXPECT_THROW(w.set("family", 1), std::logic_error);       // not a number
}

// The disk's late errors: those of syncing, and of the last renaming.
TEST(Writer, LateErrors) {
  const fs::path dir = fresh_folder("late"), out = dir / "m.mnm";
  {
    OutFile f(out.string());
    for (const auto& fd : fs::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (fs::read_symlink(fd.path(), gone) == f.temporary()) {
        close(std::stoi(fd.path().filename().string()));
        break;
      }
    }
    EXPECT_TRUE(says(message_of([&] { f.sync(); }), "m.mnm: cannot write: Bad file descriptor"));
  }
  EXPECT_TRUE(fs::is_empty(dir));
  {
    OutFile f(out.string());
    f.write(0, "x", 1);
    fs::create_directory(out);
    EXPECT_TRUE(says(message_of([&] { f.commit(); }), "m.mnm: cannot give the finished file its name: Is a directory"));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir), {}), 1);
}

TEST(Writer, ASymbolicLinkStays) {
  const fs::path dir = fresh_folder("link");
  test::write_file(dir / "real", "old");
  fs::create_symlink("real", dir / "m.mnm");
  OutFile f((dir / "m.mnm").string());
  f.write(0, "new", 3);
  f.commit();
  EXPECT_TRUE(fs::is_symlink(dir / "m.mnm"));
  EXPECT_EQ(test::read_file(dir / "real"), "new");
}

void limit_files() {
  signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{6000, 6000};
  setrlimit(RLIMIT_FSIZE, &limit);
}

// A limit on file sizes stands for a full disk: the space is asked for at once, and a later write fails alike.
TEST(Writer, NoSpace) {
  const fs::path dir = fresh_folder("space");
  EXPECT_EXIT(
      {
        const fs::path hf = test::tiny_model().write("space-hf");
        limit_files();
        const std::string m = message_of([&] { convert(hf_open(hf.string()), (dir / "m.mnm").string(), {}); });
        _exit(says(m, "m.mnm: cannot write its ") && says(m, "larger than the limit on files") && fs::is_empty(dir) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        std::string m;
        {
          OutFile f((dir / "m.mnm").string());
          limit_files();
          const std::string big(10000, 'x');
          m = message_of([&] { f.write(0, big.data(), big.size()); });
        }
        _exit(says(m, "cannot write at byte 6000: the file would be larger") && fs::is_empty(dir) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(Writer, FullDisk) {
  const fs::path dir = fresh_folder("disk");
  OutFile f((dir / "m.mnm").string());
  EXPECT_TRUE(says(message_of([&] { f.reserve(uint64_t{1} << 60); }), "m.mnm: cannot write its 1152921504606846976 bytes: "));
}

// 64-bit offsets: a file of 5.4 GB, made by hand and almost all holes, whose last row is not one.
TEST(Writer, BeyondFourGiB) {
  const fs::path out = fresh_folder("large") / "m.mnm";
  ModelSource s = tiny_source();
  s.shape.layers = 1;
  s.shape.vocab = 56u << 20;
  Header h;
  h.shape = shape_fields(s.shape);
  const auto slots = model_slots(s.shape, true);
  const std::string meta = meta_encode(s.meta);
  h.table_count = slots.size();
  h.table_bytes = slots.size() * kEntryBytes;
  h.meta_offset = kHeaderBytes + h.table_bytes;
  h.meta_count = s.meta.entries().size();
  h.meta_bytes = meta.size();
  h.data_offset = align64(h.meta_offset + h.meta_bytes);
  std::string table;
  uint64_t next = h.data_offset, down = 0;
  for (const TensorSlot& t : slots) {
    const TType type = t.matrix ? TType::f32 : TType::vec;
    std::string e = t.name;
    e.resize(64);
    put_le(e, static_cast<uint64_t>(type));
    if (t.name == "layers.0.down") down = next;
    for (const uint64_t v : {t.rows, t.cols, next, tensor_bytes(type, t.rows, t.cols)}) put_le(e, v);
    next = align64(next + tensor_bytes(type, t.rows, t.cols));
    e.resize(128);
    table += e;
    h.params += t.rows * t.cols;
  }
  h.file_bytes = next;
  h.data_bytes = next - h.data_offset;
  h.content_hash = test::hash_of(table + meta);
  ASSERT_GT(next, uint64_t{5} << 30);
  {
    const auto head = h.encode();
    OutFile f(out.string());
    f.write(0, head.data(), head.size());
    f.write(kHeaderBytes, (table + meta).data(), table.size() + meta.size());
    const float v = 1.5f;
    f.write(down + uint64_t{19} * 64 + 12, &v, 4);                                      // row 3, column 19
    f.write(h.data_offset + (uint64_t{s.shape.vocab} / 16 * 24 - 1) * 64 + 60, &v, 4);  // the embedding's last value
    f.write(next - 1, "", 1);
    f.commit();
  }
  const auto m = eng_load(out.string());
  std::vector<float> row(24);
  tensor_row(*m->layers[0].down, 3, row.data());
  EXPECT_EQ(row[19], 1.5f);
  EXPECT_GT(m->layers[0].down->offset, uint64_t{5} << 30);
  tensor_row(*m->embed, s.shape.vocab - 1, row.data());
  EXPECT_EQ(row[23], 1.5f);
  EXPECT_EQ(row[22], 0.0f);
}

}  // namespace
}  // namespace nyb
