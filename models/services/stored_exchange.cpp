#include "models/services/stored_exchange.hpp"

#include <optional>

namespace contend {
namespace {

/// So many requests, each of a part of the bytes.
LinearCost requests(const ChannelCost& store, int count, double part) {
  return {store.alpha * count, TimePerByte{store.beta.ns_per_byte() * count * part}};
}

}  // namespace

ExchangeCost stored_exchange(int workers, const ChannelCost& store, Time poll, bool scatters) {
  const int w = workers;
  if (w == 1) return {};
  return ExchangeCost::ring(w, store).with_lines(
      [&](CollectiveKind kind, CollectiveScope) -> std::optional<LinearCost> {
        switch (kind) {
          case CollectiveKind::all_reduce: {
            if (scatters) return requests(store, 3 * w - 2, 1.0 / w);
            LinearCost cost = requests(store, w + 3, 1);
            cost.alpha += poll;
            return cost;
          }
          case CollectiveKind::reduce_scatter:
            return requests(store, 2 * (w - 1), 1.0 / w);
          case CollectiveKind::all_gather:
            return requests(store, w, 1.0 / w);
          case CollectiveKind::broadcast:
            return requests(store, 2, 1);
          case CollectiveKind::reduce:
            return requests(store, w + 1, 1);
          default:
            return std::nullopt;
        }
      });
}

}  // namespace contend
