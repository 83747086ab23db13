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

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return g_interrupted;
}

}  // namespace contend
