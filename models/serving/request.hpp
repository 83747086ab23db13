#pragma once
// A request to a served model, and the times that it got.

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

/// Why the request at the head of a queue was not admitted to a step.
enum class AdmissionLimit : std::uint8_t {
  none,    ///< it was admitted to the first step that began after it came
  batch,   ///< as many sequences ran as may
  tokens,  ///< the step's budget of tokens was used up
  memory,  ///< too few blocks of KV memory were free
};

/// The times of a request. A time is Time::never() until it has come.
struct RequestRecord {
  Time arrival{};
  Time admitted = Time::never();  ///< begin of the first step that computed a token of it
  Time first = Time::never();     ///< its first token; an eviction later doesn't change it
  Time end = Time::never();       ///< its last token
  std::int32_t prompt = 0;
  std::int32_t answer = 0;
  std::int32_t evictions = 0;
  std::int32_t replica = -1;  ///< that it was routed to; apart: of prefill, then of decode
  AdmissionLimit waited =
      AdmissionLimit::none;  ///< the last limit that kept it, or those before it, from its first step
  /// Time to the first token, from the arrival on.
  [[nodiscard]] Time to_first() const { return first - arrival; }
  /// End to end.
  [[nodiscard]] Time to_end() const { return end - arrival; }
  bool operator==(const RequestRecord&) const = default;
};

}  // namespace contend
