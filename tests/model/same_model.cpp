#include "same_model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "model/convert.h"
#include "support/data.h"

namespace nyb::test {
namespace fs = std::filesystem;

std::string converted(const ModelSource& src, std::optional<TType> type) {
  std::string out = (tmp_dir() / "same-out.mnm").string();
  ConvertOptions o;
  o.type = o.head = type;
  convert(src, out, o);
  return out;
}

void expect_same_model(const ModelSource& a, const ModelSource& b) {
  for (const TType type : {TType::f32, TType::q8, TType::q4}) {
    const auto ma = eng_load(converted(a, type));
    const std::string kept = (tmp_dir() / "same-kept.mnm").string();
    fs::rename(ma->path, kept);
    const auto mb = eng_load(converted(b, type));
    EXPECT_EQ(ma->shape.ctx, mb->shape.ctx);
    EXPECT_EQ(ma->shape.head_dim, mb->shape.head_dim);
    ASSERT_EQ(ma->tensors.size(), mb->tensors.size());
    for (size_t i = 0; i < ma->tensors.size(); i++) {
      const Tensor &ta = ma->tensors[i], &tb = mb->tensors[i];
      EXPECT_EQ(ta.name, tb.name);
      ASSERT_EQ(ta.bytes, tb.bytes);
      EXPECT_EQ(std::memcmp(ta.data, tb.data, ta.bytes), 0) << ta.name << " in " << ttype_name(type);
    }
    EXPECT_EQ(ma->meta.entries().size(), mb->meta.entries().size());
    for (const auto& [k, e] : ma->meta.entries()) {
      if (k == key::name || k.starts_with("source.")) continue;
      if (k == key::norm_eps) {
        EXPECT_EQ(static_cast<float>(std::get<double>(e.value)), static_cast<float>(mb->meta.get<double>(k)));
        continue;
      }
      EXPECT_TRUE(mb->meta.entries().at(k).value == e.value) << k;
    }
  }
}

}  // namespace nyb::test
