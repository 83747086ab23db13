#include "network/endless_transfer.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

/// The servers of the GPUs of the request in words, the first few of them by number.
std::string servers_of(const TransferRequest& request, const Topology& topology) {
  constexpr std::size_t kNamed = 4;
  std::vector<ServerId> servers;
  for (const auto& gpus : {request.gpus, request.peers})
    for (const GpuId gpu : gpus) servers.push_back(topology.nodes()[topology.gpus()[gpu.index()].index()].server);
  std::ranges::sort(servers);
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
  if (servers.size() == 1) return fmt::format("inside server {}", servers.front().value());
  std::string text = "between servers ";
  for (std::size_t i = 0; i < std::min(servers.size(), kNamed); ++i) {
    if (i > 0) text += i + 1 == servers.size() ? " and " : ", ";
    text += fmt::format("{}", servers[i].value());
  }
  if (servers.size() > kNamed) text += fmt::format(" and {} more", servers.size() - kNamed);
  return text;
}

}  // namespace

void refuse_endless(const EndlessTransfer& transfer, const TransferRequest& request, const Topology& topology) {
  constexpr double kSecondsPerYear = 365.25 * 86'400;
  const std::string limit =
      transfer.link.valid() ? fmt::format(", all that link {} gives it", topology.link_name(transfer.link)) : "";
  throw InputError{Complaint{
      .reason = fmt::format("job \"{}\": a transfer {} has {:.6g} bytes to send at {:.6g} bytes/s{}, which would take "
                            "{:.4g} years; the simulator counts 292 years",
                            transfer.job, servers_of(request, topology), transfer.bytes, transfer.rate, limit,
                            transfer.bytes / transfer.rate / kSecondsPerYear),
      .hint = "give the links of the network their real bandwidth, such as 10Gbps, and links that are slow for a while "
              "a larger part of it, or let the job send less"}};
}

}  // namespace contend
