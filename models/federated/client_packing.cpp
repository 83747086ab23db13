#include "models/federated/client_packing.hpp"

#include <algorithm>
#include <numeric>

namespace contend {

Time PackedClients::makespan() const {
  return *std::ranges::max_element(busy);
}

PackedClients pack_clients(std::span<const std::int64_t> steps, std::span<const PackingDevice> devices) {
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t client) { return steps[client]; });
  PackedClients packing{.device_of = std::vector<std::size_t>(steps.size()), .busy = std::vector<Time>(devices.size())};
  Time makespan;
  for (const std::size_t client : order) {
    std::size_t best = 0;
    Time least = Time::never();
    for (std::size_t d = 0; d < devices.size(); ++d) {
      const Time then = std::max(makespan, packing.busy[d] + devices[d].time_of(steps[client]));
      if (then >= least) continue;
      least = then;
      best = d;
    }
    packing.device_of[client] = best;
    packing.busy[best] += devices[best].time_of(steps[client]);
    makespan = least;
  }
  return packing;
}

}  // namespace contend
