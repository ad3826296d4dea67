// report.cpp - figures in words and in JSON.
#include "chat/report.h"
#include <fmt/format.h>
#include <cmath>
#include <nlohmann/json.hpp>
#include "chat/memory.h"
#include "common/app.h"

namespace nyb {
namespace {

double rate(uint32_t n, double seconds) { return n && seconds > 0 ? n / seconds : 0; }

std::string with_rate(uint32_t n, const char* what, double per_second) {
  std::string s = fmt::format("{} {} token{}", n, what, n == 1 ? "" : "s");
  if (per_second > 0) s += fmt::format(", {:.1f}/s", per_second);
  return s;
}

// The first token comes of the prompt; the rate is that of those after it. The weights are read once for each pass.
double reply_rate(const Reply& p) { return rate(p.steps + p.guessed_right, p.reply_seconds); }
double weights_gbs(const Runtime& r, const Reply& p) {
  return rate(p.steps, p.reply_seconds) * static_cast<double>(bytes_per_token(*r.model)) / 1e9;
}

// The shortest decimal that gives the float back: 0.7, not 0.699999988079071.
nlohmann::ordered_json shortest(float v) { return nlohmann::ordered_json::parse(fmt::format("{}", v)); }

// {"id": 5, "text": " a", "bytes": [32, 97], "logprob": -0.25}; null where the logit was not finite, for JSON has no infinity.
nlohmann::ordered_json token_json(const Runtime& r, const LogProb& p) {
  nlohmann::ordered_json j;
  j["id"] = p.id;
  if (r.tok) {
    const std::string_view bytes = r.tok->name(p.id);
    j["text"] = std::string(bytes);
    j["bytes"] = std::vector<uint8_t>(bytes.begin(), bytes.end());
  }
  if (std::isfinite(p.value))
    j["logprob"] = p.value;
  else
    j["logprob"] = nullptr;
  return j;
}

// One for each id of the reply, with the likeliest tokens of its position.
nlohmann::ordered_json logprobs_json(const Runtime& r, const Reply& p) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::vector<LogProb>& probs : p.probs) {
    nlohmann::ordered_json j = token_json(r, probs.front());
    j["top"] = nlohmann::ordered_json::array();
    for (size_t i = 1; i < probs.size(); ++i) j["top"].push_back(token_json(r, probs[i]));
    all.push_back(std::move(j));
  }
  return all;
}

}  // namespace

std::string hex16(uint64_t v) { return fmt::format("{:016x}", v); }

std::string stats_line(const Runtime& r, const Reply& p, uint64_t seed) {
  const uint32_t run = p.prompt_tokens - p.cached_tokens;
  std::string s = with_rate(run, "prompt", rate(run, p.prompt_seconds));
  if (p.cached_tokens) s += fmt::format(" ({} more from the cache)", p.cached_tokens);
  s += "; " + with_rate(static_cast<uint32_t>(p.ids.size()), "reply", reply_rate(p));
  if (p.steps) s += fmt::format(", {:.2f} GB/s of weights", weights_gbs(r, p));
  if (p.steps && r.read_gbs > 0) s += fmt::format(", {:.0f} % of what reading them gives", 100 * weights_gbs(r, p) / r.read_gbs);
  if (p.guessed) s += fmt::format("; {} of {} guessed tokens right", p.guessed_right, p.guessed);
  if (p.reread_tokens) s += fmt::format("; {} read again in {:.1f} s", p.reread_tokens, p.reread_seconds);
  s += fmt::format("; context {} of {}", p.context, r.engine->ctx());
  if (p.stop == Stop::max) s += " (stopped by --max)";
  if (p.stop == Stop::text) s += " (stopped by a stop text)";
  if (p.stop == Stop::context) s += " (stopped: the context is full)";
  if (p.stop == Stop::interrupted) s += " (interrupted)";
  return s + fmt::format("; seed {}", seed);
}

std::string fingerprint_line(const Runtime& r, const std::string& hex) {
  return fmt::format("fingerprint {}; file {}; cache {}\n", hex, hex16(r.model->checksum), kv_name(r.engine->kv()));
}

void json_describe(nlohmann::ordered_json& j, const Runtime& r) {
  j["model"] = r.model->name;
  j["file"] = r.model->path;
  j["checksum"] = hex16(r.model->checksum);
  j["type"] = r.model->type_name;
  j["kernel"] = path_name(r.kern.table.path);
  j["threads"] = r.threads.count;
  j["kv"] = kv_name(r.engine->kv());
  const MemoryReport m = memory_report(r);
  j["load"] = load_name(m.load);
  j["load_seconds"] = r.load.total();
  j["memory_bytes"] = {{"file", m.file},       {"resident", m.resident}, {"huge_pages", m.huge}, {"kv_cache", m.kv},
                       {"working", m.working}, {"engine", m.engine},     {"peak_rss", m.peak}};
}

std::string json_line(const nlohmann::ordered_json& j) {
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string reply_json(const Runtime& r, const ChatOptions& o, const Reply& p, uint64_t seed) {
  nlohmann::ordered_json j;
  j["text"] = p.text;
  j["ids"] = p.ids;
  j["stop"] = stop_name(p.stop);
  j["prompt_tokens"] = p.prompt_tokens;
  j["cached_tokens"] = p.cached_tokens;
  j["reply_tokens"] = p.ids.size();
  j["reread_tokens"] = p.reread_tokens;
  j["passes"] = p.steps;
  j["guessed_tokens"] = p.guessed;
  j["guessed_right"] = p.guessed_right;
  j["context_used"] = p.context;
  j["context"] = r.engine->ctx();
  j["prompt_seconds"] = p.prompt_seconds;
  j["reply_seconds"] = p.reply_seconds;
  j["reread_seconds"] = p.reread_seconds;
  j["prompt_tokens_per_second"] = rate(p.prompt_tokens - p.cached_tokens, p.prompt_seconds);
  j["reply_tokens_per_second"] = reply_rate(p);
  j["weights_gb_per_second"] = weights_gbs(r, p);
  j["read_gb_per_second"] = r.read_gbs;
  j["fingerprint"] = p.fingerprint_hex;
  json_describe(j, r);
  j["seed"] = seed;
  const SampParams& samp = o.set.samp;
  j["temp"] = shortest(samp.temp);
  j["top_p"] = shortest(samp.top_p);
  j["top_k"] = samp.top_k;
  j["min_p"] = shortest(samp.min_p);
  j["repeat_penalty"] = shortest(samp.repeat_penalty);
  j["repeat_last_n"] = samp.repeat_last_n;
  if (p.stop == Stop::text) j["stop_text"] = p.stop_text;
  if (o.logprobs) j["logprobs"] = logprobs_json(r, p);
  return json_line(j);
}

void note(const std::string& line) { err_write(stderr_has_colour() ? fmt::format("\033[90m{}\033[0m\n", line) : line + "\n"); }

}  // namespace nyb
