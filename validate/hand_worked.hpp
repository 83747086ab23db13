#pragma once
// Checks contention and AdaDUAL on a handful of messages, small enough to be worked out by hand to the nanosecond.
//
// Every job computes for a while on two servers, all-reduces once between them, and ends. No two jobs share a GPU, so
// only the network makes them wait. beta = 1 ns per byte and eta = 0.25: a byte takes 1 ns in a message alone, 2 + 0.25
// = 2.25 ns in one of two messages, 3 + 0.5 = 3.5 ns in one of three. AdaDUAL's threshold is M_new / remaining = b /
// (2(b+eta)) = 0.4.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

struct HandWorkedJob {
  std::int64_t compute_ns = 0;  ///< after this time the message is ready
  std::int64_t bytes = 0;
  std::array<int, 2> servers{};
  std::int64_t finish_ns = 0;  ///< worked out by hand
};

struct HandWorkedCase {
  std::string_view name;
  std::string_view communication;  ///< the policy as a scenario gives it
  std::vector<HandWorkedJob> jobs;
};

/// The cases, each worked out in a comment beside it.
[[nodiscard]] std::span<const HandWorkedCase> hand_worked_cases();

/// The simulated finish of each job in ns; -1 if it does not finish.
[[nodiscard]] std::vector<std::int64_t> simulate_finishes(const HandWorkedCase& hand_worked);

}  // namespace contend
