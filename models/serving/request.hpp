#pragma once
// A request to a served model. What becomes of it is a RequestResult (sim/service.hpp).

#include "sim/service.hpp"
#include "sim/units.hpp"

#include <cstdint>

namespace contend {

/// Requests of a fleet are numbered from 0 in the order of their submission.
using RequestNumber = std::uint32_t;

/// A prompt and the length of its answer, in tokens.
struct ServedRequest {
  static constexpr std::int64_t kNoPrefix = -1;

  Time arrival{};
  std::int64_t prompt = 1;          ///< >= 1
  std::int64_t answer = 1;          ///< >= 1; the first token, which the prefill gives, is one of them
  std::int64_t prefix = kNoPrefix;  ///< which prefix it shares with other requests, >= 0; routing by affinity uses it
  std::int64_t hits = 0;            ///< tokens of the prompt that need no computing; at least one token is computed
};

}  // namespace contend
