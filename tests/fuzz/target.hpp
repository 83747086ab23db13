#pragma once
// A fuzz target: a function that gives arbitrary bytes to one reader and checks what comes back. Each file of a room's
// folder defines targets at namespace scope; one_target.cpp runs the one that is chosen.

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace contend::fuzz {

class Target {
 public:
  /// The name is also the name of the folder with its committed inputs, tests/fuzz/corpus/ROOM/NAME. `run` may throw
  /// InputError, with which the reader refuses the bytes; any other exception is a fault.
  Target(std::string_view name, void (*run)(std::string_view input));
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
};

/// Takes the text up to `end` off `rest`, and `end` with it.
inline std::string_view take(std::string_view& rest, char end) {
  const std::size_t size = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(std::min(size + 1, rest.size()));
  return taken;
}

/// Returns what `read` does with text that this program has written itself, and which it must therefore not refuse.
template <class Read>
auto must_accept(const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    CONTEND_CHECK(false, error.what());
    throw;
  }
}

}  // namespace contend::fuzz
