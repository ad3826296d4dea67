// messages.h - what a person, a script or a pipe says: lines, put together to messages.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include "chat/complete.h"
#include "chat/options.h"

namespace nyb {

// Lines as they are typed. A line may hold newlines: then it was pasted in one piece.
class Lines {
 public:
  // taken_back: Ctrl+C emptied a line that held something. interrupted: it came on an empty one, or the program is told to end.
  enum class Got { line, end, interrupted, taken_back };
  virtual ~Lines() = default;
  // `within` a long message: the prompt is another one, and '/' nothing special.
  virtual Got next(std::string& line, bool within) = 0;
  virtual void remember(std::string_view) {}  // for the history
};

constexpr const char* kPrompt = "> ";
constexpr const char* kPromptWithin = ". ";

// With line editing where the terminal can and the options let it; else standard input as it comes.
std::unique_ptr<Lines> lines_open(const ChatOptions& o, const CommandWords& words);

struct TypedMessage {
  std::string text;
  bool command = false;  // a line that begins with '/'
};

// A message is a line. One that begins with """ goes on to the line that ends with """; there it ends as well: what was typed
// or pasted after that line is the next message. End of input sends what there is, and says so.
class MessageReader {
 public:
  enum class Got { message, end, interrupted };
  explicit MessageReader(std::unique_ptr<Lines> lines) : lines_(std::move(lines)) {}
  Got next(TypedMessage& m);  // never an empty one

 private:
  enum class Long { whole, taken_back, interrupted };
  Long long_message(std::string typed, std::string& text);
  std::unique_ptr<Lines> lines_;
  std::string left_;  // came in one piece with the end of a long message
};

}  // namespace nyb
