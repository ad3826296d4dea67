// app.cpp - the frame around a program: options in, one sentence and an exit code out.
#include "common/app.h"
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <new>
#include "common/signals.h"
#include "engine/engine.h"

namespace nyb {
namespace {

struct OutputClosed {};
bool out_is_optional = false;
std::string called;  // as which the program was started

// --name or -n as CLI11 knows it; nullptr where it is none of the program's options.
const CLI::Option* option_of(const CLI::App& app, const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return nullptr;
  if (word[1] != '-' && word.size() != 2) return nullptr;  // -pTEXT carries its value along
  return app.get_option_no_throw(word);
}

bool takes_value(const CLI::Option* o) { return o && o->get_items_expected_min() > 0; }

bool option_like(std::string_view name) {
  if (name.size() < 2) return false;  // a=b is no long option
  for (const char c : name)
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return false;
  return name[0] >= 'a' && name[0] <= 'z';
}

// Names and values of files and command lines are in the sentence as they came: here they become harmless.
int fail(std::string_view what, int code) {
  say(what);
  return code;
}

// Too many values or none, for CLI11's own words name neither the fault nor what to do.
std::string mismatch(const CLI::App& app, const std::string& what) {
  const std::string name = what.substr(0, what.find(": "));
  const CLI::Option* o = app.get_option_no_throw(name);
  if (!o) return what;
  if (o->count() > 1) return fmt::format("{} is given {} times; give it once", name, o->count());
  return fmt::format("{} takes a value, {}, and none is given", name, o->get_type_name());
}

int run_guarded(CLI::App& app, const std::vector<std::string>& words, const std::function<int()>& body) {
  try {
    std::vector<std::string> reversed = app_words(app, words);  // CLI11 takes them last first
    std::reverse(reversed.begin(), reversed.end());
    app.parse(std::move(reversed));
    return body();
  } catch (const CLI::CallForHelp&) {
    out_write(app.help());
    return 0;
  } catch (const CLI::CallForVersion&) {
    out_write(fmt::format("{} {}\n", app.get_name(), NYB_VERSION));
    return 0;
  } catch (const CLI::ArgumentMismatch& e) {  // before ParseError, which it is
    return fail(fmt::format("{} (see {} --help)", mismatch(app, e.what()), app.get_name()), 2);
  } catch (const CLI::ParseError& e) { return fail(fmt::format("{} (see {} --help)", e.what(), app.get_name()), 2); }
}

}  // namespace

std::vector<std::string> app_words(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> out;
  bool value = false, rest = false;  // the word before wants this one; after "--" all is positional
  for (const std::string& w : words) {
    if (rest || value) {
      out.push_back(w);
      value = false;
      continue;
    }
    const size_t eq = w.find('=');
    if (w == "--") {
      rest = true;
      out.push_back(w);
    } else if (const CLI::Option* o = option_of(app, w)) {
      value = takes_value(o);
      out.push_back(w);
    } else if (eq != std::string::npos && w.compare(0, 2, "--") == 0 && takes_value(option_of(app, w.substr(0, eq)))) {
      out.push_back(w.substr(0, eq));
      out.push_back(w.substr(eq + 1));
    } else if (eq != std::string::npos && option_like(w.substr(0, eq)) && option_of(app, "--" + w.substr(0, eq))) {
      const std::string name = "--" + w.substr(0, eq);
      if (takes_value(option_of(app, name))) {
        out.push_back(name);
        out.push_back(w.substr(eq + 1));
      } else {
        out.push_back(name + w.substr(eq));  // a flag: CLI11 reads --quiet=true
      }
    } else {
      out.push_back(w);
    }
  }
  return out;
}

const std::string& program_name() { return called; }

void say(std::string_view what) { err_write(fmt::format("{}: {}\n", called, human_words(what))); }

int app_run(CLI::App& app, int argc, char** argv, const std::function<int()>& body) {
  fds_open();
  signals_install();
  const std::string file = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : std::string();
  called = file.empty() ? app.get_name() : human_words(file);
  app.name(called);
  app.set_version_flag("--version", std::string(NYB_VERSION), "Print the version and exit");
  app.get_formatter()->column_width(30);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    return run_guarded(app, words, body);
  } catch (const OutputClosed&) {  // nobody reads any more: nothing is wrong
    return 0;
  } catch (const Interrupted&) { return 130; } catch (const Cancelled&) {  // the engine looked at interrupt_flag()
    return 130;
  } catch (const UsageError& e) {  // before Error, which it is
    return fail(e.what(), 2);
  } catch (const Error& e) { return fail(e.what(), 1); } catch (const std::bad_alloc&) {
    return fail("there is not enough memory; a smaller model or context needs less", 1);
  } catch (const std::filesystem::filesystem_error& e) {
    return fail(fmt::format("cannot use '{}': {}", e.path1().string(), e.code().message()), 1);
  } catch (const std::system_error& e) {
    return fail(fmt::format("the system refused: {}", e.code().message()), 1);
  } catch (const std::exception& e) { return fail(fmt::format("unexpected: {}", e.what()), 1); }
}

std::string program_version() { return NYB_VERSION; }

void out_write(std::string_view text) {
  const int error = fd_write(1, text);
  if (error == EPIPE && out_is_optional) return;
  if (error == EPIPE) throw OutputClosed{};
  if (error != 0) throw Error(fmt::format("cannot write to standard output: {}", std::strerror(error)));
}

void out_optional() { out_is_optional = true; }

void err_write(std::string_view text) { (void)fd_write(2, text); }

}  // namespace nyb
