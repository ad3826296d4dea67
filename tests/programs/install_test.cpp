// install_test.cpp - what `cmake --install` makes: it runs wherever it is moved, helps the shell, and can be taken away again.
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <set>
#include "programs.h"
#include "support/data.h"

namespace nyb::test {
namespace {

namespace fs = std::filesystem;

const Args kHello{"-p", "hello", "--temp", "0", "--quiet"};

Ran shell(const std::string& command, const RunOptions& o = {}) { return run({"/bin/bash", "-c", command}, o); }

// Runs the script of `cmake --install`, but for the place of its manifest: that of the build folder is left as it is.
Ran install(const fs::path& prefix, const fs::path& manifest, const RunOptions& o = {}) {
  const std::string theirs = "\"" + binary_dir().string() + "/${CMAKE_INSTALL_MANIFEST}\"";
  std::string script = read_file(binary_dir() / "cmake_install.cmake");
  const size_t at = script.find(theirs);
  EXPECT_NE(at, std::string::npos) << script;
  if (at == std::string::npos) return {};
  script.replace(at, theirs.size(), "\"" + manifest.string() + "\"");
  const fs::path copy = tmp_dir() / "install.cmake";
  std::ofstream(copy) << script;
  return run({NYB_CMAKE, "-DCMAKE_INSTALL_PREFIX=" + prefix.string(), "-P", copy.string()}, o);
}

// Installed under another name at first, so that nothing of the place it was made for can be in it.
const fs::path& installed() {
  static const fs::path folder = [] {
    const fs::path made = tmp_dir() / "made here", moved = tmp_dir() / "moved there";
    const Ran r = install(made, tmp_dir() / "unused.txt");
    EXPECT_EQ(r.code, 0) << r.out << r.err;
    fs::rename(made, moved);
    return moved;
  }();
  return folder;
}

std::set<std::string> programs_installed() {
  std::set<std::string> names;
  for (const auto& e : fs::directory_iterator(installed() / "bin")) names.insert(e.path().filename());
  return names;
}

Ran installed_chat(const fs::path& file, const Args& args) {
  Args all{file.string()};
  all.insert(all.end(), args.begin(), args.end());
  return run(all, {.bare_env = true, .cwd = "/"});
}

TEST(Install, AnswersWhereverItIsMoved) {
  const Ran wanted = chat(kHello), r = installed_chat(installed() / "bin/nybble-chat", kHello);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, wanted.out);
  fs::create_symlink(installed() / "bin/nybble-chat", tmp_dir() / "first");
  fs::create_symlink("first", tmp_dir() / "second");
  const Ran linked = installed_chat(tmp_dir() / "second", kHello);
  EXPECT_EQ(linked.out, wanted.out) << linked.err;
}

TEST(Install, EveryProgramNamesItselfAsItWasCalled) {
  EXPECT_EQ(programs_installed().count("nybble-chat"), 1u);
  for (const std::string& name : programs_installed()) {
    const std::string file = (installed() / "bin" / name).string();
    EXPECT_TRUE(name.starts_with("nybble-")) << name;
    const Ran help = run({file, "--help"}), version = run({file, "--version"}), wrong = run({file, "--bogus"});
    EXPECT_NE(help.out.find("Usage: " + name + " "), std::string::npos) << help.out;
    EXPECT_TRUE(version.out.starts_with(name + " ")) << version.out;
    EXPECT_EQ(wrong.code, 2);
    EXPECT_TRUE(wrong.err.starts_with(name + ": ")) << wrong.err;
    EXPECT_NE(wrong.err.find("(see " + name + " --help)"), std::string::npos) << wrong.err;
  }
}

TEST(Install, NothingKnowsTheBuild) {
  for (const auto& e : fs::recursive_directory_iterator(installed())) {
    if (!e.is_regular_file()) continue;
    const std::string all = read_file(e.path());
    for (const fs::path& p : {source_dir(), binary_dir(), tmp_dir()})
      EXPECT_EQ(all.find(p.string()), std::string::npos) << e.path() << " holds " << p;
  }
  for (const char* f : {"share/doc/nybble/LICENSE", "share/doc/nybble/README.md", "share/doc/nybble/docs/numerics.md"})
    EXPECT_TRUE(fs::is_regular_file(installed() / f)) << f;
}

TEST(Install, EveryProgramHasAManPageThatRenders) {
  for (const std::string& name : programs_installed()) {
    const fs::path page = installed() / "share/man/man1" / (name + ".1");
    ASSERT_TRUE(fs::is_regular_file(page)) << page;
    const Ran r = shell("groff -man -ww -Tutf8 '" + page.string() + "' | sed 's/.\\x08//g; s/\\x1b\\[[0-9;]*m//g'");
    EXPECT_EQ(r.err, "") << name;
    EXPECT_NE(r.out.find("\nNAME\n       " + name), std::string::npos) << r.out;
    const Ran help = run({(installed() / "bin" / name).string(), "--help"});
    size_t options = 0;
    for (size_t at = 0; (at = help.out.find("\n  --", at)) != std::string::npos; ++options) {
      at += 3;
      const std::string option = help.out.substr(at, help.out.find_first_of(" ,\n", at) - at);
      EXPECT_NE(r.out.find(" " + option), std::string::npos) << option << " of " << name << " is not in the page";
    }
    EXPECT_GT(options, 2u);
  }
}

// The words that bash would offer after `words`, of which the last is not whole yet.
std::string completed(const std::string& words) {
  const std::string name = words.substr(0, words.find(' '));
  const std::string script = (installed() / "share/bash-completion/completions" / name).string();
  const Ran r = shell("PATH='" + (installed() / "bin").string() + "':$PATH; . '" + script + "'; set -- " + words +
                      "; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($#-1)); function=$(complete -p $1 | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); "
                      "$function; echo \"${COMPREPLY[*]}\"");
  EXPECT_EQ(r.err, "") << words;
  return r.out;
}

TEST(Install, BashCompletes) {
  EXPECT_EQ(completed("nybble-chat --ker"), "--kernel\n");
  EXPECT_EQ(completed("nybble-chat --kernel ''"), "ref avx2 vnni vnni8 avx512\n");
  EXPECT_EQ(completed("nybble-chat --kernel av"), "avx2 avx512\n");
  EXPECT_EQ(completed("nybble-chat --kernel = av"), "avx2 avx512\n") << "--kernel=av, as bash cuts it";
  EXPECT_EQ(completed("nybble-chat kernel = vnni"), "vnni vnni8\n");
  EXPECT_EQ(completed("nybble-chat --kv ="), "f32 f16 q8\n");
  EXPECT_EQ(completed("nybble-chat -f ''"), "\n") << "left to bash, which offers the names of files";
  EXPECT_EQ(completed("nybble-chat hello"), "\n");
  EXPECT_EQ(completed("nybble-quantize IN OUT --type q"), "q8 q4\n");
  EXPECT_EQ(completed("nybble-quantize --no-f"), "--no-fit\n");
  EXPECT_EQ(completed("nybble-perf --kernel avx"), "avx2 avx512\n");
  for (const std::string& name : programs_installed()) EXPECT_NE(completed(name + " --").find("--version"), std::string::npos);
}

TEST(Install, StagedAndTakenAway) {
  const fs::path stage = tmp_dir() / "stage", prefix = "/opt/some prefix", manifest = tmp_dir() / "manifest.txt";
  const RunOptions staged{.env = {"DESTDIR=" + stage.string()}};
  const Ran r = install(prefix, manifest, staged);
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_FALSE(fs::exists(prefix));
  const fs::path root = stage / prefix.relative_path();
  EXPECT_EQ(installed_chat(root / "bin/nybble-chat", kHello).out, chat(kHello).out);
  fs::create_directories(root / "share/doc/other");
  const Ran away =
      run({NYB_CMAKE, "-DMANIFEST=" + manifest.string(), "-P", (source_dir() / "cmake/uninstall.cmake").string()}, staged);
  EXPECT_EQ(away.code, 0) << away.err;
  for (const auto& e : fs::recursive_directory_iterator(stage)) {
    EXPECT_TRUE(e.is_directory()) << e.path() << " was left";
    EXPECT_NE(e.path().filename(), "nybble");
  }
  EXPECT_TRUE(fs::exists(root / "share/doc/other"));
}

// A folder with the file of somebody else stays, whatever the prefix is called.
TEST(Install, TakesAwayNothingElse) {
  const fs::path prefix = tmp_dir() / "pre [x] *" / "nybble", manifest = tmp_dir() / "manifest2.txt";
  ASSERT_EQ(install(prefix, manifest).code, 0);
  std::ofstream(prefix / "share/nybble/mine.txt") << "mine";
  const Ran away = run({NYB_CMAKE, "-DMANIFEST=" + manifest.string(), "-P", (source_dir() / "cmake/uninstall.cmake").string()});
  EXPECT_EQ(away.code, 0) << away.err;
  EXPECT_EQ(read_file(prefix / "share/nybble/mine.txt"), "mine");
  EXPECT_FALSE(fs::exists(prefix / "bin/nybble-chat"));
}

}  // namespace
}  // namespace nyb::test
