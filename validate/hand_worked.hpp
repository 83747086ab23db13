#pragma once
// Contention and AdaDUAL on a handful of messages, small enough to be worked out by hand to the nanosecond.
//
// Every job computes for a while on two servers, all-reduces once between them, and is done. No two jobs share a GPU,
// so only the network makes them wait. beta = 1 ns per byte and eta = 0.25: a message alone takes 1 ns per byte, one of
// two 2 + 0.25 = 2.25, one of three 3 + 0.5 = 3.5. AdaDUAL's threshold is M_new / remaining = b / (2(b+eta)) = 0.4.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

struct HandWorkedJob {
  std::int64_t compute_ns = 0;  ///< the message is ready then
  std::int64_t bytes = 0;
  std::array<int, 2> servers{};
  std::int64_t finish_ns = 0;  ///< as worked out
};

struct HandWorkedCase {
  std::string_view name;
  std::string_view communication;  ///< as a scenario gives the policy
  std::vector<HandWorkedJob> jobs;
};

/// The cases, each worked out in a comment beside it.
[[nodiscard]] std::span<const HandWorkedCase> hand_worked_cases();

/// When each job of the case finishes in the simulator, in ns; -1 if it doesn't.
[[nodiscard]] std::vector<std::int64_t> simulate_finishes(const HandWorkedCase& hand_worked);

}  // namespace contend
