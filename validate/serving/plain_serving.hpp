#pragma once
// A second simulator of serving, of plain loops: every step is executed, every instant looks at everything. It was
// written from the rules of docs/models/serving.md and shares no code with models/serving, which it checks, but for the
// classes of a histogram.

#include "sim/token_gaps.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace contend {

/// What both simulators run. Times are ns; a step takes overhead + max(weights, token x tokens) + cache x cached.
struct ServingCase {
  static constexpr std::int64_t kNone = std::int64_t{1} << 40;  ///< no limit

  std::int64_t overhead = 0, weights = 0, token = 0, cache = 0;
  std::int64_t tokens = kNone, batch = kNone, block = 1, blocks = kNone;
  bool chunked = true;
  std::int64_t drafts = 0;
  std::vector<std::int64_t> accepted{};
  int replicas = 1;
  int route = 1;  ///< 0: round robin, 1: least, 2: affinity
  int decode = 0;
  std::int64_t latency = 0, per_token = 0;
  std::int64_t period = 0, cold = 0;
  double up = 0, down = 0;
  int least = 1, most = 1;
  bool by_owner = false;  ///< replicas that the rule asks for are started by acts
  /// What an owner does: the instant; a replica that stops, or -1; and when its requests are sent again. Then replicas
  /// that have drained stop, if they are the owner's, and those that are asked for are started, ready after `cold`.
  std::vector<std::array<std::int64_t, 3>> acts{};
  /// Arrival, prompt, answer, prefix, hits.
  std::vector<std::array<std::int64_t, 5>> requests{};
};

struct ServingAnswer {
  std::vector<std::int64_t> first{}, end{}, evictions{};
  std::vector<std::pair<std::int64_t, int>> scaled{};
  std::int64_t steps = 0, computed = 0, recomputed = 0, given = 0;
  TokenGaps gaps{};

  bool operator==(const ServingAnswer&) const = default;
};

[[nodiscard]] ServingAnswer serve_plainly(const ServingCase& input);
/// The answer of models/serving, with leaps or step by step.
[[nodiscard]] ServingAnswer serve_by_fleet(const ServingCase& input, bool leaps);
/// Whether leaps and single steps give equal records and counters, all of them. With `interrupted` the fleet is held at
/// random instants, sometimes loses its caches, and a replica fails.
[[nodiscard]] bool leaps_are_exact(const ServingCase& input, bool interrupted, std::uint64_t seed);
/// A small case drawn at random: evictions, chunks, batches, budgets, replicas, prefixes, drafts, scaling, prefill
/// apart, replicas that stop.
[[nodiscard]] ServingCase random_serving_case(std::uint64_t number);

}  // namespace contend
