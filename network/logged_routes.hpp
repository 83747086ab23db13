#pragma once
// LoggedRoutes gives the requests of jobs on interfaces the numbers of their routes in a TransferLog.

#include "network/alpha_beta.hpp"
#include "sim/transfer_log.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace contend {

class LoggedRoutes {
 public:
  /// The number of a request of this cost; with `contention` its cost grows with others on its interfaces. A route that
  /// isn't known is written into the log.
  [[nodiscard]] std::size_t number(const TransferRequest& request, const TransferCost& cost, bool contention,
                                   TransferLog& log) {
    const Key key = key_of(request, cost);
    std::vector<Known>& all = known_[hash_of(key)];
    for (const Known& each : all)
      if (each.key == key && (request.same_ranks != 0 || is_alike(each, request))) return each.number;
    all.push_back({key, log.route(route_of(request, cost, contention)), {}, {}});
    if (request.same_ranks == 0) {
      all.back().gpus.assign(request.gpus.begin(), request.gpus.end());
      all.back().servers.assign(request.servers.begin(), request.servers.end());
    }
    return all.back().number;
  }

 private:
  /// What tells requests apart beside their ranks, which have a number or are compared.
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::int64_t, int, std::int64_t, double, double, TransferLane>;
  struct Known {
    Key key;
    std::size_t number = 0;
    std::vector<GpuId> gpus;  // unless the ranks have a number
    std::vector<ServerId> servers;
  };

  static Key key_of(const TransferRequest& request, const TransferCost& cost) {
    return {request.job.value(), request.same_ranks,      request.bytes.count(),  request.times,
            cost.alpha.ns(),     cost.beta.ns_per_byte(), cost.eta.ns_per_byte(), cost.lane};
  }
  static std::uint64_t hash_of(const Key& key) {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 by the golden ratio
    std::uint64_t hash = std::get<0>(key);
    hash = (hash ^ std::get<1>(key)) * kOdd;
    hash = (hash ^ static_cast<std::uint64_t>(std::get<2>(key))) * kOdd;
    return hash ^ (hash >> 32);
  }
  static bool is_alike(const Known& each, const TransferRequest& request) {
    return std::equal(each.gpus.begin(), each.gpus.end(), request.gpus.begin(), request.gpus.end()) &&
           std::equal(each.servers.begin(), each.servers.end(), request.servers.begin(), request.servers.end());
  }
  static LoggedRoute route_of(const TransferRequest& request, const TransferCost& cost, bool contention) {
    LoggedRoute route;
    route.job = request.job;
    route.lane = cost.lane == TransferLane::inside ? LoggedRoute::Lane::inside
                 : cost.lane == TransferLane::pull ? LoggedRoute::Lane::pulls
                                                   : LoggedRoute::Lane::interfaces;
    route.start_up = cost.alpha * request.times;
    route.bytes = route.message = request.all_bytes().to_double();
    if (const double beta = cost.beta.ns_per_byte(); beta > 0) {
      route.alone = 1e9 / beta;
      route.penalty = contention ? cost.eta.ns_per_byte() / beta : -1;
    }
    if (!request.gpus.empty()) route.among = request.gpus.front();
    if (route.lane != LoggedRoute::Lane::inside) route.servers.assign(request.servers.begin(), request.servers.end());
    return route;
  }

  std::unordered_map<std::uint64_t, std::vector<Known>> known_;
};

}  // namespace contend
