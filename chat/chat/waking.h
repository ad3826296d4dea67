// waking.h - the signals that a line under way has to answer.
#pragma once
#include <csignal>

namespace nyb {

// While it lives, Ctrl+Z, the return from it and a new size of the window are noticed; each is told once.
class Waking {
 public:
  Waking();
  ~Waking();
  Waking(const Waking&) = delete;
  Waking& operator=(const Waking&) = delete;

  static bool any();  // one of them, or interrupted(): for wait_readable()
  static bool stop();
  static bool resumed();
  static bool resized();
  // Stops the process as Ctrl+Z does, and returns when it goes on.
  void stop_here();

 private:
  void handle();
  struct sigaction before_[3] = {};
};

}  // namespace nyb
