#include "calibration/collective_sample.hpp"

#include "network/library/nccl_model.hpp"

#include <algorithm>
#include <array>

namespace contend {
namespace {

struct Row {
  TimedExchange exchange;
  std::string_view name;
  std::optional<CollectiveKind> collective;
};

constexpr std::array<Row, 7> kExchanges = {{
    {TimedExchange::all_reduce, "all-reduce", CollectiveKind::all_reduce},
    {TimedExchange::reduce_scatter, "reduce-scatter", CollectiveKind::reduce_scatter},
    {TimedExchange::all_gather, "all-gather", CollectiveKind::all_gather},
    {TimedExchange::all_to_all, "all-to-all", CollectiveKind::all_to_all},
    {TimedExchange::broadcast, "broadcast", CollectiveKind::broadcast},
    {TimedExchange::reduce, "reduce", CollectiveKind::reduce},
    {TimedExchange::message, "message", std::nullopt},
}};

const Row& row_of(TimedExchange exchange) {
  return kExchanges[static_cast<std::size_t>(exchange)];
}

}  // namespace

std::string_view to_string(TimedExchange exchange) {
  return row_of(exchange).name;
}

std::span<const TimedExchange> timed_exchanges() {
  static constexpr auto kAll = [] {
    std::array<TimedExchange, kExchanges.size()> all{};
    for (std::size_t i = 0; i < kExchanges.size(); ++i) all[i] = kExchanges[i].exchange;
    return all;
  }();
  return kAll;
}

std::optional<TimedExchange> timed_exchange_named(std::string_view name) {
  const auto* const row =
      std::find_if(kExchanges.begin(), kExchanges.end(), [&](const Row& each) { return each.name == name; });
  return row == kExchanges.end() ? std::nullopt : std::optional{row->exchange};
}

std::optional<CollectiveKind> collective_of(TimedExchange exchange) {
  return row_of(exchange).collective;
}

double bus_factor(TimedExchange exchange, int ranks) {
  const std::optional<CollectiveKind> kind = collective_of(exchange);
  return kind ? bus_factor(*kind, ranks) : 1;
}

}  // namespace contend
