#include "cli/process.hpp"

#include "text/atomic_file.hpp"

#include <array>
#include <cerrno>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace contend {

ProcessResult run_process(const std::vector<std::string>& words) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) throw_file_error(words.front(), "can't run it", errno);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addclose(&actions, pipe[0]);
  ::posix_spawn_file_actions_addclose(&actions, pipe[1]);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  ProcessResult result;
  if (error == 0) {
    std::array<char, 4096> buffer{};
    for (ssize_t count; (count = ::read(pipe[0], buffer.data(), buffer.size())) > 0 || (count < 0 && errno == EINTR);)
      if (count > 0) result.out.append(buffer.data(), static_cast<std::size_t>(count));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  } else if (error == ENOENT) {
    result.code = 127;
  }
  ::close(pipe[0]);
  if (error != 0 && error != ENOENT) throw_file_error(words.front(), "can't run it", error);
  return result;
}

}  // namespace contend
