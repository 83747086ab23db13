#include "validate/beyond/beyond_suite.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

int validate_beyond(std::FILE* out) {
  fmt::print(out,
             "beyond: what training draws under power limits, what rounds of local steps need of a network, rounds of "
             "federated training, and services that training waits for\n\n");
  std::vector<CheckedTable> tables{
      beyond_zeus(),       beyond_bandwidth(),  beyond_utilisation(),        federated_closing_rules(),
      federated_compass(), federated_packing(), federated_volumes(),         federated_random_cases(),
      federated_clocks(),  federated_gossip(),  federated_whole_by_chance(), services_exchange(),
      services_starts(),   services_storage(),  services_aggregators()};
  return report_tables(out, "beyond", "docs/validation/beyond.md", std::move(tables), known_reasons("beyond"));
}

}  // namespace contend
