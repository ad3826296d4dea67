// perf_tasks_test.cpp - perf's pictures, comparisons and peers. What is measured is no matter for a test.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include "kern/cpu.h"
#include "model/format.h"
#include "model/model.h"
#include "model/shapes.h"
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Ran perf(const Args& args, const RunOptions& o = {}) {
  Args all{program("perf")};
  all.insert(all.end(), args.begin(), args.end());
  return run(all, o);
}

std::string written(const std::string& name, const std::string& text) {
  const fs::path path = tmp_dir() / name;
  { std::ofstream(path) << text; }
  return path.string();
}

std::string script(const std::string& name, const std::string& body) {
  std::string path = written(name, "#!/bin/sh\n" + body);
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

bool gnuplot_there() { return run({"/bin/sh", "-c", "command -v gnuplot"}).code == 0; }

json row(const std::string& model, const std::string& type, const std::string& kernel, unsigned threads, unsigned gen,
         double speed) {
  json j = {{"model", model},
            {"type", type},
            {"params", 126000000},
            {"weight_bytes", 126000000},
            {"load", "mapped file"},
            {"kernel", kernel},
            {"threads", threads},
            {"kv", "f32"},
            {"chunk", 64},
            {"n_prompt", gen ? 0 : 128},
            {"n_gen", gen},
            {"n_depth", 0},
            {"macs_per_token", 1.2e8}};
  j["samples"] = {0.97 * speed, 0.99 * speed, speed, 1.01 * speed, 1.04 * speed};
  if (gen) j.update({{"bytes_per_token", 1.27e8}, {"read_gb_per_second", 20.0}});
  return j;
}

json sweep(const json& rows) {
  return {{"machine",
           {{"cpu", "A CPU's name"},
            {"cpus", 2},
            {"last_cache_bytes", 32 << 20},
            {"date", "2026-01-01T00:00:00Z"},
            {"version", "0.1.0"},
            {"commit", "abc"},
            {"command", "perf"}}},
          {"read", {{{"threads", 1}, {"kind", "mapped file"}, {"loop", "x"}, {"plain_gb_per_second", 18.0}, {"samples", {20.0}}}}},
          {"missing", json::array()},
          {"rows", rows}};
}

json two_rows() { return sweep({row("126m", "q8", "avx2", 1, 64, 100), row("126m", "q8", "avx2", 1, 0, 300)}); }

void expect_sentence(const Ran& r, int code, const std::string& says) {
  EXPECT_EQ(r.code, code) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find(says), std::string::npos) << "wanted '" << says << "' in: " << r.err;
  const size_t last = r.err.find("perf: ");
  ASSERT_NE(last, std::string::npos) << r.err;
  EXPECT_EQ(r.err.find('\n', last), r.err.size() - 1) << r.err;
}

TEST(PerfFrom, WritesTheSameAgain) {
  const std::string saved = written("saved.json", two_rows().dump());
  const Ran once = perf({"--from", saved, "-o", "json"});
  ASSERT_EQ(once.code, 0) << once.err;
  EXPECT_EQ(perf({"--from", written("again.json", once.out), "-o", "json"}).out, once.out);
  EXPECT_NE(perf({"--from", saved}).out.find("| 126m  | q8 "), std::string::npos);
  expect_sentence(perf({"--from", "/no/such.json"}), 1, "/no/such.json");
  expect_sentence(perf({"--from", written("junk", "junk")}), 1, "not valid JSON");
  const std::string fifo = (tmp_dir() / "sweep.fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);  // nobody writes to it
  expect_sentence(perf({"--from", fifo}), 1, "sweep.fifo: this is a FIFO, not a file");
  expect_sentence(perf({"--compare", saved, fifo}), 1, "this is a FIFO");
  expect_sentence(perf({"--from", "/dev/zero"}), 1, "this is a device");
  expect_sentence(perf({"--from", saved, "-t", "2"}), 2, "--from measures nothing; leave --threads out");
  expect_sentence(perf({"--from", saved, "--kernels"}), 2, "--from is for whole models");
}

TEST(PerfPlot, WithoutGnuplot) {
  const std::string saved = written("saved.json", two_rows().dump()), out = (tmp_dir() / "none.svg").string();
  expect_sentence(perf({"--from", saved, "--plot", out}, {.env = {"PATH="}}), 1, "apt-get install gnuplot-nox");
  EXPECT_FALSE(fs::exists(out));
  expect_sentence(perf({"--from", saved, "--plot", "x.png"}), 2, "its name ends in .svg, not as 'x.png' does");
}

// Everything of the rows is in the picture, whatever the names hold, and nothing else is left behind.
TEST(PerfPlot, DrawsRows) {
  if (!gnuplot_there()) GTEST_SKIP() << "this machine lacks gnuplot";
  const fs::path folder = tmp_dir() / "pictures";
  fs::create_directory(folder);
  json rows = json::array();
  for (const char* kernel : {"ref", "avx2", "vnni", "vnni8", "avx512"})
    for (const unsigned threads : {1u, 2u})
      for (const unsigned gen : {64u, 0u})
        rows.push_back(row("It's <a> \"model\" {of} $x `y` \\z_1^2 @ π\n%s", "q4 (head q8)", kernel, threads, gen, 77.25));
  for (const auto& [name, what] : {std::pair("one", json{row("126m", "q8", "avx2", 1, 64, 77.25)}), std::pair("many", rows)}) {
    const std::string out = (folder / (std::string(name) + ".svg")).string();
    const Ran r = perf({"--from", written("rows.json", sweep(what).dump()), "--plot", out}, {.cwd = folder.string()});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.out + r.err, "");
    const std::string svg = read_file(out);
    for (const char* text :
         {"77.2", "of ceiling", "Roofline", "1 thread: 20.0 GB/s", "A CPU's name, 2 CPUs", "nybble 0.1.0 at abc", "avx2, 1 thread"})
      EXPECT_NE(svg.find(text), std::string::npos) << text;
    if (name == std::string("many")) {
      EXPECT_NE(svg.find("It's &lt;a> \"model\" {of} $x `y` \\z_1^2 @ π\\n%s, 126M parameters: decode"), std::string::npos);
    }
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator{}), 2) << "the pictures alone";
  expect_sentence(perf({"--from", written("none.json", sweep(json::array()).dump()), "--plot", (folder / "no.svg").string()}), 1,
                  "no row to draw");
  expect_sentence(perf({"--from", "x", "--plot", "/no/such/x.svg"}), 1, "/no/such");
}

