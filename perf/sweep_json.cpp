// sweep_json.cpp - rows, probes and machines as JSON; csv has the same names.
#include "sweep_json.h"
#include <nlohmann/json.hpp>
#include "probe/probe.h"

namespace nyb {

Json machine_json(const Machine& m) {
  return {{"cpu", m.cpu},       {"cpus", m.cpus},      {"last_cache_bytes", m.last_cache}, {"date", m.date}, {"version", m.version},
          {"commit", m.commit}, {"command", m.command}};
}

Json settings_json(const SweepRow& r) {
  Json j;
  j["model"] = r.model;
  j["type"] = r.type;
  j["params"] = r.params;
  j["weight_bytes"] = r.weight_bytes;
  j["load"] = r.load;
  j["kernel"] = path_name(r.path);
  j["threads"] = r.threads;
  j["kv"] = kv_name(r.kv);
  j["chunk"] = r.chunk;
  j["test"] = r.test();
  j["n_prompt"] = r.prompt;
  j["n_gen"] = r.gen;
  j["n_depth"] = r.depth;
  return j;
}

void put_spread(Json& j, const std::vector<double>& samples) {
  j["spread"] = spread_of(samples);
  j["noisy"] = noisy(samples);
}

Json row_json(const SweepRow& r) {
  Json j = settings_json(r);
  j["tokens_per_second"] = r.speed();
  put_spread(j, r.samples);
  j["samples"] = r.samples;
  j["macs_per_token"] = r.macs_per_token;
  j["macs_per_byte"] = r.macs_per_byte();
  j["gmac_per_second"] = r.gmacs();
  if (r.gen) {
    j["bytes_per_token"] = r.bytes_per_token;
    j["gb_per_second"] = r.gbs();
    j["read_gb_per_second"] = r.bandwidth();
    j["share"] = r.share();
    if (r.share() > 0 && !r.reads.empty()) {
      const RatioInterval share = ratio_of_pairs(r.shares());
      j["share_low"] = share.low;
      j["share_high"] = share.high;
      j["share_confidence"] = share.confidence;
    }
    if (!r.reads.empty()) j["read_samples"] = r.reads;
    j["ceiling_tokens_per_second"] = r.ceiling();
  }
  return j;
}

Json probe_json(const SweepProbe& p) {
  Json j = {{"threads", p.threads},
            {"kind", p.kind},
            {"weights", p.weights},
            {"loop", p.loop},
            {"bytes", p.bytes},
            {"gb_per_second", median(p.samples)},
            {"best_gb_per_second", p.best()}};
  put_spread(j, p.samples);
  j["plain_loop"] = p.plain.loop;
  j["plain_gb_per_second"] = p.plain.median;
  j["over_plain"] = p.plain.ratio;
  j["samples"] = p.samples;
  return j;
}

Json sweep_json(const Sweep& s, const Machine& m) {
  Json all;
  all["machine"] = machine_json(m);
  all["read"] = Json::array();
  for (const SweepProbe& p : s.probes) all["read"].push_back(probe_json(p));
  all["missing"] = s.missing;
  all["noisy_above"] = kNoisySpread;
  all["rows"] = Json::array();
  for (const SweepRow& r : s.rows) all["rows"].push_back(row_json(r));
  return all;
}

Json ratio_json(const RatioInterval& r) {
  return {{"ratio", r.ratio}, {"low", r.low}, {"high", r.high}, {"confidence", r.confidence}, {"verdict", r.verdict()}};
}

std::string json_text(const Json& j, int indent) { return j.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace nyb
