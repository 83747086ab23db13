#pragma once
// How long a step of a replica takes, by what the step computes. All terms are whole picoseconds, so that the times of
// many equal steps have an exact sum.

#include "sim/units.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// What a step computes.
struct StepWork {
  std::int64_t tokens = 0;     ///< of prompts, and one of each decoding sequence (with drafts: one more for each draft)
  std::int64_t sequences = 0;  ///< which compute a token in the step, or more
  std::int64_t answers = 0;    ///< sequences that give a token, because all their known tokens are computed at the end
  std::int64_t cached = 0;     ///< sum over the sequences of the tokens in their caches when the step ends
  std::int64_t pairs = 0;      ///< of a prompt's token and a token that it attends to: itself and those before it
};

/// step = overhead + sequence x sequences + products(tokens) + head(answers) + cache x cached + pair x pairs.
/// products(n) is by_tokens[n], and beyond the table its last time and `token` for each token more; without a table it
/// is max(weights, token x n), the roofline of a model whose weights are read once. head(n) is by_answers[n], and the
/// last time beyond.
struct StepLaw {
  std::int64_t overhead = 0;               ///< ps
  std::int64_t sequence = 0;               ///< ps
  std::int64_t weights = 0;                ///< ps
  std::int64_t token = 0;                  ///< ps a token
  std::int64_t cache = 0;                  ///< ps a token in a cache
  std::int64_t pair = 0;                   ///< ps
  std::vector<std::int64_t> by_tokens{};   ///< ps
  std::vector<std::int64_t> by_answers{};  ///< ps

  /// The time of the products (and of messages, which grow with the tokens, too), in ps.
  [[nodiscard]] Int128 products(std::int64_t tokens) const;
  /// The time of a step, in ps.
  [[nodiscard]] Int128 step(const StepWork& work) const;
  /// Throws InputError if a term is negative or above 2^60 ps (13 days), or if a step of one token takes no time.
  void check() const;
};

}  // namespace contend
