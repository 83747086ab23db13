#include "cli/trial.hpp"

#include "cli/exit_code.hpp"
#include "sim/ask_policy.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace contend {
namespace {

constexpr std::chrono::seconds kUsualPatience{300};

/// What a process on trial tells the program, in memory that both have.
struct TrialReport {
  std::atomic<bool> ended_by_policy{false};
  std::array<char, 160> sentence{};        ///< with kind and name of the policy
  std::uint64_t question = 0;              ///< at which that happened; 0: the policy wasn't asked anything
  std::atomic<std::uint64_t> messages{0};  ///< written by the first run
};

enum class Attempt { none, first, search, last };

// A handler of signals, and one of the end of the program, can only reach globals.
TrialReport* g_report = nullptr;
Attempt g_attempt = Attempt::none;
std::uint64_t g_repeated_messages = 0;
std::atomic<bool> g_in_verb{false};
volatile pid_t g_on_trial = 0;

[[noreturn]] void end_without_results(std::string_view sentence) {
  for (const std::string_view part : {std::string_view{"contend: "}, sentence,
                                      std::string_view{", which ends the program: the results of the run are lost\n"}})
    static_cast<void>(!::write(STDERR_FILENO, part.data(), part.size()));
  std::_Exit(kExitPolicy);
}

/// Ends the process as the failure of a policy. Safe in a handler of signals.
[[noreturn]] void end_by_policy(const AskedPolicy& by, std::string_view how) {
  std::array<char, 160> sentence{};
  std::size_t length = 0;
  for (const std::string_view part :
       {by.kind, std::string_view{" policy `"}, std::string_view{by.name}, std::string_view{"` "}, how}) {
    const std::size_t taken = std::min(part.size(), sentence.size() - 1 - length);
    std::memcpy(sentence.data() + length, part.data(), taken);
    length += taken;
  }
  if (g_report != nullptr && (g_attempt == Attempt::first || g_attempt == Attempt::search)) {
    g_report->sentence = sentence;
    g_report->question = asked_policy.kind.empty() && !policy_watch.hangs ? 0 : policy_watch.begun.load();
    g_report->ended_by_policy = true;
    std::_Exit(kExitPolicy);
  }
  end_without_results({sentence.data(), length});
}

AskedPolicy asked_or_unknown() {
  return asked_policy.kind.empty() ? AskedPolicy{"some", "?"} : asked_policy;
}

constexpr std::pair<int, std::string_view> kCrashes[] = {{SIGSEGV, "used a bad address (SIGSEGV)"},
                                                         {SIGBUS, "used a bad address (SIGBUS)"},
                                                         {SIGFPE, "divided by zero (SIGFPE)"},
                                                         {SIGILL, "came to a bad instruction (SIGILL)"},
                                                         {SIGABRT, "called abort()"}};
struct sigaction g_before_crash[std::size(kCrashes)];  // NOLINT: a handler can only reach globals

/// A policy that crashes ends the program as one that fails. A broken invariant of the program aborts after its message
/// (sim/check.hpp); scripts know it by the documented exit code. Other crashes are left to who had the signal before.
extern "C" void end_after_crash(int signal) {
  for (std::size_t i = 0; i < std::size(kCrashes); ++i) {
    if (kCrashes[i].first != signal) continue;
    if (!asked_policy.kind.empty()) end_by_policy(asked_policy, kCrashes[i].second);
    if (signal == SIGABRT) std::_Exit(kExitInternal);
    sigaction(signal, &g_before_crash[i], nullptr);  // what crashed does so again
  }
}

/// While it lives, nothing of the program calls exit(). A policy that does ends the program as one that fails.
class ExitWatch {
 public:
  ExitWatch() {
    static const int registered = std::atexit([] {
      if (g_in_verb) end_by_policy(asked_or_unknown(), "called exit()");
    });
    static_cast<void>(registered);
    g_in_verb = true;
  }
  ~ExitWatch() { g_in_verb = false; }
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;
};

int watch_exit(const std::function<int()>& verb) {
  const ExitWatch watch;
  return verb();
}

constexpr const char* kPatienceVariable = "CONTEND_POLICY_TIMEOUT";

/// The time after which a policy that hasn't answered counts as one that hangs; zero: never. Throws InputError.
std::chrono::milliseconds patience() {
  const char* const given = std::getenv(kPatienceVariable);
  if (given == nullptr) return kUsualPatience;
  const std::string_view text{given};
  double seconds = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || !(seconds >= 0 && seconds <= 1e9))
    throw InputError{fmt::format("{}: expected seconds, 0 to 1e9, got \"{}\"", kPatienceVariable, text)};
  return std::chrono::milliseconds{static_cast<std::int64_t>(std::ceil(1000 * seconds))};
}

