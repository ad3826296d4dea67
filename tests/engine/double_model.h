// double_model.h - the forward pass of every family in double precision, written as plain loops over the plain weights. It reads
// config.json and the tensors itself and knows nothing of the project's model file, shapes or table of families.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nyb::test {

class DoubleModel {
 public:
  using Vec = std::vector<double>;
  explicit DoubleModel(const std::string& folder);  // config.json and model.safetensors
  Vec step(int32_t id);                             // the logits after the next token

 private:
  const std::vector<float>& weight(const std::string& name) const { return w_.at(name); }
  Vec linear(const std::string& name, const Vec& x) const;  // with its bias where there is one
  Vec norm(const Vec& x, const std::string& name) const;
  void norm_heads(Vec& x, const std::string& name) const;  // where there is such a norm
  bool turns(size_t layer) const;
  void turn(Vec& x) const;
  size_t window(size_t layer) const;  // 0: none
  Vec attend(size_t layer, const Vec& q) const;

  nlohmann::json c_;
  std::map<std::string, std::vector<float>> w_;
  std::string type_;
  size_t dim_, heads_, kv_heads_, head_dim_, layers_;
  Vec freqs_;
  double magnitude_ = 1;                 // of sine and cosine
  std::vector<std::vector<Vec>> k_, v_;  // [layer][position]
  size_t pos_ = 0;
};

}  // namespace nyb::test
