// The quantize program end to end: what it writes, says and returns; and that gguf, as it does, writes whole files or none.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "model/model.h"
#include "support/data.h"
#include "support/started.h"
#include "text/tokenizer.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

struct Ran {
  int code = -1;
  std::string out, err;
};

// Runs a program with its streams in files; `in_child` may prepare the process, `meanwhile` may disturb it.
Ran run(const std::vector<std::string>& args, const std::function<void()>& in_child = {},
        const std::function<void(pid_t)>& meanwhile = {}, const std::string& name = "quantize") {
  const std::string program = (test::binary_dir() / "bin" / name).string();
  const fs::path o = test::tmp_dir() / "stdout", e = test::tmp_dir() / "stderr";
  const pid_t pid = test::started(fork(), "fork");
  if (pid == 0) {
    const int out = open(o.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), err = open(e.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, 1);
    dup2(err, 2);
    if (in_child) in_child();
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const std::string& a : args) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  if (meanwhile) meanwhile(pid);
  int status = 0;
  waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), test::read_file(o), test::read_file(e)};
}

// An explained error: code 1, one line on stderr with `part` in it, nothing on stdout.
::testing::AssertionResult fails(const Ran& r, const std::string& part, int code = 1, const std::string& name = "quantize") {
  const bool one_line = std::count(r.err.begin(), r.err.end(), '\n') == 1 && r.err.ends_with('\n');
  if (r.code == code && one_line && r.out.empty() && r.err.starts_with(name + ": ") && r.err.find(part) != std::string::npos)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "code " << r.code << ", stdout: " << r.out << ", stderr: " << r.err;
}

fs::path fresh(const std::string& name) {
  fs::path p = test::tmp_dir() / name;
  fs::remove_all(p);
  fs::create_directories(p);
  return p;
}

const std::string kPocket = test::pocket_dir().string();

TEST(Quantize, PocketInEveryType) {
  const fs::path dir = fresh("types");
  for (const std::string type : {"f32", "q8", "q4"}) {
    const fs::path out = dir / (type + ".mnm");
    const Ran r = run({kPocket, out.string(), "--type", type});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.err, "");  // no progress bar where stderr is no terminal
    for (const char* word : {"tensor", "embed", "q ", "k ", "v ", "o ", "gate", "up", "down", "norms", "weights", "product"})
      EXPECT_NE(r.out.find(word), std::string::npos) << word << r.out;
    EXPECT_NE(r.out.find("4.95M parameters"), std::string::npos) << r.out;
    const auto m = eng_load(out.string());
    EXPECT_EQ(m->type_name, type);
    EXPECT_EQ(m->name, "pocket");
    EXPECT_TRUE(model_verify(*m).empty());
    const auto tok = Tokenizer::from_meta(m->meta);
    ASSERT_TRUE(tok);
    EXPECT_EQ(tok->decode(tok->encode("Hello, world")), "Hello, world");
  }
  // only the three files: nothing temporary is left
  EXPECT_EQ(std::distance(fs::directory_iterator(dir), {}), 3);
}

TEST(Quantize, DefaultsHeadNameAndQuiet) {
  const fs::path dir = fresh("options");
  const auto made = [&](std::vector<std::string> args) {
    const std::string out = (dir / "m.mnm").string();
    args.insert(args.begin(), {kPocket, out, "--quiet"});
    const Ran r = run(args);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.out + r.err, "");
    return eng_load(out);
  };
  EXPECT_EQ(made({})->type_name, "q8");
  EXPECT_EQ(made({"--type=q4", "--head", "q8"})->type_name, "q4 (head q8)");
  EXPECT_EQ(made({"type=q4", "head=q8"})->type_name, "q4 (head q8)");
  EXPECT_EQ(made({"--name", "Ein Name"})->name, "Ein Name");
  const auto fitted = made({"--type", "q4"})->checksum, asked = made({"--type", "q4", "--fit"})->checksum,
             plain = made({"--type", "q4", "--no-fit"})->checksum;
  EXPECT_EQ(fitted, asked);
  EXPECT_NE(fitted, plain);
}

TEST(Quantize, TwiceTheSameBytes) {
  const fs::path dir = fresh("same");
  for (const std::string type : {"q8", "q4"}) {
    ASSERT_EQ(run({kPocket, (dir / "a.mnm").string(), "--quiet", "--type", type}).code, 0);
    ASSERT_EQ(run({kPocket + "/", (dir / "b.mnm").string(), "--quiet", "--type", type}).code, 0);
    EXPECT_EQ(test::read_file(dir / "a.mnm"), test::read_file(dir / "b.mnm"));
  }
}

TEST(Quantize, AModelWithoutATokenizer) {
  NYB_NEED_DATA();
  const std::string out = (fresh("stories") / "s.mnm").string();
  ASSERT_EQ(run({(test::data_dir() / "stories260K" / "hf").string(), out}).code, 0);
  const auto m = eng_load(out);
  EXPECT_FALSE(m->meta.has(key::tok_kind));
  EXPECT_EQ(Tokenizer::from_meta(m->meta), nullptr);
}

