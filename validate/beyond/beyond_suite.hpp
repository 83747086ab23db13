#pragma once
// Declares the suite `beyond`: energy, and what else goes beyond one data centre and beyond time, against published
// measurements.

#include "validate/checked_table.hpp"

#include <cstdio>

namespace contend {

/// Runs the suite and prints its tables and verdicts. Returns a SuiteVerdict.
int validate_beyond(std::FILE* out);

/// Epochs of training under power limits, as Zeus measured them on a V100.
[[nodiscard]] CheckedTable beyond_zeus();
/// The bandwidths that rounds of local steps need, as Streaming DiLoCo's table has them.
[[nodiscard]] CheckedTable beyond_bandwidth();
/// The shares of computing behind that table at two bandwidths.
[[nodiscard]] CheckedTable beyond_utilisation();
/// Closing rules of federated training by closed forms.
[[nodiscard]] CheckedTable federated_closing_rules();
/// When FedCompass makes versions, Parrot's packing by hand, and what methods send in a round.
[[nodiscard]] CheckedTable federated_compass();
[[nodiscard]] CheckedTable federated_packing();
[[nodiscard]] CheckedTable federated_volumes();
/// Clients without a server: DADAO's clocks, gossip on graphs; and rounds that send the whole model by chance.
[[nodiscard]] CheckedTable federated_clocks();
[[nodiscard]] CheckedTable federated_gossip();
[[nodiscard]] CheckedTable federated_whole_by_chance();
/// Services that training waits for: exchanges over a store, cold starts, storage, aggregators.
[[nodiscard]] CheckedTable services_exchange();
[[nodiscard]] CheckedTable services_starts();
[[nodiscard]] CheckedTable services_storage();
[[nodiscard]] CheckedTable services_aggregators();
/// Random cases against plain loops.
[[nodiscard]] CheckedTable federated_random_cases();

}  // namespace contend
