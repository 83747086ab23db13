// Tests the fidelity `flow` on jobs: against cases worked by hand, and against k-way contention where both are exact.

#include "network/flow_network.hpp"

#include "network/alpha_beta.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/network/flow_kit.hpp"
#include "tests/network/network_kit.hpp"
#include "tests/sim/test_kit.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

constexpr const char* kExchangeOf100 = "role w 2 | compute f w 10 | all-reduce g w 100 | f -> g | g => f";

/// Returns the run with leaping, if asked for, which has to give what the run event by event gives.
RunResult run_flow(const TopologySpec& spec, const Setup& setup, const std::vector<TestJob>& jobs,
                   FlowNetworkOptions options = ring_options(), bool returns_leaping = false) {
  const auto once = [&](bool leap) {
    auto topology = std::make_unique<Topology>(
        build_topology(spec, static_cast<std::size_t>(setup.servers), static_cast<std::size_t>(setup.gpus_per_server)));
    auto router = make_shortest_path_router(*topology);
    SimulationOptions run;
    run.leap = leap;
    Simulation simulation{{setup.servers, setup.gpus_per_server, Bytes{setup.gpu_memory}},
                          workload_of(jobs),
                          policies_of(setup, jobs),
                          make_flow_network(std::move(topology), std::move(router), options, jobs.size()),
                          std::move(run)};
    return simulation.run();
  };
  RunResult slow = once(false), fast = once(true);
  CHECK(difference(slow, fast) == "");
  return returns_leaping ? std::move(fast) : std::move(slow);
}

double carried(const RunResult& run, const std::string& link) {
  for (const FabricLinkResult& each : run.fabric.links) {
    if (each.name == link) return each.bytes;
  }
  FAIL("no link ", link);
  return 0;
}

LinkId link_named(const TopologySpec& spec, std::size_t servers, std::size_t gpus, const std::string& name) {
  const Topology topology = build_topology(spec, servers, gpus);
  for (std::size_t l = 0; l < topology.links().size(); ++l) {
    if (topology.link_name(LinkId{l}) == name) return LinkId{l};
  }
  FAIL("no link ", name);
  return LinkId::none();
}

}  // namespace

TEST_CASE("a ring sends 2 (n-1)/n of the tensor over each NIC, whatever the GPUs of a server") {
  const TopologySpec one_switch = plain_fabric(spec("single-switch"));
  // Two ranks: 2 x 1/2 x 100 bytes at 1 byte/ns.
  RunResult run = run_flow(one_switch, {2, 2}, {{kExchangeOf100, {0, 2}, 3}});
  CHECK(run.jobs[0].finish.ns() == 3 * 110);
  CHECK(run.jobs[0].contended.ns() == 0);
  CHECK(carried(run, "server0/nic0->switch0") == near(300));
  // Four ranks on two servers: 2 x 3/4 x 100 bytes out of each server and into it.
  run = run_flow(one_switch, {2, 2},
                 {{"role w 4 | compute f w 10 | all-reduce g w 100 | f -> g | g => f", {0, 1, 2, 3}}});
  CHECK(run.jobs[0].finish.ns() == 160);
  CHECK(carried(run, "switch0->server1/nic0") == near(150));
}