TEST(Quantize, PathsWithSpacesAndOtherLetters) {
  const fs::path dir = fresh("größe 模型");
  fs::copy(kPocket, dir / "ein modell");
  ASSERT_EQ(run({(dir / "ein modell").string(), (dir / "aus gang.mnm").string(), "--quiet"}).code, 0);
  EXPECT_EQ(eng_load((dir / "aus gang.mnm").string())->name, "ein modell");
}

TEST(Quantize, Errors) {
  const fs::path dir = fresh("errors");
  const std::string out = (dir / "m.mnm").string();
  EXPECT_TRUE(fails(run({(dir / "absent").string(), out}), "there is no such file or folder"));
  EXPECT_TRUE(fails(run({kPocket + "/config.json", out}), "config.json: this is no model of llama2.c"));
  EXPECT_TRUE(fails(run({dir.string(), out}), "there is no config.json"));
  EXPECT_TRUE(fails(run({kPocket, dir.string()}), "this is a folder; give the name of a file"));
  EXPECT_TRUE(fails(run({kPocket, (dir / "x" / "m.mnm").string()}), "is not there"));
  EXPECT_TRUE(fails(run({kPocket, "/dev/null"}), "not a regular file"));
  const fs::path copy = dir / "copy";
  fs::copy(kPocket, copy);
  const auto size = fs::file_size(copy / "model.safetensors");
  EXPECT_TRUE(fails(run({copy.string(), (copy / "model.safetensors").string()}), "a part of the model to convert"));
  EXPECT_TRUE(fails(run({copy.string(), (copy / "tokenizer.json").string()}), "a part of the model to convert"));
  EXPECT_EQ(fs::file_size(copy / "model.safetensors"), size);
  fs::resize_file(copy / "model.safetensors", size - 1);
  EXPECT_TRUE(fails(run({copy.string(), out}), "model.safetensors: tensor "));
  EXPECT_FALSE(fs::exists(out));
}

TEST(Quantize, APartOfTheModelByAnotherName) {
  const fs::path dir = fresh("links"), copy = dir / "copy", blobs = dir / "blobs";
  fs::copy(kPocket, copy);
  const std::string before = test::read_file(copy / "model.safetensors");
  for (const char* part : {"model.safetensors", "config.json"}) {
    const fs::path link = dir / (std::string(part) + ".mnm");
    fs::create_symlink(copy / part, link);
    EXPECT_TRUE(fails(run({copy.string(), link.string()}), "a part of the model to convert"));
  }
  fs::create_directory(blobs);
  fs::rename(copy / "model.safetensors", blobs / "weights.mnm");
  fs::create_symlink(blobs / "weights.mnm", copy / "model.safetensors");
  EXPECT_TRUE(fails(run({copy.string(), (blobs / "weights.mnm").string()}), "a part of the model to convert"));
  EXPECT_EQ(test::read_file(blobs / "weights.mnm"), before);
}

TEST(Quantize, ALinkToNowhereIsNoAbsentFile) {
  for (const char* file : {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json"}) {
    const fs::path dir = fresh("nowhere"), copy = dir / "copy";
    fs::copy(kPocket, copy);
    fs::remove(copy / file);
    fs::create_symlink("gone", copy / file);
    EXPECT_TRUE(fails(run({copy.string(), (dir / "m.mnm").string()}), std::string(file) + ": this symbolic link leads nowhere"));
  }
}

TEST(Quantize, NothingReachesTheTerminalRaw) {
  const Ran r = run({"we\nird\033[31m\xff/none", "x.mnm"});
  EXPECT_TRUE(fails(r, "we\\nird\\x1b[31m\\xff/none: there is no such file or folder"));
  EXPECT_TRUE(fails(run({kPocket, "x.mnm", "--no\033[31m\nsuch"}), "--no\\x1b[31m\\nsuch", 2));
}

TEST(Quantize, ValuesAreCheckedBeforeTheWork) {
  struct Case {
    const char *key, *value, *says;
  };
  for (const Case& c : {Case{"rms_norm_eps", "1e300", "which a float does not hold"}, Case{"rope_theta", "1e-8", "too high"},
                        Case{"rms_norm_eps", "1e400", "\"rms_norm_eps\" is beyond what a double holds"}}) {
    const fs::path dir = fresh("values"), copy = dir / "copy";
    fs::copy(kPocket, copy);
    std::string config = test::read_file(copy / "config.json");
    const size_t at = config.find(':', config.find(std::string("\"") + c.key + "\"")) + 1;
    config.replace(at, config.find_first_of(",}\n", at) - at, c.value);
    std::ofstream(copy / "config.json") << config;
    EXPECT_TRUE(fails(run({copy.string(), (dir / "m.mnm").string()}), c.says)) << c.key << c.value;
  }
}

TEST(Quantize, WrongUsage) {
  EXPECT_TRUE(fails(run({}), "IN", 2));
  EXPECT_TRUE(fails(run({kPocket}), "OUT", 2));
  EXPECT_TRUE(fails(run({kPocket, "x.mnm", "--type", "q5"}), "q5", 2));
  EXPECT_TRUE(fails(run({kPocket, "x.mnm", "--nonsense"}), "nonsense", 2));
  EXPECT_TRUE(fails(run({kPocket, "x.mnm", "type=q5"}), "q5", 2));
  EXPECT_TRUE(fails(run({kPocket, "x.mnm", "y.mnm"}), "y.mnm", 2));
  const Ran help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* o : {"--type", "--head", "--fit", "--no-fit", "--name", "--tokenizer", "--quiet"})
    EXPECT_NE(help.out.find(o), std::string::npos) << o;
  EXPECT_EQ(run({"--version"}).code, 0);
}

