#pragma once
// The three kinds of failure. Bad input throws InputError (sim/error.hpp). A broken invariant of ours stops the
// program with a message in every build type: CONTEND_CHECK. A check inside a hot loop exists in debug builds only:
// CONTEND_DCHECK.

#include <string_view>

namespace contend {
[[noreturn]] void check_failed(const char* file, int line, const char* expression, std::string_view message);
}

#define CONTEND_CHECK(condition, message) \
  (static_cast<bool>(condition) ? void(0) : ::contend::check_failed(__FILE__, __LINE__, #condition, message))

#ifdef NDEBUG
#define CONTEND_DCHECK(condition, message) static_cast<void>(0)
#else
#define CONTEND_DCHECK(condition, message) CONTEND_CHECK(condition, message)
#endif
