#pragma once
// Ctrl-C ends a run in good order: the first SIGINT or SIGTERM is remembered and runs stop at their next look, so that
// partial results are written; another one, a second later or more, ends the program at once.

namespace contend {

void catch_interrupts();
[[nodiscard]] bool interrupted();

}  // namespace contend
