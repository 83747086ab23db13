#pragma once
// Child is a program that runs beside this one and answers it line by line: a command that it starts, and which answers
// on its standard output, or one that waits at a Unix socket.

#include "policies/external/partner.hpp"

#include <chrono>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace contend {

class Child final : public Partner {
 public:
  /// Starts the command by /bin/sh in a process group of its own. The command's standard error goes to the standard
  /// error of this program. A command that begins with `unix:` is the path of a socket to connect to instead. Throws
  /// InputError if it can't be started or reached.
  explicit Child(const std::string& command);
  /// Closes its input, and kills a command that hasn't ended a second later.
  ~Child() override;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Throws InputError as well if it has ended, if the answer takes longer than `timeout`, or if it is longer than
  /// 64 MiB.
  [[nodiscard]] std::string ask(std::string_view line, std::chrono::nanoseconds timeout) override;
  void tell(std::string_view line) override;
  void kill() override;

 private:
  using Instant = std::chrono::steady_clock::time_point;
  void send(std::string_view line, Instant deadline);
  [[nodiscard]] std::string receive(Instant deadline);
  /// Waits until the socket is ready for `events`; throws InputError at the deadline.
  void wait_for(short events, Instant deadline);
  /// Waits for its end, at most for so long; false if it still runs.
  bool wait_for_end(std::chrono::milliseconds at_most);
  [[noreturn]] void throw_ended();

  std::chrono::nanoseconds timeout_{};  ///< of the question that it has yet to answer
  pid_t process_ = -1;                  ///< of a command; -1 once it has been waited for
  int status_ = 0;
  int socket_ = -1;
  std::string received_;  ///< behind the last answer
};

}  // namespace contend
