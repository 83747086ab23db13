#pragma once
// Bad values of `overlap.*` that only show once the study is put together.

#include "sim/error.hpp"

#include <string>
#include <utility>

namespace contend {

/// Throws InputError about the key `overlap.<key>`.
[[noreturn]] inline void complain_of_overlap(const std::string& key, std::string reason, std::string hint = {}) {
  Diagnostic diagnostic;
  diagnostic.key = "overlap." + key;
  diagnostic.reason = std::move(reason);
  diagnostic.hint = std::move(hint);
  throw InputError{{std::move(diagnostic)}};
}

}  // namespace contend
