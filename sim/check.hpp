#pragma once
// Macros that stop the program when an invariant is broken. CONTEND_CHECK works in every build type; CONTEND_DCHECK,
// for hot loops, only in debug builds. Bad input is no broken invariant: it throws InputError (sim/error.hpp).

#include <string_view>

namespace contend {
/// Prints the violated expression with its place and the message, then aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* expression, std::string_view message);
}  // namespace contend

#define CONTEND_CHECK(condition, message) \
  (static_cast<bool>(condition) ? void(0) : ::contend::check_failed(__FILE__, __LINE__, #condition, message))

#ifdef NDEBUG
#define CONTEND_DCHECK(condition, message) static_cast<void>(0)
#else
#define CONTEND_DCHECK(condition, message) CONTEND_CHECK(condition, message)
#endif
