#include "tests/policies/random_cluster.hpp"

#include "sim/random_stream.hpp"
#include "tests/network/flow_kit.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <variant>

#include <fmt/core.h>

namespace contend::test {

template <class Port>
std::unique_ptr<Port> make_policy(std::span<const PolicyRow<Port>> table, const Choice& choice,
                                  const PolicyContext& context) {
  for (const PolicyRow<Port>& row : table) {
    if (row.name != choice.name) continue;
    std::vector<std::pair<std::string, ParameterValue>> values;
    for (const ParameterInfo& info : row.parameters) {
      ParameterValue value = info.default_value;
      for (const auto& [name, chosen] : choice.parameters) {
        if (name == info.name) value = chosen;
      }
      values.emplace_back(info.name, value);
    }
    return make_from(row, Parameters{std::move(values)}, context);
  }
  throw std::invalid_argument{"no policy " + choice.name};
}

template std::unique_ptr<SchedulingPolicy> make_policy(std::span<const PolicyRow<SchedulingPolicy>>, const Choice&,
                                                       const PolicyContext&);
template std::unique_ptr<PlacementPolicy> make_policy(std::span<const PolicyRow<PlacementPolicy>>, const Choice&,
                                                      const PolicyContext&);
template std::unique_ptr<CommunicationPolicy> make_policy(std::span<const PolicyRow<CommunicationPolicy>>,
                                                          const Choice&, const PolicyContext&);
template std::unique_ptr<PipelineSchedule> make_policy(std::span<const PolicyRow<PipelineSchedule>>, const Choice&,
                                                       const PolicyContext&);

namespace {

/// Draws the parts of a cluster, one after the other, from one stream.
class Builder {
 public:
  explicit Builder(std::uint64_t seed) : stream_{seed, "random-cluster"} { made_.seed = seed; }

