#pragma once
// Drives a network model by hand: starts transfers between servers and collects their ends in order.

#include "network/alpha_beta.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace contend::test {

/// alpha and tick in ns, beta and eta in ns per byte.
inline AlphaBeta cost(std::int64_t alpha, double beta, double eta, std::int64_t tick = 0) {
  return {Time::nanoseconds(alpha), TimePerByte{beta}, TimePerByte{eta}, Time::nanoseconds(tick)};
}

class Driver {
 public:
  Driver(const AlphaBeta& cost, bool contention, std::size_t servers, std::size_t jobs)
      : network{contention ? make_contention_network(cost, servers, jobs)
                           : make_analytic_network(cost, servers, jobs)} {}

  static TransferRequest request(std::uint32_t job, std::int64_t bytes, const std::vector<ServerId>& servers) {
    TransferRequest result;
    result.job = JobId{job};
    result.bytes = Bytes{bytes};
    result.ranks = static_cast<int>(servers.size());
    result.servers = servers;
    return result;
  }
  static std::vector<ServerId> ids(std::vector<std::uint32_t> servers) {
    std::vector<ServerId> result;
    for (const std::uint32_t server : servers) result.emplace_back(server);
    return result;
  }

  TransferId start(std::uint32_t job, std::int64_t bytes, std::vector<std::uint32_t> servers, std::int64_t now) {
    const std::vector<ServerId> touched = ids(std::move(servers));
    return network->start(request(job, bytes, touched), Time::nanoseconds(now));
  }
  [[nodiscard]] std::int64_t next() const { return network->next_end().ns(); }
  std::vector<TransferId> finish(std::int64_t now) {
    std::vector<TransferId> ended;
    network->finish_due(Time::nanoseconds(now), ended);
    return ended;
  }
  [[nodiscard]] double left(std::uint32_t server, std::size_t index, std::int64_t now) const {
    network->set_now(Time::nanoseconds(now));
    std::vector<ActiveTransfer> active;
    network->active(ServerId{server}, active);
    return active.at(index).remaining_bytes;
  }
  [[nodiscard]] NetworkModel::Usage server(std::uint32_t id, std::int64_t now) const {
    return network->server_usage(ServerId{id}, Time::nanoseconds(now));
  }
  [[nodiscard]] NetworkModel::Usage job(std::uint32_t id, std::int64_t now) const {
    return network->job_usage(JobId{id}, Time::nanoseconds(now));
  }

  std::unique_ptr<NetworkModel> network;
};

}  // namespace contend::test