// What writes a model, the file, and what makes that take a while.
struct Writer {
  std::string name, file, type;
};
class Writers : public testing::TestWithParam<Writer> {};
INSTANTIATE_TEST_SUITE_P(, Writers, testing::Values(Writer{"quantize", "m.mnm", "q4"}, Writer{"gguf", "m.gguf", "q4_0"}),
                         [](const auto& p) { return p.param.name; });

TEST_P(Writers, AFullDiskLeavesNothing) {
  const fs::path dir = fresh("full");
  const Ran r = run(
      {kPocket, (dir / GetParam().file).string()},
      [] {
        const rlimit limit{1 << 20, 1 << 20};
        setrlimit(RLIMIT_FSIZE, &limit);
      },
      {}, GetParam().name);
  EXPECT_TRUE(fails(r, GetParam().file + ": cannot write its ", 1, GetParam().name));
  EXPECT_TRUE(fs::is_empty(dir));
}

// A disk of 1 MiB in a name space of its own, which goes with the shell that looks at what is left.
TEST_P(Writers, ASmallDiskIsLeftEmpty) {
  if (std::system("unshare -rm true 2>/dev/null") != 0)  // NOLINT(bugprone-command-processor)
    GTEST_SKIP() << "this machine lacks name spaces in which a disk may be mounted";
  const fs::path dir = fresh("small"), left = test::tmp_dir() / "left", script = test::tmp_dir() / "small.sh";
  const std::string program = (test::binary_dir() / "bin" / GetParam().name).string();
  std::ofstream(script) << "mount -t tmpfs -o size=1m none '" << dir.string() << "' && '" << program << "' '" << kPocket << "' '"
                        << (dir / GetParam().file).string() << "' >'" << left.string() << "' 2>&1\necho $? >>'" << left.string()
                        << "'\nls -A '" << dir.string() << "' >>'" << left.string() << "'\n";
  ASSERT_EQ(std::system(("unshare -rm sh '" + script.string() + "'").c_str()), 0);  // NOLINT(bugprone-command-processor)
  const std::string said = test::read_file(left);
  EXPECT_NE(said.find(GetParam().file + ": cannot write its "), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with("there is no space left on the disk\n1\n")) << said;
}

TEST_P(Writers, CtrlCLeavesNothing) {
  const fs::path dir = fresh("interrupted"), out = dir / GetParam().file;
  std::ofstream(out) << "old";
  const Ran r = run(
      {kPocket, out.string(), "--type", GetParam().type}, {},
      [&](pid_t pid) {
        // as soon as the temporary file is there
        for (int i = 0; i < 20000 && std::distance(fs::directory_iterator(dir), {}) < 2; i++) usleep(200);
        kill(pid, SIGINT);
      },
      GetParam().name);
  EXPECT_EQ(r.code, 130) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(test::read_file(out), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir), {}), 1);
}

// A second signal of another kind, for two of one kind may arrive as one; SIGQUIT ends the process by itself.
TEST(Quantize, OtherEndsLeaveNothing) {
  const rlimit no_core{0, 0};
  for (const auto& [first, second, code] : {std::tuple{SIGHUP, 0, 130}, {SIGTERM, SIGINT, 130}, {SIGQUIT, 0, 1000 + SIGQUIT}}) {
    const fs::path dir = fresh("ended"), out = dir / "m.mnm";
    const Ran r = run(
        {kPocket, out.string(), "--type", "q4"}, [&] { setrlimit(RLIMIT_CORE, &no_core); },
        [&, one = first, two = second](pid_t pid) {
          for (int i = 0; i < 20000 && fs::is_empty(dir); i++) usleep(200);
          kill(pid, one);
          if (two) kill(pid, two);
        });
    EXPECT_EQ(r.code, code) << r.err;
    EXPECT_TRUE(fs::is_empty(dir)) << first;
  }
}

}  // namespace
}  // namespace nyb
