// The table of costs: every way in which jobs exchange gradients has its row.

#include "scenarios/run/network_costs.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr const char* kSitesOfCosts =
    "from,to,latency_ms,mbps\n"
    "a,b,5,100\nb,a,5,200\nb,c,10,400\nc,b,10,300\na,c,20,50\nc,a,20,80\n";

TransferRequest cost_request(JobId job, CollectiveKind kind, const std::vector<GpuId>& gpus) {
  TransferRequest request;
  request.job = job;
  request.collective = kind;
  request.bytes = Bytes{1'000'000};
  request.gpus = gpus;
  return request;
}

}  // namespace

TEST_CASE("costs: parameter servers are a row beside the formula of the network") {
  // A byte takes 1 ns on an interface.
  const Scenario scenario = parsed("network: {nic: 8Gbps, alpha: 10us}\ncluster: {servers: 4}\n");
  const CostTable costs{scenario.network};
  const JobExchange served{.served = true, .servers = 2};
  CHECK(cost_formula(scenario.network).name == "ring");
  CHECK(cost_formula(scenario.network, served).basis == CostBasis::servers);
  // Each of two servers receives half a gradient from each of four workers.
  const ExchangeCost cost = costs.of({4, 4, 1}, served);
  CHECK(cost.of(CollectiveKind::reduce).beta.ns_per_byte() == 2);
  CHECK(cost.of(CollectiveKind::reduce).alpha == Time::microseconds(10));
  CHECK(costs.of({4, 4, 1}).of(CollectiveKind::all_reduce).beta.ns_per_byte() == 1.5);  // 2 (n - 1) / n
  // As many servers as workers, if their number is not given.
  CHECK(costs.of({4, 4, 1}, {.served = true}).of(CollectiveKind::reduce).beta.ns_per_byte() == 1);
}

TEST_CASE("costs: the jobs of a run take the rows by which they exchange") {
  const Scenario scenario = parsed("network: {nic: 8Gbps}\ncluster: {servers: 4, gpus_per_server: 1}\n");
  const JobExchange usual, two{.served = true, .servers = 2}, one{.served = true, .servers = 1};
  const AlphaBeta costs = transfer_costs(scenario.cluster, scenario.network, 1, {usual, two, usual, one});
  const std::vector<GpuId> gpus{GpuId{0U}, GpuId{1U}, GpuId{2U}, GpuId{3U}};
  const auto beta = [&](unsigned job, CollectiveKind kind) {
    return costs.each(cost_request(JobId{job}, kind, gpus)).beta.ns_per_byte();
  };
  for (int again = 0; again < 2; ++again) {
    CHECK(beta(0, CollectiveKind::all_reduce) == 1.5);
    CHECK(beta(1, CollectiveKind::reduce) == 2);
    CHECK(beta(2, CollectiveKind::all_reduce) == 1.5);
    CHECK(beta(3, CollectiveKind::reduce) == 4);
  }
}

TEST_CASE("costs: links between sites are a row, for jobs and for groups of their ranks") {
  const TemporaryFolder folder;
  const std::string file = folder.path("links.csv");
  write_file(file, kSitesOfCosts);
  const Scenario scenario = parsed("network: {sites: " + file + "}\n");
  CHECK(cost_formula(scenario.network).basis == CostBasis::sites);
  JobShape shape{2, 2, 1};
  shape.sites = {0, 2};
  // Both halves of a megabyte go over the slower direction, 50 Mbit/s, and the latency of the last one remains.
  const Bytes megabyte{1'000'000};
  constexpr double kFromAToC = 0.020 + 8.0 / 50, kFromAToB = 0.005 + 8.0 / 100;
  const ExchangeCost cost = CostTable{scenario.network}.of(shape);
  CHECK(cost.sized(megabyte, CollectiveKind::all_reduce).of(megabyte).to_seconds() == near(kFromAToC));

  const AlphaBeta costs = transfer_costs(scenario.cluster, scenario.network, 1);
  const auto seconds = [&](const TransferRequest& request) {
    const TransferCost each = costs.each(request);
    return LinearCost{each.alpha, each.beta}.of(megabyte).to_seconds();
  };
  const std::vector<GpuId> two{GpuId{0U}, GpuId{2U}}, all{GpuId{0U}, GpuId{2U}, GpuId{1U}, GpuId{0U}};
  CHECK(seconds(cost_request(JobId{0U}, CollectiveKind::all_reduce, two)) == near(kFromAToC));
  // Of two groups, the slower one counts; a group of one rank sends nothing.
  TransferRequest request = cost_request(JobId{0U}, CollectiveKind::all_reduce, all);
  request.scope = CollectiveScope::groups;
  request.groups = {1, 2};
  CHECK(seconds(request) == near(kFromAToC));
  request.gpus = std::span{all}.subspan(2);
  CHECK(seconds(request) == near(kFromAToB));
  request.groups = {1, 1};
  CHECK(seconds(request) == 0);
  // Joint messages take as long as the slowest of their links, from a to c here.
  TransferRequest message = cost_request(JobId{0U}, CollectiveKind::all_reduce, {});
  message.kind = OpKind::message;
  const std::vector<GpuId> senders{GpuId{0U}, GpuId{1U}}, receivers{GpuId{2U}, GpuId{0U}};
  message.gpus = senders;
  message.peers = receivers;
  CHECK(seconds(message) == near(kFromAToC));
}
