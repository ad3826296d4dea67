// eval.cpp - loss over a file. The loss is for reading: the logits are exact, its logarithm is the C library's.
#include "chat/eval.h"
#include <fmt/format.h>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include "chat/eval_input.h"
#include "chat/reply.h"
#include "chat/report.h"
#include "common/app.h"
#include "engine/fingerprint.h"
#include "engine/logprob.h"

namespace nyb {
namespace {

struct Totals {
  double loss = 0;
  uint64_t targets = 0, tokens = 0;
  double seconds = 0;
  Fingerprint print;
};

void score(Runtime& r, const ChatOptions& o, const Piece& p, Totals& t) {
  size_t at = 0;
  step_rows(*r.engine, p.ids, 0, o.chunk, [&](std::span<const float> row) {
    t.print.add(row);
    ++at;  // this row predicts the token at `at`
    if (at >= p.ids.size() || !p.scored[at]) return;
    t.loss -= logprob_of(row, p.ids[at]).value;
    ++t.targets;
  });
  t.tokens += p.ids.size();
}

void print(const Runtime& r, const ChatOptions& o, const Totals& t) {
  const double loss = t.loss / static_cast<double>(t.targets);
  const double speed = t.seconds > 0 ? static_cast<double>(t.tokens) / t.seconds : 0;
  if (!o.json) {
    out_write(fmt::format("loss {:.6f}; perplexity {:.5f}; {} targets of {} tokens; {:.1f} tok/s\n", loss, std::exp(loss),
                          t.targets, t.tokens, speed));
    if (o.fingerprint) err_write(fingerprint_line(r, t.print.hex()));
    return;
  }
  nlohmann::ordered_json j;
  j["eval"] = o.eval;
  j["loss"] = loss;
  j["perplexity"] = std::exp(loss);
  j["targets"] = t.targets;
  j["tokens"] = t.tokens;
  j["seconds"] = t.seconds;
  j["tokens_per_second"] = speed;
  j["fingerprint"] = t.print.hex();
  json_describe(j, r);
  out_write(json_line(j));
}

}  // namespace

int eval_run(Runtime& r, const ChatOptions& o) {
  const std::vector<Piece> pieces = eval_pieces(r, o.eval);
  Totals t;
  const auto start = std::chrono::steady_clock::now();
  {
    Progress bar("scoring", pieces.size(), !o.quiet);
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!pieces[i].ids.empty()) score(r, o, pieces[i], t);
      bar.at(i + 1);
    }
  }
  t.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!t.targets) throw Error(fmt::format("'{}' has no token to score", human_words(o.eval)));
  print(r, o, t);
  return 0;
}

}  // namespace nyb