/// Ends the process where no question to a policy has begun or ended for too long, and one has begun.
void watch_answers(std::chrono::milliseconds most) {
  if (most.count() == 0) return;
  std::thread{[most] {
    const std::string how = fmt::format("didn't answer within {:g} s", static_cast<double>(most.count()) / 1000);
    auto since = std::chrono::steady_clock::now();
    std::uint64_t begun = 0, ended = 0;
    for (;;) {
      std::this_thread::sleep_for(std::clamp(most / 10, std::chrono::milliseconds{1}, std::chrono::milliseconds{500}));
      const std::uint64_t begun_now = policy_watch.begun, ended_now = policy_watch.ended;
      const auto now = std::chrono::steady_clock::now();
      if (begun_now != begun || ended_now != ended || begun_now == ended_now) since = now;
      begun = begun_now;
      ended = ended_now;
      if (now - since < most) continue;
      policy_watch.hangs = true;
      end_by_policy({policy_watch.kind.load(), policy_watch.name.load()}, how);
    }
  }}.detach();
}

/// Hands on what users send to the program alone. A terminal sends Ctrl-C to the process on trial, too.
void hand_on(int signal, siginfo_t* info, void* /*context*/) {
  if (info->si_code <= 0 && g_on_trial > 0) ::kill(g_on_trial, signal);
}

class HandedOn {
 public:
  HandedOn() {
    struct sigaction action {};
    action.sa_sigaction = hand_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~HandedOn() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  HandedOn(const HandedOn&) = delete;
  HandedOn& operator=(const HandedOn&) = delete;
  /// The process on trial has the handlers that the program had.
  void restore() const {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// Runs the verb in a process of its own. Returns its exit code; nothing if a policy has ended the process.
std::optional<int> try_out(Attempt attempt, std::chrono::milliseconds patience, const std::function<int()>& verb) {
  std::fflush(nullptr);
  const HandedOn handed_on;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return watch_exit(verb);
  if (child == 0) {
    handed_on.restore();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) std::_Exit(kExitInternal);
    g_attempt = attempt;
    policy_watch.is_on = true;
    if (attempt == Attempt::search)
      if (const int nothing = ::open("/dev/null", O_WRONLY); nothing >= 0) ::dup2(nothing, STDOUT_FILENO);
    watch_answers(patience);
    const int code = watch_exit(verb);
    std::fflush(nullptr);
    std::_Exit(code);
  }
  g_on_trial = child;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  g_on_trial = 0;
  if (g_report->ended_by_policy) return std::nullopt;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  // The program ends by the signal that has ended the process.
  handed_on.restore();
  ::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  return kExitInternal;
}

}  // namespace

void watch_crashes() {
  for (std::size_t i = 0; i < std::size(kCrashes); ++i) {
    struct sigaction action {};
    action.sa_handler = end_after_crash;
    sigemptyset(&action.sa_mask);
    sigaction(kCrashes[i].first, &action, &g_before_crash[i]);
  }
}

bool runs_alone() {
  return g_attempt == Attempt::search || g_attempt == Attempt::last;
}

bool was_said() {
  if (g_attempt == Attempt::first) ++g_report->messages;
  if (g_attempt == Attempt::search) return true;
  return g_attempt == Attempt::last && g_repeated_messages++ < g_report->messages;
}

int run_watched(bool on_trial, const std::function<int()>& verb) {
  if (!on_trial) return watch_exit(verb);
  const std::chrono::milliseconds most = patience();
  void* const shared = ::mmap(nullptr, sizeof(TrialReport), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return watch_exit(verb);
  g_report = new (shared) TrialReport;
  if (const auto code = try_out(Attempt::first, most, verb)) return *code;
  if (g_report->question == 0) end_without_results(g_report->sentence.data());
  g_report->ended_by_policy = false;
  if (!try_out(Attempt::search, most, verb) && g_report->question > 0) {
    policy_watch.fatal = g_report->question;
    policy_watch.why = g_report->sentence.data();
    policy_watch.is_on = true;
  }
  g_attempt = Attempt::last;
  return watch_exit(verb);
}

}  // namespace contend
