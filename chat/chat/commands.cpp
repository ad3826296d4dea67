// commands.cpp - the one list of commands, and what each does.
#include "chat/commands.h"
#include <fmt/format.h>
#include <algorithm>
#include "chat/memory.h"
#include "chat/report.h"
#include "common/app.h"
#include "common/input.h"

namespace nyb {
namespace {

std::string_view skip_blanks(std::string_view s) {
  const size_t at = s.find_first_not_of(" \t");
  return at == std::string_view::npos ? std::string_view() : s.substr(at);
}

void want_file(const char* word, const std::string& path) {
  if (path.empty()) throw Error(fmt::format("{} takes the name of a file", word));
}

void help(Session&, const std::string&) {
  std::string all;
  for (const Command& c : command_list())
    all += fmt::format("{:<18} {}\n", c.argument.empty() ? c.word : c.word + " " + c.argument, c.help);
  err_write(all + "Any other line is a message. To begin a message with '/', put a space before it.\n");
}

void reset(Session& s, const std::string&) {
  s.reset();
  note("(the conversation begins anew)");
}

void system_message(Session& s, const std::string& text) {
  if (!s.runtime().tmpl || !s.conversation())
    return note("(this model runs without a chat template, and so without a system message)");
  s.set_system(text);
  note(text.empty() ? "(there is no system message now)" : "(the system message is set)");
}

std::string setting_names() {
  std::string all;
  for (const Setting& s : setting_list()) all += (all.empty() ? "" : ", ") + s.name;
  return all;
}

void show(Session& s, const std::string&) {
  std::string all;
  const auto add = [&](std::string_view name, const auto& value) { all += fmt::format("{:<15} {}\n", name, value); };
  for (const Setting& setting : setting_list()) {
    const std::string value = setting.name == "seed" ? fmt::format("{}", s.seed()) : setting.get(s.options().set);
    add(setting.name, value.empty() ? "none" : value);
  }
  const Runtime& r = s.runtime();
  add("kernel", path_name(r.kern.table.path));
  add("threads", r.threads.count);
  add("kv", kv_name(r.engine->kv()));
  add("chunk", s.options().chunk);
  add("speculate", speculate_name(s.options().speculate));
  add("load", load_name(r.model->load));
  if (const Conversation* c = s.conversation()) {
    if (r.tmpl) add("system", c->system().empty() ? "none" : human_words(c->system()));
    add("context", fmt::format("{} of {} tokens, {} turn{}{}", std::min(c->ids().size(), c->ctx()), c->ctx(), c->turns(),
                               c->turns() == 1 ? "" : "s", c->dropped() ? fmt::format(" ({} older left out)", c->dropped()) : ""));
  }
  err_write(all);
}

// /set NAME VALUE. A value of several words is taken whole; of a setting with several values, none takes all back.
void set(Session& s, const std::string& rest) {
  if (rest.empty()) return show(s, rest);
  const size_t space = rest.find_first_of(" \t");
  const std::string name = rest.substr(0, space);
  const std::string value(space == std::string::npos ? std::string_view() : skip_blanks(std::string_view(rest).substr(space)));
  const Setting* setting = setting_find(name);
  if (!setting) throw Error(fmt::format("there is no setting '{}'; there are {}", name, setting_names()));
  Settings& now = s.options().set;
  if (value.empty() && setting->many) {
    now.stops.clear();
    return note(fmt::format("({}: none)", name));
  }
  if (value.empty()) throw Error(fmt::format("{} takes a value: /set {} {}", name, name, setting->value));
  setting->set(now, name, value);
  if (name == "seed") s.reseed(*now.seed);
  note(fmt::format("({}: {})", name, setting->get(now)));
}

void regen(Session& s, const std::string&) { s.ask_again(); }

void undo(Session& s, const std::string&) {
  const std::optional<std::string> text = s.take_back();
  note(text ? fmt::format("(taken back: {})", human_words(*text)) : "(there is no message to take back)");
}

void save(Session& s, const std::string& path) {
  want_file("/save", path);
  s.save(path);
  const size_t events = s.record().events.size();
  note(fmt::format("(saved to '{}'{})", human_words(path), events ? "" : ", with no message in it"));
}

void load(Session& s, const std::string& path) {
  want_file("/load", path);
  const std::string why = s.load(path);
  const size_t turns = s.conversation()->turns();
  note(fmt::format("(loaded from '{}': {} turn{})", human_words(path), turns, turns == 1 ? "" : "s"));
  if (!why.empty()) note(why);
}

void send_file(Session& s, const std::string& path) {
  want_file("/read", path);
  s.ask(without_newline(read_whole(path)));
}

void tokens(Session& s, const std::string& text) {
  const Tokenizer* tok = s.runtime().tok.get();
  if (!tok) throw Error("the model has no tokenizer, so no text has tokens");
  const std::vector<int32_t> ids = tok->encode(text);
  std::string all;
  for (const int32_t id : ids) all += fmt::format("{:>8} \"{}\"\n", id, human_words(tok->bytes(id)));
  err_write(all + fmt::format("({} token{})\n", ids.size(), ids.size() == 1 ? "" : "s"));
}

void stats(Session& s, const std::string&) {
  size_t replies = 0, count = 0, undone = 0;
  const std::vector<Event>& events = s.record().events;
  for (auto e = events.rbegin(); e != events.rend(); ++e) {
    if (e->kind == Event::Kind::undo) {
      ++undone;
    } else if (e->kind != Event::Kind::system && undone > 0) {
      --undone;
    } else if (e->kind == Event::Kind::message) {
      ++replies;
      count += e->ids.size();
    }
  }
  err_write(banner(s.runtime()) + usage_lines(s.runtime()) + "\n");
  if (replies) note("last reply: " + stats_line(s.runtime(), s.last(), s.seed()));
  err_write(fmt::format("{} repl{}, {} tokens in them\n", replies, replies == 1 ? "y" : "ies", count));
}

}  // namespace

const std::vector<Command>& command_list() {
  static const std::vector<Command> all = {
      {"/help", "", "this list", false, help},
      {"/reset", "", "forget the conversation; the system message stays", false, reset},
      {"/system", "TEXT", "set the system message; without TEXT there is none", false, system_message},
      {"/set", "NAME VALUE", "change a setting: " + setting_names(), false, set},
      {"/show", "", "the settings, what runs, and how full the context is", false, show},
      {"/regen", "", "answer the last message again", false, regen},
      {"/undo", "", "take back the last message and its reply", false, undo},
      {"/save", "FILE", "save the conversation", true, save},
      {"/load", "FILE", "go on with a saved conversation", true, load},
      {"/read", "FILE", "send a file as a message", true, send_file},
      {"/tokens", "TEXT", "show the tokens of a text", false, tokens},
      {"/stats", "", "what runs, how fast, and what it takes", false, stats},
      {"/quit", "", "leave", false, nullptr}};
  return all;
}

CommandWords command_words() {
  CommandWords words;
  for (const Command& c : command_list()) {
    words.all.push_back(c.word);
    if (c.file) words.take_file.push_back(c.word);
  }
  return words;
}

bool command_run(Session& s, std::string_view line) {
  const size_t space = line.find_first_of(" \t\n");
  const std::string_view word = line.substr(0, space);
  const std::string_view after = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
  const auto& all = command_list();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Command& c) { return c.word == word; });
  if (it == all.end()) {
    note(fmt::format("unknown command '{}'; /help lists the commands", human_words(word)));
  } else if (!it->run) {
    return false;
  } else {
    if (it->file && after.find('\0') != std::string_view::npos)
      throw Error(fmt::format("{} takes the name of a file, and none has a NUL byte", it->word));
    // of a text the blanks are its own
    const std::string rest(it->argument == "TEXT" ? after : skip_blanks(after));
    it->run(s, it->file ? expand_home(rest) : rest);
  }
  return true;
}

}  // namespace nyb
