#include "cli/certify.hpp"

#include "sim/error.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace contend {

namespace {

constexpr const char* kChecker = "contend-check";
constexpr int kAgrees = 0, kDisagrees = 1;  // exit codes of it

/// The path of the checker beside this program, else its name.
std::string checker() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = program.parent_path() / kChecker;
  return !error && std::filesystem::exists(beside, error) ? beside.string() : std::string{kChecker};
}

/// Runs it on one folder; returns its exit code, or -1 if a signal ended it.
int check(std::string program, std::string folder) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  std::string end = "--";
  std::array<char*, 4> words{program.data(), end.data(), folder.data(), nullptr};
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, program.c_str(), &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw InputError{{.key = "--certify",
                      .reason = fmt::format("{} can't be started: {}", program, std::strerror(error)),
                      .hint = "it needs Python 3; put scripts/contend_check.py on the path under this name"}};
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::vector<bool> certify(std::span<const std::string> folders) {
  std::vector<bool> agree;
  const std::string program = checker();
  for (const std::string& folder : folders) {
    const int code = check(program, folder);
    if (code != kAgrees && code != kDisagrees)
      throw InputError{{.file = folder,
                        .reason = fmt::format(
                            "{} can't check this folder; write it with `contend run --certificate -o`", kChecker)}};
    agree.push_back(code == kAgrees);
  }
  return agree;
}

}  // namespace contend
