#include "policies/external/child.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <thread>

#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace contend {

namespace {

constexpr std::size_t kLongestAnswer = std::size_t{64} << 20;
constexpr std::chrono::milliseconds kPatience{1000};

/// Starts the command with the socket as its standard input and output; returns an error number or 0.
int spawn(const std::string& command, int socket, pid_t& process) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
  // A group of its own, so that Ctrl-C ends this program in its own way, and all that the shell starts can be killed.
  // Signals that this program ignores or blocks are as usual for the child.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  std::array<std::string, 3> words{"sh", "-c", command};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  const int error = ::posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// A socket that is connected to the one at this path. Throws InputError.
int connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw InputError{
        fmt::format("can't be reached: the path of a socket has at most {} bytes", sizeof address.sun_path - 1)};
  path.copy(address.sun_path, path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return socket;
  const int error = errno;
  if (socket >= 0) ::close(socket);
  throw InputError{fmt::format("can't be reached: {}", std::strerror(error))};
}

}  // namespace

Child::Child(const std::string& command) {
  constexpr std::string_view kSocket = "unix:";
  if (command.starts_with(kSocket)) {
    socket_ = connect_to(command.substr(kSocket.size()));
    return;
  }
  // A socket, because writing to a pipe whose reader has ended would raise SIGPIPE.
  std::array<int, 2> ends{};
  int error = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0 ? 0 : errno;
  if (error == 0) {
    error = spawn(command, ends[1], process_);
    ::close(ends[1]);
    if (error == 0)
      socket_ = ends[0];
    else
      ::close(ends[0]);
  }
  if (error != 0) throw InputError{fmt::format("can't be started: {}", std::strerror(error))};
}

Child::~Child() {
  if (process_ > 0) {
    ::shutdown(socket_, SHUT_WR);
    if (!wait_for_end(kPatience)) kill();
  }
  ::close(socket_);
}

void Child::kill() {
  ::shutdown(socket_, SHUT_RDWR);
  if (process_ <= 0) return;
  ::kill(-process_, SIGKILL);
  while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

bool Child::wait_for_end(std::chrono::milliseconds at_most) {
  const Instant deadline = std::chrono::steady_clock::now() + at_most;
  while (process_ > 0) {
    const pid_t ended = ::waitpid(process_, &status_, WNOHANG);
    if (ended == process_ || (ended < 0 && errno != EINTR)) process_ = -1;
    if (process_ <= 0) break;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

std::string Child::ask(std::string_view line, std::chrono::nanoseconds timeout) {
  timeout_ = timeout;
  const Instant deadline = std::chrono::steady_clock::now() + timeout;
  send(line, deadline);
  return receive(deadline);
}

void Child::tell(std::string_view line) {
  static_cast<void>(::send(socket_, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

void Child::send(std::string_view line, Instant deadline) {
  while (!line.empty()) {
    const ssize_t sent = ::send(socket_, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0)
      line.remove_prefix(static_cast<std::size_t>(sent));
    else if (errno == EAGAIN)
      wait_for(POLLOUT, deadline);
    else if (errno != EINTR)
      throw_ended();
  }
}

std::string Child::receive(Instant deadline) {
  std::array<char, 65536> buffer;
  for (std::size_t searched = 0;;) {
    if (const std::size_t end = received_.find('\n', searched); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    if (searched > kLongestAnswer)
      throw InputError{fmt::format("answered with a line longer than {} MiB", kLongestAnswer >> 20)};
    const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0)
      received_.append(buffer.data(), static_cast<std::size_t>(count));
    else if (count < 0 && errno == EAGAIN)
      wait_for(POLLIN, deadline);
    else if (count == 0 || errno != EINTR)
      throw_ended();
  }
}

void Child::wait_for(short events, Instant deadline) {
  using std::chrono::ceil, std::chrono::milliseconds;
  const auto left = ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
  if (left.count() <= 0)
    throw InputError{fmt::format("didn't answer within {:g} s; `timeout_s` sets how long to wait",
                                 std::chrono::duration<double>(timeout_).count())};
  pollfd ready{.fd = socket_, .events = events, .revents = 0};
  static_cast<void>(::poll(&ready, 1, static_cast<int>(std::min<milliseconds::rep>(left.count(), 3'600'000))));
}

void Child::throw_ended() {
  if (process_ <= 0 && status_ == 0) throw InputError{"closed the connection before it answered"};
  if (!wait_for_end(kPatience)) throw InputError{"closed its standard output without an answer, and runs on"};
  // The shell says in its own exit code which signal ended its command.
  const int code = WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
  if (code > 128) throw InputError{fmt::format("was ended by signal {} before it answered", code - 128)};
  throw InputError{fmt::format("ended with exit code {} before it answered", code)};
}

}  // namespace contend
