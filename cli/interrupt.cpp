#include "cli/interrupt.hpp"

#include "cli/exit_code.hpp"

#include <atomic>
#include <csignal>
#include <ctime>

#include <unistd.h>

namespace contend {
namespace {

// A signal handler can only reach globals.
std::atomic<bool> g_interrupted{false};
std::atomic<std::time_t> g_first{0};  ///< seconds, monotonic
std::atomic<bool> g_left_alone{false};
std::atomic<void (*)(int)> g_lender{nullptr};  ///< the handler that BorrowedInterrupt has put aside
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::time_t>::is_always_lock_free,
              "safe in a signal handler");

/// Records an interrupt. One Ctrl-C may arrive twice (from the terminal to the process group, and from a wrapper such
/// as `timeout` to its child), so only a signal at least a second later ends the program.
extern "C" void remember_interrupt(int) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!g_interrupted.exchange(true))
    g_first = now.tv_sec;
  else if (now.tv_sec > g_first + 1)
    _exit(kExitInterrupted);
}

extern "C" void remember_and_pass_on(int signal) {
  g_interrupted = true;
  if (void (*const handler)(int) = g_lender; handler != nullptr) handler(signal);
}

}  // namespace

void catch_interrupts() {
  if (g_left_alone) return;
  struct sigaction action {};
  action.sa_handler = remember_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return g_interrupted;
}

void leave_signals_alone() {
  g_left_alone = true;
}

BorrowedInterrupt::BorrowedInterrupt() {
  g_interrupted = false;
  sigaction(SIGINT, nullptr, &before_);
  if ((before_.sa_flags & SA_SIGINFO) != 0 || before_.sa_handler == SIG_DFL || before_.sa_handler == SIG_IGN) return;
  g_lender = before_.sa_handler;
  struct sigaction action {};
  action.sa_handler = remember_and_pass_on;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

BorrowedInterrupt::~BorrowedInterrupt() {
  sigaction(SIGINT, &before_, nullptr);
  g_lender = nullptr;
  g_interrupted = false;
}

}  // namespace contend
