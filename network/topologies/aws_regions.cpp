#include "network/topologies/wan.hpp"

#include "sim/fields.hpp"

namespace contend {

WanMatrix aws_regions() {
  WanMatrix matrix;
  const std::vector<TextEntry> receivers = read_entries(aws_regions_text());
  for (std::size_t from = 0; from < receivers.size(); ++from) {
    matrix.sites.emplace_back(receivers[from].name);
    for (const TextEntry& to : receivers) {
      matrix.bandwidth.emplace_back(to.numbers("bandwidths").at(from) * 1e6 / 8);
      // The latency of one way is half of the round trip.
      matrix.latency.push_back(Time::microseconds(static_cast<std::int64_t>(to.numbers("round_trips").at(from) * 500)));
    }
  }
  return matrix;
}

}  // namespace contend