TEST_CASE("a job leaps over its iterations while it has the links of its flows to itself") {
  // Two spines, so that the jobs of a leaf share its switch but no cable.
  const TopologySpec made = plain_fabric(leaf_spine(2, 1));
  FlowNetworkOptions options = ring_options();
  options.link_interval = Time::nanoseconds(1000);
  const RunResult apart =
      run_flow(made, {4, 1}, {{kExchangeOf100, {0, 1}, 20'000}, {kExchangeOf100, {2, 3}, 10'000}}, options, true);
  CHECK(apart.jobs[0].finish.ns() == 20'000 * 110);
  CHECK(apart.jobs[1].finish.ns() == 10'000 * 110);
  CHECK(apart.events < 200);
  CHECK(apart.events + apart.leapt_events == 30'000 * 3 + 2);  // two tasks and an all-reduce each, and two arrivals
  CHECK(carried(apart, "server0/nic0->leaf0") == near(20'000 * 100.0));
  // Both cross the cable between a leaf and the spine: nothing is leapt over while both run.
  const RunResult meet =
      run_flow(made, {4, 1}, {{kExchangeOf100, {0, 2}, 20'000}, {kExchangeOf100, {1, 3}, 10'000}}, options, true);
  CHECK(meet.events > 10'000 * 6);
  CHECK(meet.events < 10'000 * 6 + 1000);  // the longer one leaps when it is alone
  // A second job comes to the cable while the first one would leap, and goes again.
  const RunResult comes = run_flow(
      made, {4, 1}, {{kExchangeOf100, {0, 2}, 20'000}, {kExchangeOf100, {1, 3}, 100, 1'000'000}}, options, true);
  CHECK(comes.jobs[0].contended.ns() > 0);
  CHECK(comes.events < 1500);
}

TEST_CASE("jobs inside one server leap by themselves, though their servers are the same") {
  TopologySpec made = plain_fabric(spec("single-switch"));
  made.server.kind = "nvswitch";
  made.server.nvlink_bandwidth = ByteRate{kByteANanosecond};
  made.server.nvlinks_per_gpu = 1;
  made.server.pcie_bandwidth = ByteRate{kByteANanosecond / 10};
  // Their periods have no small common multiple.
  const std::vector<TestJob> jobs{
      {"role w 2 | compute f w 1009 | all-reduce g w 100 | f -> g | g => f", {0, 1}, 50'000},
      {"role w 2 | compute f w 997 | all-reduce g w 300 | f -> g | g => f", {2, 3}, 50'000}};
  const RunResult run = run_flow(made, {1, 4}, jobs, ring_options(), true);
  CHECK(run.events < 200);
  CHECK(run.jobs[0].finish.ns() == 50'000 * 1109);
  CHECK(run.jobs[1].finish.ns() == 50'000 * 1297);
}

TEST_CASE("k-way contention on NICs is the same at fidelities contention and flow") {
  // beta 1, eta 0.5: two at once take 2.5 ns a byte. Against alpha_beta over jobs that join and leave.
  const std::vector<TestJob> jobs{{kExchangeOf100, {0, 3}, 20},
                                  {kExchangeOf100, {1, 4}, 13, 45},
                                  {"role w 2 | compute f w 25 | all-reduce g w 333 | f -> g | g => f", {2, 5}, 7, 200}};
  FlowNetworkOptions options = ring_options();
  options.nic_penalty = 0.5;
  const RunResult flow = run_flow(plain_fabric(spec("single-switch")), {2, 3}, jobs, options);
  Simulation simulation{{2, 3, Bytes{1 << 20}},
                        workload_of(jobs),
                        policies_of({2, 3}, jobs),
                        make_contention_network(cost(0, 1, 0.5), 2, jobs.size()),
                        {}};
  const RunResult contention = simulation.run();
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    // Each re-evaluation rounds up once.
    CHECK(std::abs((flow.jobs[j].finish - contention.jobs[j].finish).ns()) <= 20);
    CHECK(std::abs((flow.jobs[j].contended - contention.jobs[j].contended).ns()) <= 20);
    CHECK(flow.jobs[j].contended.ns() > 1000);
  }
}

TEST_CASE("a communication policy sees how many bytes of a transfer are left, at any instant of it") {
  const TopologySpec made = plain_fabric(spec("single-switch"));
  auto topology = std::make_unique<Topology>(build_topology(made, 3, 1));
  auto router = make_shortest_path_router(*topology);
  const auto network = make_flow_network(std::move(topology), std::move(router), ring_options(), 1);
  const std::vector<ServerId> servers{ServerId{0U}, ServerId{1U}};
  const std::vector<GpuId> gpus{GpuId{0U}, GpuId{1U}};
  TransferRequest request;
  request.job = JobId{0U};
  request.bytes = Bytes{100};
  request.ranks = 2;
  request.servers = servers;
  request.gpus = gpus;
  network->start(request, Time::nanoseconds(10));
  std::vector<TransferId> ended;
  for (const std::int64_t at : {10, 11, 40, 60, 95, 110}) {
    CAPTURE(at);
    while (network->next_end() <= Time::nanoseconds(at)) network->finish_due(network->next_end(), ended);
    network->set_now(Time::nanoseconds(at));
    std::vector<ActiveTransfer> active;
    network->active(ServerId{1U}, active);
    REQUIRE(active.size() == (at < 110 ? 1 : 0));
    if (at < 110) CHECK(active.front().remaining_bytes == near(static_cast<double>(110 - at)));
    CHECK(network->active_count(ServerId{1U}) == active.size());
    CHECK(network->active_count(ServerId{2U}) == 0);
  }
  CHECK(ended.size() == 1);
}

TEST_CASE("an oversubscribed core slows jobs that share no server") {
  // Two leaves of two servers, one spine link of 1 byte/ns each way. Jobs 0-2 and 1-3 cross it together: 200 ns.
  TopologySpec two_leaves = plain_fabric(leaf_spine(2, 1));
  const std::vector<TestJob> jobs{{kExchangeOf100, {0, 2}}, {kExchangeOf100, {1, 3}}};
  const RunResult run = run_flow(two_leaves, {4, 1}, jobs);
  CHECK(run.jobs[0].finish.ns() == 210);
  CHECK(run.jobs[1].finish.ns() == 210);
  CHECK(run.jobs[0].contended.ns() == 200);
  CHECK(run.links[0].contended.ns() == 0);  // no server has two transfers
  // Within a leaf nothing is shared.
  const RunResult inside = run_flow(two_leaves, {4, 1}, {{kExchangeOf100, {0, 1}}, {kExchangeOf100, {2, 3}}});
  CHECK(inside.jobs[1].finish.ns() == 110);
  // Who used the spine link.
  const auto link = std::ranges::find(run.fabric.links, "leaf0->spine0", &FabricLinkResult::name);
  REQUIRE(link != run.fabric.links.end());
  REQUIRE(link->users.size() == 2);
  CHECK(link->users[1].job == JobId{1U});
  CHECK(link->users[1].bytes == near(100));
  CHECK(link->busy.ns() == 200);
}

TEST_CASE("alpha is paid once, latency at every step") {
  // Four steps of a ring over three ranks: alpha 1000, four times the latency of server-switch-server (2 cables of 7
  // ns), and 2 x 2/3 x 300 bytes.
  TopologySpec slow_cables = plain_fabric(spec("single-switch"));
  slow_cables.fabric.link_latency = Time::nanoseconds(7);
  FlowNetworkOptions options = ring_options();
  options.alpha = Time::nanoseconds(1000);
  const RunResult run =
      run_flow(slow_cables, {3, 1}, {{"role w 3 | compute f w 10 | all-reduce g w 300 | f -> g", {0, 1, 2}}}, options);
  CHECK(run.jobs[0].finish.ns() == 10 + 1000 + 4 * 2 * 7 + 400);
}

TEST_CASE("a transfer inside a server uses NVLink") {
  // Eight ranks through NVSwitch at 4 bytes/ns: 2 x 7/8 x 800 bytes take 350 ns; nothing leaves the server.
  TopologySpec inside = plain_fabric(with_server(spec("single-switch"), "nvswitch"));
  inside.server.nvlinks_per_gpu = 1;
  inside.server.nvlink_bandwidth = ByteRate{4 * kByteANanosecond};
  const RunResult run = run_flow(
      inside, {1, 8}, {{"role w 8 | compute f w 10 | all-reduce g w 800 | f -> g", {0, 1, 2, 3, 4, 5, 6, 7}, 1}});
  CHECK(run.jobs[0].finish.ns() == 360);
}

TEST_CASE("a flow whose link fails takes another route, or stalls until the link is back") {
  // Two spines; the shortest path takes spine0. At 60 of 10..110 its uplink fails: 50 bytes go on by spine1.
  const TopologySpec two_spines = plain_fabric(leaf_spine(1, 2));
  FlowNetworkOptions options = ring_options();
  options.events = {{Time::nanoseconds(60), link_named(two_spines, 2, 1, "leaf0->spine0"), 0}};
  const RunResult moved = run_flow(two_spines, {2, 1}, {{kExchangeOf100, {0, 1}}}, options);
  CHECK(moved.jobs[0].finish.ns() == 110);
  CHECK(carried(moved, "leaf0->spine0") == near(50));
  CHECK(carried(moved, "leaf0->spine1") == near(50));

  // A link that is down all the time could carry nothing: it is used to 0%.
  options.events.front().time = Time{};
  const RunResult around = run_flow(two_spines, {2, 1}, {{kExchangeOf100, {0, 1}}}, options);
  const auto down = std::find_if(around.fabric.links.begin(), around.fabric.links.end(),
                                 [](const FabricLinkResult& link) { return link.name == "leaf0->spine0"; });
  REQUIRE(down != around.fabric.links.end());
  CHECK(down->utilisation == 0);

  // One spine: it stalls from 60 to 200, and goes on.
  const TopologySpec one_spine = plain_fabric(leaf_spine(1, 1));
  const LinkId only = link_named(one_spine, 2, 1, "leaf0->spine0");
  options.events = {{Time::nanoseconds(60), only, 0}, {Time::nanoseconds(200), only, 1}};
  CHECK(run_flow(one_spine, {2, 1}, {{kExchangeOf100, {0, 1}}}, options).jobs[0].finish.ns() == 250);

  // It never comes back: the job stays unfinished.
  options.events.pop_back();
  const RunResult lost = run_flow(one_spine, {2, 1}, {{kExchangeOf100, {0, 1}}}, options);
  CHECK(lost.jobs[0].state == JobState::running);
  CHECK(carried(lost, "leaf0->spine0") == near(50));

  // Down before anything is sent, and back at 300.
  options.events = {{Time{}, only, 0}, {Time::nanoseconds(300), only, 1}};
  CHECK(run_flow(one_spine, {2, 1}, {{kExchangeOf100, {0, 1}}}, options).jobs[0].finish.ns() == 400);
}

TEST_CASE("a transfer that would take longer than the clock counts is refused, unless its link may come back") {
  // At 60 of 10..110 a link on its way keeps a billionth of a billionth of its bandwidth: 50 bytes at 1e-9 bytes/s take
  // 5e10 s, which are 1584 years. Another link, which nobody uses, fails and comes back for ever.
  const TopologySpec one_spine = plain_fabric(leaf_spine(1, 1));
  const LinkId only = link_named(one_spine, 3, 1, "leaf0->spine0");
  const DurationLaw often = DurationLaw::constant(Time::seconds(1'000'000'000));
  FlowNetworkOptions options = ring_options();
  options.job_name = [](JobId) { return "slow"; };
  options.failing = {{"idle", {link_named(one_spine, 3, 1, "leaf2->spine0")}, often, often, 0}};
  const auto refusal = [&](std::vector<LinkEvent> events) -> std::string {
    options.events = std::move(events);
    try {
      const RunResult run = run_flow(one_spine, {3, 1}, {{kExchangeOf100, {0, 1}}}, options);
      CHECK(run.jobs[0].finish.ns() == 250);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  const std::string late = refusal({{Time::nanoseconds(60), only, 1e-18}});
  CHECK(contains(late,
                 "job \"slow\": a transfer between servers 0 and 1 has 50 bytes to send at 1e-09 bytes/s, all that "
                 "link leaf0->spine0 gives it, which would take 1584 years; the simulator counts 292 years"));
  CHECK(contains(late, "such as 10Gbps"));
  CHECK(contains(refusal({{Time{}, only, 1e-18}}), "has 100 bytes to send at 1e-09 bytes/s"));
  CHECK(refusal({{Time::nanoseconds(60), only, 1e-18}, {Time::nanoseconds(200), only, 1}}) == "");
}

TEST_CASE("a monitor stops a run at once, and takes jobs back that have leapt ahead") {
  // A computes alone and leaps to its end, 10 s ahead. D has its links to itself and leaps, too. B and C share links
  // and are executed event by event, 10 ns and more of simulated time for each event.
  constexpr std::int64_t kIterations = 1'000'000'000;
  const std::vector<TestJob> jobs{{"role w 1 | compute x w 10", {0}, kIterations},
                                  {kExchangeOf100, {2, 4}, kIterations},
                                  {kExchangeOf100, {3, 5}, kIterations},
                                  {kExchangeOf100, {6, 8}, kIterations}};
  for (const Time interval : {Time{}, Time::nanoseconds(10'000)}) {
    auto topology = std::make_unique<Topology>(build_topology(plain_fabric(leaf_spine(1, 1)), 5, 2));
    auto router = make_shortest_path_router(*topology);
    FlowNetworkOptions options = ring_options();
    options.link_interval = interval;
    SimulationOptions hooks;
    Progress last;
    int asked = 0;
    hooks.monitor = [&](const Progress& progress) {
      last = progress;
      return ++asked < 3;
    };
    Simulation simulation{{5, 2, Bytes{100}},
                          workload_of(jobs),
                          policies_of({5, 2}, jobs),
                          make_flow_network(std::move(topology), std::move(router), options, jobs.size()),
                          std::move(hooks)};
    const RunResult result = simulation.run();
    CHECK(asked == 3);
    CHECK(result.interrupted);
    CHECK(result.end == last.now);
    CHECK(result.leaps > 0);
    const auto close = [&](std::size_t job, std::int64_t iteration_ns) {
      const std::int64_t time = result.jobs[job].iterations_done * iteration_ns;
      return time <= result.end.ns() && time > result.end.ns() - 10 * iteration_ns;
    };
    CHECK(close(0, 10));
    CHECK(close(3, 110));
    for (const GpuResult& gpu : result.gpus) CHECK(gpu.busy <= result.end);
    const double sent = carried(result, "server3/nic0->leaf3");
    CHECK(sent == near_absolute(100.0 * static_cast<double>(result.jobs[3].iterations_done), 200));
    CHECK(result.fabric.samples.empty() == (interval == Time{}));
    for (const LinkSample& each : result.fabric.samples) {
      CHECK(each.utilisation > -1e-9);
      CHECK(each.utilisation < 1 + 1e-9);
    }
  }
}

TEST_CASE("a bandwidth trace: half speed between 40 and 60") {
  // 30 bytes by 40, 10 by 60, the other 60 until 120.
  const TopologySpec one_switch = plain_fabric(spec("single-switch"));
  const LinkId nic = link_named(one_switch, 2, 1, "server0/nic0->switch0");
  FlowNetworkOptions options = ring_options();
  options.events = {{Time::nanoseconds(40), nic, 0.5}, {Time::nanoseconds(60), nic, 1}};
  options.link_interval = Time::nanoseconds(50);
  const RunResult run = run_flow(one_switch, {2, 1}, {{kExchangeOf100, {0, 1}}}, options);
  CHECK(run.jobs[0].finish.ns() == 120);
  CHECK(run.jobs[0].contended.ns() == 0);  // there was no other transfer
  // 0-50: 30 + 5 of 40 + 5 bytes; 50-100: 5 + 40 of 5 + 40; 100-120: 20 of 20.
  std::vector<double> utilisation;
  for (const LinkSample& sample : run.fabric.samples) {
    if (sample.link == nic.index()) utilisation.push_back(sample.utilisation);
  }
  REQUIRE(utilisation.size() == 3);
  CHECK(utilisation[0] == near(35.0 / 45));
  CHECK(utilisation[1] == near(1.0));
  CHECK(utilisation[2] == near(1.0));
}

TEST_CASE("the figures of a busy fabric: links that fail and slow down, efficiencies, samples") {
  // What decides them is tested one by one above; whoever changes the model on purpose changes these figures.
  TopologySpec made = plain_fabric(leaf_spine(3, 2));
  made.fabric.link_latency = Time::nanoseconds(7);
  std::vector<TestJob> jobs;
  for (std::uint32_t j = 0; j < 12; ++j) {
    const std::uint32_t first = j % 6 * 2 + j / 6, second = (j * 5 + 2) % 6 * 2 + 1 - j / 6;
    const auto bytes = static_cast<int>(90 + 37 * j);
    jobs.push_back({fmt::format("role w {} | compute f w {} | all-reduce g w {} | f -> g | g => f", j % 3 == 0 ? 3 : 2,
                                20 + 3 * j, bytes),
                    {first, second},
                    12 + j % 5,
                    static_cast<std::int64_t>(61 * j),
                    10});
    if (j % 3 == 0) jobs.back().gpus.push_back((first + 5) % 12 == second ? (first + 6) % 12 : (first + 5) % 12);
  }
  FlowNetworkOptions options = ring_options();
  options.alpha = Time::nanoseconds(13);
  options.step_overhead = Time::nanoseconds(3);
  options.efficiency = {1, 0.96, 0.9};
  options.nic_penalty = 0.25;
  options.link_interval = Time::nanoseconds(700);
  const auto link = [&](const char* name) { return link_named(made, 6, 2, name); };
  options.events = {{Time::nanoseconds(2500), link("leaf0->spine0"), 0},
                    {Time::nanoseconds(900), link("server3/nic0->leaf1"), 0.4},
                    {Time::nanoseconds(4100), link("leaf0->spine0"), 1},
                    {Time::nanoseconds(5000), link("spine1->leaf1"), 0},
                    {Time::nanoseconds(3300), link("server3/nic0->leaf1"), 0.8}};
  Setup setup{6, 2};
  setup.ways = 3;
  const RunResult run = run_flow(made, setup, jobs, options);
  std::string ends;
  for (const JobResult& job : run.jobs) ends += fmt::format("{} ", job.finish.ns());
  CHECK(ends == "19998 704 9363 30064 1316 22651 40113 1294 15662 48172 1576 39779 ");
  Time communication, contended, waited, busy, server_busy;
  for (const JobResult& job : run.jobs) {
    communication += job.communication;
    contended += job.contended;
    waited += job.communication_wait;
  }
  for (const LinkResult& each : run.links) server_busy += each.busy + each.contended;
  double bytes = 0, used = 0, sampled = 0;
  std::size_t users = 0;
  for (const FabricLinkResult& each : run.fabric.links) {
    busy += each.busy;
    bytes += each.bytes;
    used += each.utilisation;
    users += each.users.size();
  }
  for (const LinkSample& each : run.fabric.samples) sampled += each.utilisation;
  CHECK(fmt::format("{} {} {} {} {} {} {}", communication.ns(), contended.ns(), waited.ns(), busy.ns(),
                    server_busy.ns(), users,
                    run.fabric.samples.size()) == "148328 130248 71800 1077460 309272 116 1718");
  CHECK(bytes == near(524816, 1e-9));
  CHECK(used == near(5.8537135013725825, 1e-9));
  CHECK(sampled == near(400.16345104341536, 1e-9));
}
