#pragma once
// Handles Ctrl-C. The first SIGINT or SIGTERM is recorded, and runs stop at their next check, so that partial results
// are written. A second signal, at least a second later, ends the program at once.

#include <csignal>

namespace contend {

/// From here on the program catches both signals. Does nothing once leave_signals_alone() was called.
void catch_interrupts();
[[nodiscard]] bool interrupted();

/// For a program with signal handlers of its own that calls verbs as functions: catch_interrupts() does nothing.
void leave_signals_alone();

/// While one lives, SIGINT is recorded and then reaches the handler that was there before. Only one at a time, in the
/// main thread of a program that leaves signals alone.
class BorrowedInterrupt {
 public:
  BorrowedInterrupt();
  ~BorrowedInterrupt();
  BorrowedInterrupt(const BorrowedInterrupt&) = delete;
  BorrowedInterrupt& operator=(const BorrowedInterrupt&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace contend