TEST(PerfPlot, AGnuplotThatFails) {
  const fs::path bin = tmp_dir() / "bin";
  fs::create_directory(bin);
  const std::string saved = written("saved.json", two_rows().dump()), out = written("kept.svg", "before");
  const RunOptions other{.env = {"PATH=" + bin.string() + ":/usr/bin:/bin"}};
  const auto with = [&](const std::string& body) {
    fs::remove(bin / "gnuplot");
    fs::rename(script("gnuplot", body), bin / "gnuplot");
    return perf({"--from", saved, "--plot", out}, other);
  };
  const Ran bad = with("echo oops >&2; exit 2");
  expect_sentence(bad, 1, "gnuplot ended with exit code 2");
  EXPECT_NE(bad.err.find("  | oops\n"), std::string::npos) << bad.err;
  expect_sentence(with("echo no picture"), 1, "gnuplot drew no SVG");
  EXPECT_EQ(read_file(out), "before");
}

TEST(PerfCompare, TwoFiles) {
  json now = two_rows();
  for (json& v : now["rows"][0]["samples"]) v = v.get<double>() * 1.5;
  const std::string a = written("sweep-a.json", two_rows().dump()), b = written("sweep-b.json", now.dump());
  const Ran r = perf({"--compare", a, b});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("1.500"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("| faster "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("| no difference seen "), std::string::npos) << r.out;
  EXPECT_EQ(json::parse(perf({"--compare", a, b, "-o", "json"}).out)["rows"][0]["verdict"], "faster");
  expect_sentence(perf({"--compare", a, b, "-o", "csv"}), 2, "--compare writes md and json");
  expect_sentence(perf({"--compare", a, b, "--plot", "x.svg"}), 2, "--compare stands alone; leave --plot out");
  expect_sentence(perf({"--compare", a}), 2, "--compare");
  expect_sentence(perf({"--compare", a, "/no/such.json"}), 1, "/no/such.json");
}

TEST(PerfPeer, WhatIsWrong) {
  const std::string text = script("text", "echo 'speed 10 tok/s'");
  const auto peer = [](const std::string& command, const Args& more = {}) {
    Args args = {"--peer", command, "-m", pocket_model(), "-p", "0", "-n", "2", "-t", "1"};
    args.insert(args.end(), more.begin(), more.end());
    return perf(args);
  };
  expect_sentence(peer("no-such-program -x"), 1, "there is no program 'no-such-program'");
  expect_sentence(peer("/"), 1, "cannot start '/'");
  expect_sentence(peer("a 'b"), 2, "quote");
  expect_sentence(peer(""), 2, "empty");
  expect_sentence(peer(text), 1, "wrote no figure: it is no JSON of llama-bench");
  expect_sentence(peer(text, {"--peer-pattern", "rate ([0-9]+)"}), 1, "wrote no figure: --peer-pattern fits nowhere");
  expect_sentence(peer(text, {"--peer-pattern", "("}), 2, "'(' is no regular expression");
  expect_sentence(peer(text, {"-o", "csv"}), 2, "--peer writes md and json");
  expect_sentence(perf({"--peer-timeout", "1"}), 2, "--peer");
  const Ran failed = peer(script("failing", "echo 'what went wrong' >&2; exit 7"));
  expect_sentence(failed, 1, "failing' ended with exit code 7");
  EXPECT_NE(failed.err.find("  | what went wrong\n"), std::string::npos) << failed.err;
  expect_sentence(peer(script("killed", "kill -SEGV $$")), 1, "was ended by signal 11");
  expect_sentence(peer(script("slow", "sleep 1000"), {"--peer-timeout", "1"}), 1, "took longer than 1 s");
}

// Of the smallest shape, which a peer can be given too.
TEST(PerfWrite, AModelOfTheShape) {
  const std::string file = (tmp_dir() / "126m.mnm").string();
  const Ran r = perf({"--write", file, "--shape", "126m", "--type", "q4"});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto m = eng_load(file);
  EXPECT_EQ(shape_fields(m->shape), shape_fields(shape_find("126m")->shape()));
  EXPECT_EQ(m->type_name, "q4");
}

TEST(PerfWrite, WhatIsWrongIsOneSentence) {
  const std::string file = (tmp_dir() / "none.mnm").string();
  const auto write = [&](const Args& more) {
    Args args = {"--write", file};
    args.insert(args.end(), more.begin(), more.end());
    return perf(args);
  };
  expect_sentence(write({"--shape", "126m"}), 2, "--write writes one --shape in one --type");
  expect_sentence(write({"--type", "q4"}), 2, "--write writes one --shape in one --type");
  expect_sentence(write({"--shape", "126m", "--type", "q4", "-n", "3"}), 2, "leave --gen out");
  expect_sentence(write({"--shape", "126m", "--type", "q4", "--peer", "x"}), 2, "leave --peer out");
  expect_sentence(perf({"--write", "/no/x.mnm", "--shape", "126m", "--type", "q4"}), 1, "/no/x.mnm");
  EXPECT_FALSE(fs::exists(file));
}

// The peer interrupts perf, as Ctrl+C would, and must not outlive it.
TEST(PerfPeer, CtrlCEndsThePeerToo) {
  const std::string pid_file = (tmp_dir() / "peer.pid").string();
  const std::string stubborn =
      script("stubborn", "trap '' TERM INT\necho $$ > " + pid_file + "\nkill -INT $PPID\nwhile :; do sleep 0.1; done\n");
  const Ran r = perf({"--peer", stubborn, "-m", pocket_model()});
  EXPECT_EQ(r.code, 130) << r.err;
  EXPECT_NE(kill(std::stoi(read_file(pid_file)), 0), 0) << "the peer goes on";
}

TEST(PerfPeer, IsMeasuredInTurn) {
  if (const std::string lacks = cpu_missing(cpu_here(), Path::avx2); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  const std::string log = (tmp_dir() / "peer.log").string();
  const std::string bench =
      script("bench", "echo \"$1\" >> " + log +
                          "\necho '[{\"n_prompt\":0,\"n_gen\":2,\"n_threads\":1,\"avg_ts\":10,\"samples_ts\":[10,12]}]'\n");
  const Args ours = {"-m", pocket_model(), "--kernel", "avx2", "-p", "0", "-n", "2", "-t", "1"};
  Args args = {"--peer", bench + " 'two words'", "-r", "6", "-o", "json"};
  args.insert(args.end(), ours.begin(), ours.end());
  const Ran r = perf(args);
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(read_file(log), "two words\ntwo words\ntwo words\ntwo words\ntwo words\ntwo words\ntwo words\n")
      << "six rounds and a rehearsal";
  const json j = json::parse(r.out), peer = j["peer"]["rows"][0];
  EXPECT_EQ(peer["ours"], j["rows"][0]["samples"]);
  EXPECT_EQ(peer["peer"], json(std::vector<std::vector<double>>(6, {10, 12})));
  EXPECT_EQ(peer["confidence"], 1 - 2.0 / 64);
  EXPECT_EQ(peer["peer_spread"], 0.0) << "each round's median is 11";
  EXPECT_EQ(peer["noisy"], peer["ours_spread"] > j["peer"]["noisy_above"]);
  EXPECT_GT(peer["low"], 0);
  EXPECT_LE(peer["low"], peer["ratio"]);
  EXPECT_LE(peer["ratio"], peer["high"]);

  // Saved sweeps of ours are figures too, and what was measured beside a peer can be read as a sweep.
  json saved = j;
  saved["rows"][0]["n_gen"] = 3;
  const std::string other = written("other.json", saved.dump());
  EXPECT_EQ(perf({"--from", other}).code, 0);
  Args wrong = {"--peer", "cat " + other};
  wrong.insert(wrong.end(), ours.begin(), ours.end());
  expect_sentence(perf(wrong), 1,
                  "the peer has no figure for tg2 with 1 thread on avx2 in q8; it gave tg3 with 1 thread on avx2 in q8");
  Args both = {"--peer", "echo 10 tok/s", "--peer-pattern", "([0-9]+) tok/s", "-m", pocket_model(), "-n", "2", "-p", "3", "-t",
               "1"};
  expect_sentence(perf(both), 1, "there are several tests (tg2, pp3); choose one");
}

}  // namespace
}  // namespace nyb::test
