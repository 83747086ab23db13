#pragma once
// Handles Ctrl-C. The first SIGINT or SIGTERM is recorded, and runs stop at their next check, so that partial results
// are written. A second signal, at least a second later, ends the program at once.

namespace contend {

void catch_interrupts();
[[nodiscard]] bool interrupted();

}  // namespace contend