  RandomCluster build() {
    unit_ = one_of<std::int64_t>({1, 1000, 100'000});  // ns: rounding matters in the first, ticks in the last
    size_unit_ = one_of<std::int64_t>({1, 7, 1000});
    choose_cluster();
    choose_policies();
    choose_network();
    choose_jobs();
    if (chance(0.25)) {
      made_.until = Time::nanoseconds(chance(0.5) ? in(0, span_) : in(0, span_ / unit_) * unit_);
    }
    return std::move(made_);
  }

 private:
  std::int64_t in(std::int64_t low, std::int64_t high) { return stream_.uniform_integer(low, high); }
  bool chance(double p) { return stream_.uniform() < p; }
  template <class T>
  T one_of(std::initializer_list<T> items) {
    return *(items.begin() + in(0, static_cast<std::int64_t>(items.size()) - 1));
  }

  void choose_cluster() {
    made_.cluster.servers = static_cast<int>(in(1, 6));
    made_.cluster.gpus_per_server = static_cast<int>(in(1, 4));
    made_.cluster.gpu_memory = Bytes{100};
    gpus_ = made_.cluster.servers * made_.cluster.gpus_per_server;
  }

  void choose_policies() {
    made_.scheduling.name = one_of({"fifo", "sjf", "srtf", "srsf"});
    made_.scheduling.parameters = {{"strict", chance(0.3)}, {"preemptive", chance(0.4)}};
    made_.placement.name = one_of({"first-fit", "list-scheduling", "lwf", "random"});
    made_.placement.parameters = {{"kappa", one_of<std::int64_t>({1, 2, 4})}};
    made_.communication.name = one_of({"srsf", "srsf", "ada-dual"});
    made_.communication.parameters = {{"ways", in(1, 3)}};
  }

  void choose_network() {
    made_.contention = chance(0.75);
    made_.cost.beta =
        TimePerByte{one_of({1.0, 0.856, 1.0 / 3.0}) * static_cast<double>(unit_) / static_cast<double>(size_unit_)};
    made_.cost.eta = TimePerByte{made_.cost.beta.ns_per_byte() * one_of({0.0, 0.25, 0.235 / 0.856, 1.0})};
    if (chance(0.5)) made_.cost.alpha = Time::nanoseconds(one_of<std::int64_t>({1, 3}) * unit_);
    if (chance(0.3)) made_.cost.tick = Time::nanoseconds(10 * unit_);  // 1 ms where the unit is 100 us
  }

  std::int64_t duration() {
    return chance(0.05) ? 0 : one_of<std::int64_t>({1, 2, 3, 5, 7, 10, 20}) * unit_ + (chance(0.1) ? in(0, 3) : 0);
  }
  std::int64_t bytes() { return chance(0.05) ? 0 : one_of<std::int64_t>({2, 5, 10, 20, 50}) * size_unit_; }

  /// A graph as text and its number of ranks.
  std::pair<std::string, int> graph() {
    const auto workers = static_cast<int>(std::min<std::int64_t>(gpus_, one_of<std::int64_t>({1, 1, 2, 3, 4, 8})));
    const std::int64_t f = duration(), b = duration(), c = duration(), g = bytes(), h = bytes();
    if (workers > 1 && chance(0.3)) return staged_graph(workers, f, b, c, g, h);
    const std::string role = fmt::format("role w {} | compute f w {} | compute b w {} | ", workers, f, b);
    switch (in(0, 9)) {
      case 0:  // layer-wise: the forward pass of the first layer may start before the last all-reduce has ended
        return {
            role + fmt::format("compute c w {} | all-reduce g w {} | all-reduce h w {} | f -> b | b -> c | b -> g | "
                               "c -> h | h => f | g => b",
                               c, g, h),
            workers};
      case 1:  // the all-reduce of one iteration runs beside the next iteration
        return {role + fmt::format("all-reduce g w {} | f -> b | b -> g | b => f", g), workers};
      case 2:  // sharded: collectives before and after
        return {
            role + fmt::format("all-gather a w {} | reduce-scatter r w {} | a -> f | f -> b | b -> r | r => a", g, h),
            workers};
      case 3:  // nothing in order but the iterations
        return {role + "b => f | f => b", workers};
      case 5:
      case 6:  // layer-wise through a channel: by priority with a credit, or several messages at once
        return {role + fmt::format("compute c w {0} | all-reduce g w {1} | all-reduce h w {2} | all-reduce i w {1} | "
                                   "channel s {3} {4} | put g s {5} | put h s 1 | put i s {6} | f -> b | b -> c | "
                                   "b -> g | b -> i | c -> h | h => f | g => b | i => c",
                                   c, std::max<std::int64_t>(1, g), h, in(1, 2), in(1, 60) * size_unit_, in(0, 2),
                                   in(0, 2)),
                workers};
      case 4:  // two branches and an update for which no operation waits
        return {role + fmt::format("compute c w {} | all-reduce g w {} | f -> g | b -> c | g => f | c => b", c, g),
                workers};
      default:  // forward, backward, all-reduce
        return {role + fmt::format("all-reduce g w {} | f -> b | b -> g | g => f", g), workers};
    }
  }

  /// A pipeline of two stages, with or without an all-reduce at the end, or with a role that only collects.
  std::pair<std::string, int> staged_graph(int workers, std::int64_t f, std::int64_t b, std::int64_t c, std::int64_t g,
                                           std::int64_t h) {
    const int ranks = std::max(1, workers / 2);
    std::string text = fmt::format(
        "role s {0} | role t {0} | compute f s {1} | compute m t {2} | compute b s {3} | "
        "message act s t {4} | message grad t s {5} | f -> act | act -> m | m -> grad | "
        "grad -> b",
        ranks, f, b, c, g, h);
    switch (in(0, 3)) {
      case 0:
        text += " | b => f";
        break;
      case 1:
        text += " | f => f | m => m | b => b";
        break;  // the next micro-batch follows as soon as a stage is free
      case 2:
        text += fmt::format(" | all-reduce r s {} | b -> r | r => f", h);
        break;
      default:
        text += fmt::format(" | all-reduce r s {0} | all-reduce q t {0} | b -> r | m -> q | r => f | q => m", g);
    }
    return {text, 2 * ranks};
  }

  void choose_jobs() {
    const std::int64_t count = in(1, chance(0.4) ? 4 : 20);
    const std::int64_t most_memory = one_of<std::int64_t>({20, 50, 100});
    const std::int64_t most_iterations = chance(0.2) ? 400 : one_of<std::int64_t>({5, 40, 120});
    const bool same_iterations = chance(0.2), few_graphs = chance(0.4);
    std::vector<int> ranks;
    std::int64_t work = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      if (made_.graphs.empty() || !few_graphs || chance(0.3)) {
        const auto [text, ranks_of_text] = graph();
        made_.graphs.push_back(text);
        ranks.push_back(ranks_of_text);
      }
      JobSpec job;
      job.name = fmt::format("j{}", j);
      job.graph = static_cast<std::size_t>(in(0, static_cast<std::int64_t>(made_.graphs.size()) - 1));
      job.gpus = ranks[job.graph];
      job.iterations = same_iterations ? most_iterations : in(1, most_iterations);
      job.memory_per_gpu = Bytes{chance(0.02) ? 101 : in(most_memory / 2, most_memory)};
      work += job.iterations * 20 * unit_ * job.gpus;
      made_.jobs.push_back(std::move(job));
    }
    span_ = work / gpus_ + 1;
    const int arrivals = static_cast<int>(in(0, 2));
    for (JobSpec& job : made_.jobs) {
      if (arrivals == 1) job.submit = Time::nanoseconds(in(0, span_ / unit_ / 10) * 10 * unit_);  // on a grid
      if (arrivals == 2) job.submit = Time::nanoseconds(in(0, span_));
    }
  }

  RandomStream stream_;
  RandomCluster made_;
  std::int64_t unit_ = 1, size_unit_ = 1, gpus_ = 1, span_ = 1;
};

std::string text_of(const Choice& choice) {
  std::string text = choice.name;
  for (const auto& [name, value] : choice.parameters) {
    text += " " + name + "=" + std::visit([](auto v) { return fmt::format("{}", v); }, value);
  }
  return text;
}

}  // namespace

RandomCluster random_cluster(std::uint64_t seed) {
  return Builder{seed}.build();
}

void add_lanes(RandomCluster& cluster) {
  RandomStream random{cluster.seed, "lanes"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
  for (std::string& text : cluster.graphs) {
    const IterationGraph graph = graph_from_text(text);
    const std::vector<Op>& ops = graph.ops();
    const std::int64_t usual = std::max<std::int64_t>(1, ops.front().duration.ns());
    const auto duration = [&] { return usual * in(0, 6) / 4 + (in(0, 9) == 0 ? 1 : 0); };
    if (in(0, 2) == 0) text += fmt::format(" | in-flight {}", in(3, 4));
    if (in(0, 3) == 0)  // an operation waits for another one of an earlier iteration, or for what other jobs post
      text += fmt::format(" | {5}counter C | post P {0} C 1 | await Q {1} C 1 {2} | {3} -> P | Q -> {4}",
                          graph.roles()[ops.back().role.index()].name, graph.roles()[ops.front().role.index()].name,
                          in(1, 3), ops.back().name, ops.front().name, in(0, 2) == 0 ? "shared-" : "");
    std::vector<std::string> last(graph.roles().size());  // on the hosts of a role
    for (const Op& op : ops) {
      if (in(0, 2) == 0) continue;
      const std::string& role = graph.roles()[op.role.index()].name;
      text += fmt::format(" | task L{0} {1} {2} host | L{0} -> {0}", op.name, role, duration());
      std::string& before = last[op.role.index()];
      if (!before.empty() && in(0, 2) != 0) text += fmt::format(" | {} -> L{}", before, op.name);
      if (in(0, 3) == 0) text += fmt::format(" | {0} => L{0}", op.name);
      if (in(0, 3) == 0) text += fmt::format(" | priority L{} {}", op.name, in(-1, 1));
      before = "L" + op.name;
    }
    const Op& op = ops[static_cast<std::size_t>(in(0, static_cast<std::int64_t>(ops.size()) - 1))];
    const char* const lane = in(0, 1) == 0 ? "stream-0" : in(0, 1) == 0 ? "copy-in" : "copy-out";
    text += fmt::format(" | task T {} {} {} | {} -> T", graph.roles()[op.role.index()].name, duration(), lane, op.name);
    if (in(0, 1) == 0) text += fmt::format(" | T => {}", op.name);
  }
}

void add_lists(RandomCluster& cluster) {
  RandomStream random{cluster.seed, "lists"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
  for (std::string& text : cluster.graphs) {
    const IterationGraph graph = graph_from_text(text);
    for (const Op& op : graph.ops()) {
      if (op.kind != OpKind::collective || in(0, 3) == 0) continue;
      const int ranks = graph.roles()[op.role.index()].ranks;
      std::vector<std::string> lists(static_cast<std::size_t>(in(1, 3)));
      for (int rank = 0; rank < ranks; ++rank) {
        const auto group = static_cast<std::size_t>(in(0, static_cast<std::int64_t>(lists.size())));
        if (group < lists.size()) lists[group] += fmt::format("{}{}", lists[group].empty() ? "" : ",", rank);
      }
      std::erase(lists, "");
      if (lists.empty()) continue;
      text += " | lists " + op.name;
      for (const std::string& each : lists) text += " " + each;
    }
  }
}

void add_flows(RandomCluster& cluster) {
  RandomStream random{cluster.seed, "flows"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
  TopologySpec made;
  made.fabric.kind = in(0, 3) == 0 ? "single-switch" : "leaf-spine";
  if (made.fabric.kind == "leaf-spine") {
    made.fabric.servers_per_leaf = static_cast<std::size_t>(in(1, 3));
    made.fabric.spines = static_cast<std::size_t>(in(1, 3));
    made.fabric.oversubscription = static_cast<double>(in(1, 2));
  }
  if (in(0, 1) == 0) {
    made.server.kind = "nvswitch";
    made.server.nvlink_bandwidth = ByteRate{1e10 / cluster.cost.beta.ns_per_byte()};
  }
  const bool has_nic_by_gpu = made.server.kind == "nvswitch" && in(0, 1) == 0;
  if (has_nic_by_gpu) made.server.nics = static_cast<std::size_t>(cluster.cluster.gpus_per_server);
  made.server.nic_bandwidth = ByteRate{1e9 / cluster.cost.beta.ns_per_byte()};
  made.server.pcie_bandwidth = ByteRate{4e9 / cluster.cost.beta.ns_per_byte()};
  FlowNetworkOptions options = ring_options();
  options.alpha = cluster.cost.alpha;
  options.link_interval = in(0, 1) == 0 ? Time{} : std::max(cluster.cost.alpha * 100, Time::nanoseconds(100'000));
  cluster.network = [=, spec = cluster.cluster](std::size_t jobs) {
    auto topology = std::make_unique<Topology>(
        build_topology(made, static_cast<std::size_t>(spec.servers), static_cast<std::size_t>(spec.gpus_per_server)));
    auto router = make_ecmp_router(*topology, 1);
    return make_flow_network(std::move(topology), std::move(router), options, jobs);
  };
}

RunResult RandomCluster::run(bool leap, const Wrap& wrap) const {
  Workload workload;
  for (const std::string& text : graphs) workload.graphs.push_back(graph_from_text(text));
  workload.jobs = jobs;
  workload.sizes = sizes;
  const PolicyContext context{seed, cost.beta, cost.eta};
  const auto servers = static_cast<std::size_t>(cluster.servers);
  auto carrying = network      ? network(jobs.size())
                  : contention ? make_contention_network(cost, servers, jobs.size())
                               : make_analytic_network(cost, servers, jobs.size());
  SimulationOptions options;
  options.leap = leap;
  options.keeps_uses = keeps_uses;
  options.until = until;
  options.window = window;
  options.interference = interference;
  options.failures = failures;
  options.rules.preemption = costs;
  options.rules.store = store;
  if (hosts.any())
    options.hosts = make_host_links(hosts, static_cast<std::size_t>(cluster.servers), cluster.gpus_per_server);
  auto placing = make_policy(placement_policies(), placement, context);
  if (wrap) placing = wrap(std::move(placing));
  auto deciding = make_policy(scheduling_policies(), scheduling, context);
  if (around) deciding = around(std::move(deciding));
  Simulation simulation{
      cluster, std::move(workload),
      PolicySet{std::move(deciding), std::move(placing), make_policy(communication_policies(), communication, context),
                scheduling.name, placement.name, communication.name},
      std::move(carrying), std::move(options)};
  return simulation.run();
}

std::string RandomCluster::describe() const {
  std::string text = fmt::format(
      "seed {}: {} servers x {} GPUs of {} bytes; scheduling {}; placement {}; communication {}; "
      "{} network alpha {} beta {} eta {} tick {}; until {}\n",
      seed, cluster.servers, cluster.gpus_per_server, cluster.gpu_memory.count(), text_of(scheduling),
      text_of(placement), text_of(communication), contention ? "contention" : "analytic", cost.alpha.ns(),
      cost.beta.ns_per_byte(), cost.eta.ns_per_byte(), cost.tick.ns(), until.ns());
  if (!interference.none()) {
    text += fmt::format("interference {} and {} millionths\n", interference.compute, interference.network);
  }
  for (const ComponentClass& each : failures.components) {
    text += fmt::format("{} of {} GPUs fail after {} and are repaired in {} on average\n", each.name, each.gpus,
                        each.failure.mean().ns(), each.repair.mean().ns());
  }
  for (const JobSpec& job : jobs) {
    text += fmt::format("  {} at {}: {} iterations, {} bytes, {}\n", job.name, job.submit.ns(), job.iterations,
                        job.memory_per_gpu.count(), graphs[job.graph]);
  }
  return text;
}

}  // namespace contend::test
