#include "programs.h"
#include <gtest/gtest.h>
#include <sstream>
#include "model/model.h"
#include "model/writer.h"
#include "support/data.h"

namespace nyb::test {

std::string program(const std::string& name) { return (binary_dir() / "bin" / name).string(); }
std::string pocket_model() { return (binary_dir() / "share" / "nybble" / "pocket.mnm").string(); }

Ran chat(const Args& args, const RunOptions& o) {
  Args all{program("chat")};
  all.insert(all.end(), args.begin(), args.end());
  return run(all, o);
}

Spoken talk(const std::string& in, Args args) {
  args.insert(args.end(), {"--json", "--quiet"});
  const Ran r = chat(args, {.in = in});
  EXPECT_EQ(r.code, 0) << r.err;
  Spoken all{{}, r.err};
  std::istringstream lines(r.out);
  for (std::string line; std::getline(lines, line);) all.replies.push_back(nlohmann::json::parse(line, nullptr, false));
  return all;
}

std::string pocket_with(const std::string& name, const std::function<bool(std::string_view, MetaValue&)>& edit) {
  const auto m = eng_load(pocket_model());
  Meta meta;
  for (const auto& [k, e] : m->meta.entries()) {
    MetaValue value = e.value;
    if (edit(k, value)) meta.set(k, value, e.required);
  }
  std::vector<TensorPlan> plan;
  for (const Tensor& t : m->tensors) plan.push_back({t.name, t.type, t.rows, t.cols});
  std::string path = (tmp_dir() / name).string();
  MnmWriter w(path, m->shape, meta, plan);
  for (const Tensor& t : m->tensors) w.tensor(t.data, t.bytes);
  w.finish();
  return path;
}

std::string fingerprint_of(const std::string& err) {
  const std::string word = "fingerprint ";
  const size_t at = err.find(word);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no fingerprint in: " << err;
    return {};
  }
  return err.substr(at + word.size(), 16);
}

}  // namespace nyb::test
