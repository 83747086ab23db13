#pragma once
// Small cases of federated training, and what plain loops make of them, written from the rules alone
// (docs/models/federated.md): every instant is found by looking at all clients.

#include "models/federated/federated_spec.hpp"
#include "sim/federated_round.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// Cases of all rules, with presence by tables; all clients are asked. Seeds 1, 2, ...
[[nodiscard]] FederatedSpec random_federated_case(std::uint64_t seed);

/// The rounds of a case, from instant 0 on. Throws InputError if they never end.
[[nodiscard]] std::vector<FederatedRound> plain_federated(const FederatedSpec& spec);

/// How the program's rounds of a case differ from plain loops, or break what holds for all: bytes that were sent are
/// received or dropped, and clients that were asked have an update in a version or lost their work. Empty if they
/// don't.
[[nodiscard]] std::string federated_difference(const FederatedSpec& spec);

/// Random cases that the suite compares: seeds 1, 2, ...
inline constexpr std::uint64_t kFederatedCases = 200;

}  // namespace contend
