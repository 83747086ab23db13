#pragma once
// Runs the built program, whose path CTest gives in CONTEND_PROGRAM, in a folder of its own.

#include "tests/text_checks.hpp"
#include "text/atomic_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/core.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace contend {

struct Outcome {
  int code = 0;
  std::string out, err;
};

inline bool has_program() {
  const char* path = std::getenv("CONTEND_PROGRAM");
  return path != nullptr && *path != '\0';
}

/// What `sh -c COMMAND` writes to a terminal of that width, on which a user types the answers; with their echo.
inline std::string on_terminal(const std::string& command, unsigned short columns, const std::string& answers = "") {
  const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) return "no terminal";
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  if (::write(terminal, answers.data(), answers.size()) < 0) return "no terminal";
  std::string out;
  char buffer[4096];
  for (ssize_t count; (count = ::read(terminal, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(count));
  ::close(terminal);
  ::waitpid(child, nullptr, 0);
  return out;
}

/// A folder that is there as long as the object is; tests of several processes don't meet in it.
class Workplace {
 public:
  Workplace() : folder_{std::filesystem::temp_directory_path() / fmt::format("contend-cli-{}", ::getpid())} {
    std::filesystem::create_directories(folder_);
  }
  ~Workplace() { std::filesystem::remove_all(folder_); }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string read(const std::string& name) const { return read_file(path(name)); }
  void write(const std::string& name, const std::string& text) const { write_file(path(name), text); }

  /// `contend ARGUMENTS` with this folder as working directory; `before` goes in front, e.g. `timeout 5`.
  [[nodiscard]] Outcome contend(const std::string& arguments, const std::string& before = "") const {
    const std::string command = fmt::format("cd '{}' && {} '{}' {} >stdout.txt 2>stderr.txt </dev/null",
                                            folder_.string(), before, std::getenv("CONTEND_PROGRAM"), arguments);
    const int status = std::system(command.c_str());
    return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .out = read("stdout.txt"), .err = read("stderr.txt")};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace contend
