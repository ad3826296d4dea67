// options.cpp - the options of chat and what they may not be together.
#include "chat/options.h"
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include "common/app.h"
#include "common/options.h"

namespace nyb {
namespace {

template <class T>
auto to(std::optional<T>& where) {
  return [&where](const std::string& s) { where = s; };
}
auto to(std::string& where) {
  return [&where](const std::string& s) { where = s; };
}

void name_file(const char* option, const std::string& s, std::string& where) {
  if (s.empty()) throw Error(fmt::format("{} takes the name of a file, not nothing", option));
  where = s;
}

// Empty is what an unset variable of a script gives: no wish for the built-in model.
void set_model(const std::string& s, std::string& where) {
  if (s.empty()) throw Error("the name of the model file is empty; leave it out for the built-in model");
  where = s;
}

// What shapes a reply is refused where none is given, for it would do nothing.
void refuse_reply_options(const CLI::App& app, const ChatOptions& o) {
  const char* task = o.verify ? "--verify" : !o.eval.empty() ? "--eval" : !o.replay.empty() ? "--replay" : nullptr;
  if (!task) return;
  std::vector<std::string> names = {"--system", "--raw", "--save", "--logprobs"};
  if (!o.load.empty()) names.emplace_back("--load");
  for (const Setting& s : setting_list()) names.push_back("--" + s.name);
  if (!o.replay.empty())
    names.insert(names.end(), {"--kv", "--ctx", "--fingerprint", "--date", "--template-var"});  // the record has them
  for (const std::string& name : names)
    if (app.count(name))
      throw UsageError(fmt::format("{} is for replies, and {} {}; leave it out", name, task,
                                   o.replay.empty() ? "gives none" : "takes what shapes them from the record"));
}

void refuse_idle(const CLI::App& app, const char* beside, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (app.count(name)) throw UsageError(fmt::format("{} does nothing beside {}; leave it out", name, beside));
}

// What would change neither the answer nor the time of what is asked for.
void refuse_idle_options(const CLI::App& app, const ChatOptions& o) {
  if (o.verify)
    refuse_idle(app, "--verify",
                {"--ctx", "--kv", "--chunk", "--speculate", "--json", "--fingerprint", "--date", "--template-var"});
  if (!o.eval.empty()) refuse_idle(app, "--eval", {"--speculate"});
  if (!o.logits.empty()) refuse_idle(app, "--logits", {"--speculate"});  // it runs token by token
  if (o.raw) refuse_idle(app, "--raw", {"--date", "--template-var"});
  if (o.ids) refuse_idle(app, "--ids", {"--date", "--template-var"});
}

// One of two words for how the model is loaded, or a conversation: ./huge is a file of that name.
void set_load(const std::string& s, ChatOptions& o) {
  for (const LoadMode m : {LoadMode::map, LoadMode::huge})
    if (s == load_name(m)) return void(o.load_mode = m);
  if (!o.load.empty()) throw Error(fmt::format("--load names two conversations, '{}' and '{}'; give one", o.load, s));
  name_file("--load", s, o.load);
}

void conversation_options(CLI::App& app, ChatOptions& o) {
  constexpr const char* kGroup = "Conversations in files";
  const auto file = [&](const char* names, const char* longest, std::string& where, const char* help) {
    opt_text(
        app, names, [longest, &where](const std::string& s) { name_file(longest, s, where); }, help)
        ->type_name("FILE")
        ->group(kGroup);
  };
  file("--save,--record", "--save", o.save, "Keep the conversation in a file: texts, ids, options, hashes of the logits");
  opt_each(
      app, "--load", [&o](const std::string& s) { set_load(s, o); },
      "Go on with a saved conversation; map (default) or huge: load the model mapped, or into memory in huge pages")
      ->type_name("map|huge|FILE")
      ->group(kGroup);
  file("--replay", "--replay", o.replay, "Compute a saved conversation again, and say whether it is the same to the last bit");
}

void set_variable(const std::string& s, TemplateOptions& o) {
  const size_t equals = s.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw Error(fmt::format("--template-var takes NAME=VALUE, such as enable_thinking=false, not '{}'", human_words(s)));
  const std::string name = s.substr(0, equals);
  const auto part_of_name = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (!std::all_of(name.begin(), name.end(), part_of_name) || (name[0] >= '0' && name[0] <= '9'))
    throw Error(fmt::format("--template-var takes NAME=VALUE with a name of letters, digits and _, no digit first, not '{}'",
                            human_words(s)));
  for (const char* own : {"messages", "add_generation_prompt", "bos_token", "eos_token"})
    if (name == own)
      throw Error(fmt::format("--template-var {} is what the conversation itself gives the template; leave it out", name));
  o.variables.emplace_back(name, s.substr(equals + 1));
}

void template_options(CLI::App& app, ChatOptions& o) {
  opt_each(
      app, "--template-var", [&o](const std::string& s) { set_variable(s, o.tmpl); },
      "Tell the chat template more, such as enable_thinking=false: JSON, or a text (may be given several times)")
      ->type_name("NAME=VALUE");
  opt_text(
      app, "--date", [&o](const std::string& s) { o.tmpl.date = date_parse(s); },
      "The day that the chat template tells the model, where it tells one (default: today)")
      ->type_name("YYYY-MM-DD");
}

void engine_options(CLI::App& app, ChatOptions& o) {
  constexpr const char* kGroup = "Engine (none of them changes an answer, but for --kv)";
  opt_whole(
      app, "--ctx", 1, UINT32_MAX, [&o](uint64_t v) { o.ctx = static_cast<uint32_t>(v); },
      "Positions of context (default: the model's, at most 4096)")
      ->group(kGroup);
  opt_text(
      app, "--kernel",
      [&o](const std::string& s) {
        if (!path_parse(s)) throw Error(fmt::format("--kernel takes one of {}, not '{}'", path_names(), human_words(s)));
        o.kernel = s;
      },
      "Kernel path (default: the best here; also NYBBLE_KERNEL)")
      ->type_name(alternatives(path_names()))
      ->group(kGroup);
  opt_whole(
      app, "--threads", 1, 1024, [&o](uint64_t v) { o.threads = static_cast<uint32_t>(v); },
      "Threads (default: what helps here; also NYBBLE_THREADS)")
      ->group(kGroup);
  opt_text(
      app, "--kv", [&o](const std::string& s) { o.kv = kv_parse(s); }, "Type of the cache")
      ->type_name("f32|f16|q8")
      ->default_str(std::string(kv_name(o.kv)))
      ->group(kGroup);
  opt_whole(
      app, "--chunk", 1, 4096, [&o](uint64_t v) { o.chunk = static_cast<uint32_t>(v); },
      "Tokens worked on together: of a prompt, or one and what is guessed to follow it")
      ->default_str(std::to_string(o.chunk))
      ->group(kGroup);
  opt_text(
      app, "--speculate",
      [&o](const std::string& s) {
        for (const Speculate one : {Speculate::automatic, Speculate::on, Speculate::off})
          if (s == speculate_name(one)) return void(o.speculate = one);
        throw Error(fmt::format("--speculate takes auto, on or off, not '{}'", human_words(s)));
      },
      "Check guesses at the next tokens, taken from what was said before, in one pass")
      ->type_name("auto|on|off")
      ->default_str(std::string(speculate_name(o.speculate)))
      ->group(kGroup);
}

void output_options(CLI::App& app, ChatOptions& o) {
  constexpr const char* kGroup = "Output";
  app.add_flag("--quiet", o.quiet, "No banner, no statistics")->group(kGroup);
  app.add_flag("--stats", o.stats, "Print load time, memory and speed after each reply, or at the end")->group(kGroup);
  app.add_flag("--json", o.json, "One JSON object a reply: text, ids, timings, fingerprint")->group(kGroup);
  app.add_flag("--fingerprint", o.fingerprint, "Print the hash of the logits: equal hashes, equal answers to the last bit")
      ->group(kGroup);
  opt_whole(
      app, "--logprobs", 0, 1000, [&o](uint64_t v) { o.logprobs = static_cast<uint32_t>(v); },
      "In the JSON: how likely each token was (logarithms, at temperature 1), and this many of the likeliest")
      ->group(kGroup);
  opt_text(
      app, "--logits", [&o](const std::string& s) { name_file("--logits", s, o.logits); },
      "Write the logits of every position that was run, f32 [positions][vocabulary] in numpy's format")
      ->type_name("OUT.npy")
      ->group(kGroup);
}

void prompt_options(CLI::App& app, ChatOptions& o) {
  constexpr const char* kGroup = "At the prompt";
  app.add_flag("--no-edit", o.no_edit, "No line editing: lines come as the terminal gives them")->group(kGroup);
  app.add_flag("--no-history", o.no_history, "Keep no messages from one run to the next, and read none")->group(kGroup);
}

}  // namespace

std::string_view speculate_name(Speculate s) {
  switch (s) {
    case Speculate::automatic: return "auto";
    case Speculate::on: return "on";
    case Speculate::off: return "off";
  }
  return "";
}

std::vector<int32_t> parse_ids(std::string_view text) {
  std::vector<int32_t> ids;
  size_t at = 0;
  for (bool more = true; more;) {
    const size_t comma = text.find(',', at);
    more = comma != std::string_view::npos;
    std::string_view word = text.substr(at, more ? comma - at : comma);
    at = comma + 1;
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    const std::optional<uint64_t> v = parse_whole(word, INT32_MAX);
    if (!v) throw Error(fmt::format("--ids takes token ids such as 1,2,3; '{}' is none", human_words(word)));
    ids.push_back(static_cast<int32_t>(*v));
  }
  return ids;
}

void chat_options(CLI::App& app, ChatOptions& o) {
  opt_text(
      app, "model", [&o](const std::string& s) { set_model(s, o.model); },
      "Model file, .mnm; or a GGUF or Hugging Face folder, converted once (default: the built-in model, or NYBBLE_MODEL)")
      ->type_name("");
  opt_text(app, "-p,--prompt", to(o.message), "Answer one message and exit; piped text is added to it")->type_name("TEXT");
  opt_text(app, "-f,--file", to(o.file), "The same with a file as the message")->type_name("FILE");
  opt_text(
      app, "--ids", [&o](const std::string& s) { o.ids = parse_ids(s); }, "Token ids in place of text, as they are")
      ->type_name("1,2,3");
  opt_text(app, "--system", to(o.system), "System message")->type_name("TEXT");
  app.add_flag("--raw", o.raw, "Continue the text as it is: no template");
  template_options(app, o);
  opt_text(
      app, "--eval", [&o](const std::string& s) { name_file("--eval", s, o.eval); },
      "Mean loss and perplexity over a text, over token ids (.npy), or over the replies of conversations (.jsonl)")
      ->type_name("FILE");
  app.add_flag("--verify", o.verify, "Check the model file's checksums and every kernel path of this CPU");
  setting_options(app, o.set);
  engine_options(app, o);
  conversation_options(app, o);
  output_options(app, o);
  prompt_options(app, o);
  app.callback([&app, &o] {
    refuse_reply_options(app, o);
    refuse_idle_options(app, o);
  });
  app.footer(
      "Without a message it talks: /help lists its commands, Ctrl+C stops a reply, end of input leaves.\n"
      "Options may also be written kernel=avx2. Exit codes: 0 done, 1 an error, 2 wrong usage, 130 interrupted.");
}

void ChatOptions::check() const {
  try {
    set.samp.check();
  } catch (const Error& e) { throw UsageError(e.what()); }
  if (ids && (message || file || raw || !system.empty()))
    throw UsageError("--ids gives the whole prompt: leave out -p, -f, --raw and --system");
  if (raw && !system.empty()) throw UsageError("--system needs the chat template that --raw leaves out; give one of the two");
  if (!logits.empty() && !single()) throw UsageError("--logits is for one message: give -p, -f or --ids as well");
  if (!logits.empty() && !save.empty())
    throw UsageError("--save keeps the hashes of replies, --logits takes those of all positions; give one of the two");
  if (ids && !load.empty()) throw UsageError("--ids gives the whole prompt: leave out --load");
  if (speculate == Speculate::on && chunk == 1)
    throw UsageError(
        "--speculate on checks guesses beside their token, and --chunk 1 takes one token at a time; give one of the two");
  if (logprobs && !json) throw UsageError("--logprobs is a part of the JSON: give --json as well");
  if (int{verify} + int{!eval.empty()} + int{!replay.empty()} + int{single()} > 1)
    throw UsageError("--verify, --eval, --replay and a message (-p, -f, --ids) are different tasks; give one of them");
}

}  // namespace nyb
