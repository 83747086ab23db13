#pragma once
// Partner is the other side of a conversation of JSON lines: another process (child.hpp), or functions of this one,
// such as the partners of the Python module (in_process.hpp).

#include <chrono>
#include <string>
#include <string_view>

namespace contend {

class Partner {
 public:
  Partner() = default;
  virtual ~Partner() = default;
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  /// Sends a line, which ends in a newline, and returns the line that it answers, without its newline. Throws
  /// InputError, whose text follows the name of the partner in a sentence.
  [[nodiscard]] virtual std::string ask(std::string_view line, std::chrono::nanoseconds timeout) = 0;
  /// Sends a line without waiting for an answer; what goes wrong is for the next ask() to find.
  virtual void tell(std::string_view line) = 0;
  /// Ends it at once.
  virtual void kill() = 0;
};

}  // namespace contend
