// eval.h - how well a model predicts a text.
#pragma once
#include "chat/runtime.h"

namespace nyb {

// Mean loss and perplexity over o.eval, printed (o.json: as one object). A name that ends in .jsonl holds conversations, one
// JSON value a line: a list of {role, content}, or an object whose "messages" is such a list; the tokens of the assistant's
// messages and their end tokens are scored. A .npy file holds token ids, any other a text: they are cut into windows of the
// context's size, each with its BOS where the model has one; the first token of a window is not scored. Returns the exit code.
// Throws Error naming file and line, or position; Cancelled; Interrupted.
int eval_run(Runtime& r, const ChatOptions& o);

}  // namespace nyb
